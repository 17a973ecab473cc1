/** Entry point of the comparison page's script. */

import { plural } from "../../foundation/text/plural.ts";
import { isShortcut } from "../../pages/client/chart.ts";
import { h, on, section } from "../../pages/client/dom.ts";
import { createTable } from "../../pages/client/table.ts";
import { themeButton } from "../../pages/client/theme.ts";
import { formatMs } from "../../pages/numbers.ts";
import type { ComparisonPageData, PageSection, TwoTrees } from "../view/page-data.ts";
import { wayFrom } from "./icicle.ts";
import { around, type Box, layOut, type Timed } from "./icicle-layout.ts";

const page = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as ComparisonPageData;

function drawSection({ title, hint, table, footer, empty }: PageSection): HTMLElement {
  if (table === null) return section(title, h("p", {}, empty));
  return section(
    title,
    ...(hint === null ? [] : [h("p", { class: "hint" }, hint)]),
    createTable({ type: "table", ...table }, { label: title, footer, isResponsive: true }).element,
  );
}

// Both trees on one scale: a region that grew is wider in the lower one.

interface Node extends Timed<Node> {
  readonly row: number;
  readonly parent: Node | null;
  readonly children: Node[];
}

const ROW_HEIGHT = 26;

/** Signs for the verdicts, so that they do not depend on colour. */
const MARKS: Readonly<Record<string, string>> = {
  more: "▲ ",
  less: "▼ ",
  added: "+ ",
  removed: "− ",
  unclear: "? ",
};

function createTwoIcicles(trees: TwoTrees): HTMLElement {
  const sides = (["a", "b"] as const).map((side) => ({
    side,
    nodes: treeOf(trees, side),
    chart: h("div", {
      class: "icicle",
      role: "tree",
      "aria-label": `Regions of ${side.toUpperCase()}`,
    }),
  }));
  const crumbs = h("nav", { "aria-label": "Zoomed region", class: "crumbs" });
  const status = h("p", { class: "hint", role: "status" });
  let zoomed = -1;

  const wholeOf = (nodes: readonly Node[]): number =>
    zoomed >= 0
      ? (nodes[zoomed]?.value ?? 0)
      : nodes.reduce((sum, { parent, value }) => sum + (parent === null ? (value ?? 0) : 0), 0);

  const draw = () => {
    const whole = Math.max(...sides.map(({ nodes }) => wholeOf(nodes)));
    let hidden = 0;
    for (const { nodes, chart, side } of sides) {
      const top = zoomed < 0 ? null : (nodes[zoomed] ?? null);
      const scale = zoomed < 0 || whole === 0 ? 1 : wholeOf(nodes) / whole;
      const roots = nodes.filter(({ parent }) => parent === null);
      const isHere = top === null || top.value !== null;
      const boxes = isHere ? layOut<Node>(roots, whole, top) : [];
      const depth = boxes.reduce((most, { row }) => Math.max(most, row + 1), 0);
      chart.style.height = `${Math.max(1, depth) * ROW_HEIGHT}px`;
      chart.replaceChildren(
        ...(boxes.length === 0 ? [h("p", { class: "hint" }, "This report does not have it.")] : []),
        ...boxes.map((box, index) => drawBox(box, scale, index === 0, { side, roots })),
      );
      hidden += nodes.filter(({ value }) => (value ?? 0) > 0).length - boxes.length;
    }
    crumbs.replaceChildren(...drawCrumbs());
    status.textContent = `${hidden > 0 && zoomed < 0 ? `${plural(hidden, "box is", "boxes are")} too narrow to draw here. ` : ""}Click or Enter zooms both, arrow keys move, Escape zooms out.`;
  };

  const zoom = (row: number) => {
    zoomed = row;
    draw();
  };

  const drawBox = (
    { region, left, width, row }: Box<Node>,
    scale: number,
    isEntry: boolean,
    { side, roots }: { readonly side: "a" | "b"; readonly roots: readonly Node[] },
  ): HTMLElement => {
    const regionRow = region.row;
    const verdict = trees.verdict[regionRow] ?? "same";
    const label = trees.label[regionRow] ?? "";
    const said = `${formatMs(region.value)} ms in ${side.toUpperCase()}; ${trees.change[regionRow]}`;
    const box = h(
      "button",
      {
        type: "button",
        class: `box diff diff-${verdict}`,
        role: "treeitem",
        "aria-level": row + 1,
        "aria-label": `${label}, ${said}`,
        title: `${trees.path[regionRow]}\n${said}`,
        tabindex: isEntry ? 0 : -1,
        "data-row": regionRow,
      },
      h("span", {}, `${MARKS[verdict] ?? ""}${label}`),
    );
    box.style.left = `${left * scale * 100}%`;
    box.style.width = `${width * scale * 100}%`;
    box.style.top = `${row * ROW_HEIGHT}px`;
    box.style.setProperty("--strength", `${strengthOf(trees, regionRow)}%`);
    on(box, "click", () => {
      zoom(zoomed === regionRow ? (region.parent?.row ?? -1) : regionRow);
      focusRow(side, regionRow);
    });
    on(box, "keydown", (event) => {
      if (isShortcut(event)) return;
      const way = wayFrom(region, event.key, roots);
      if (event.key === "Escape") {
        zoom(trees.parent[zoomed] ?? -1);
        focusRow(side, regionRow);
      } else if (way === null) return;
      else for (const node of way) if (focusRow(side, node.row)) break;
      event.preventDefault();
    });
    return box;
  };

  /** Moves the focus to a box; false if it is not drawn. */
  const focusRow = (side: "a" | "b", row: number): boolean => {
    const chart = sides.find((each) => each.side === side)?.chart;
    const box = chart?.querySelector<HTMLElement>(`[data-row="${row}"]`);
    if (box == null) return false;
    for (const other of chart?.querySelectorAll<HTMLElement>("[data-row]") ?? [])
      other.tabIndex = -1;
    box.tabIndex = 0;
    box.focus();
    return true;
  };

  const drawCrumbs = (): readonly globalThis.Node[] => {
    const crumb = (label: string, row: number) =>
      on(
        h(
          "button",
          { type: "button", class: "crumb", "aria-current": row === zoomed ? "location" : null },
          label,
        ),
        "click",
        () => zoom(row),
      );
    const node = sides[0]?.nodes[zoomed] ?? null;
    return [
      crumb("all regions", -1),
      ...around<Node>(node).flatMap(({ row }) => [
        document.createTextNode(" › "),
        crumb(trees.label[row] ?? "", row),
      ]),
    ];
  };

  // A region is highlighted in both trees.
  const mark = (event: Event, isOn: boolean) => {
    const box = event.target instanceof Element ? event.target.closest("[data-row]") : null;
    const row = box?.getAttribute("data-row");
    for (const { chart } of sides)
      for (const other of chart.querySelectorAll(`[data-row="${row}"]`))
        other.classList.toggle("twin", isOn);
  };
  for (const { chart } of sides)
    for (const [type, isOn] of [
      ["pointerover", true],
      ["pointerout", false],
      ["focusin", true],
      ["focusout", false],
    ] as const)
      chart.addEventListener(type, (event) => mark(event, isOn));

  draw();
  return section(
    "Both trees",
    h(
      "p",
      { class: "hint" },
      "Width is time, on one scale for both: ▲ slower, ▼ faster, + new, − gone, ? unclear; the stronger the colour, the larger the change.",
    ),
    crumbs,
    ...sides.flatMap(({ side, chart }) => [
      h("p", { class: "side" }, side === "a" ? "A" : "B"),
      chart,
    ]),
    status,
  );
}

/** One node per row; the value is null if this side does not have the region. */
function treeOf(trees: TwoTrees, side: "a" | "b"): readonly Node[] {
  const nodes: Node[] = [];
  for (const [row, above] of trees.parent.entries()) {
    const parent = nodes[above] ?? null;
    const node: Node = { row, parent, children: [], value: trees[side][row] ?? null };
    parent?.children.push(node);
    nodes.push(node);
  }
  return nodes;
}

/** The intensity of the colour in percent; full for half or double the time. */
function strengthOf({ a, b, verdict }: TwoTrees, row: number): number {
  if (verdict[row] === "unclear") return 0;
  const [before, after] = [a[row] ?? 0, b[row] ?? 0];
  if (before <= 0 || after <= 0) return 100;
  return Math.round(Math.min(1, 0.25 + Math.abs(Math.log2(after / before))) * 100);
}

// Added last, because its place in the document must exist.
document.getElementById("controls")?.append(themeButton());
document
  .getElementById("comparison")
  ?.append(
    ...(page.trees === null ? [] : [createTwoIcicles(page.trees)]),
    ...page.sections.map(drawSection),
  );
