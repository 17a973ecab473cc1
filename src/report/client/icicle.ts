/** The region tree as an icicle: width is time, depth is nesting. Click or Enter zooms. */

import { plural } from "../../foundation/text/plural.ts";
import { isShortcut } from "../../pages/client/chart.ts";
import { h, on } from "../../pages/client/dom.ts";
import { hueOf } from "../../pages/client/plot.ts";
import { formatMs, formatShare } from "../../pages/numbers.ts";
import { around, type Box, isInside, layOut, type Timed } from "./icicle-layout.ts";
import type { Region, Scope, Store } from "./state.ts";

const ROW_HEIGHT = 26;

export function createIcicle(store: Store): HTMLElement {
  const crumbs = h("nav", { "aria-label": "Zoomed region", class: "crumbs" });
  const chart = h("div", { class: "icicle", role: "tree", "aria-label": "Region tree by time" });
  const note = h("p", { class: "hint" });
  let drawn: ReadonlyMap<Region, HTMLElement> = new Map();
  /** The region whose box is the tab stop, if it has a box. */
  let current: Region | null = null;

  const draw = (scope: Scope, zoomed: Region | null) => {
    const boxes = layOut(scope.roots, scope.measure.wholeMs, zoomed);
    const depth = boxes.reduce((most, { row }) => Math.max(most, row + 1), 0);
    chart.style.height = `${depth * ROW_HEIGHT}px`;
    drawn = new Map(boxes.map((box) => [box.region, drawBox(box, scope)]));
    chart.replaceChildren(...drawn.values());
    crumbs.replaceChildren(...drawCrumbs(zoomed, store));
    const hidden = scope.regions.filter(
      (region) => !drawn.has(region) && isInside(region, zoomed) && (region.value ?? 0) > 0,
    ).length;
    note.textContent =
      boxes.length === 0
        ? "No region has any time."
        : `${wholeText(scope)}Click or Enter zooms, arrow keys move, Escape zooms out.${hidden > 0 ? ` ${plural(hidden, "region is", "regions are")} too narrow to draw here.` : ""}`;
    markSelected();
  };

  const drawBox = (box: Box, scope: Scope): HTMLElement => {
    const { region } = box;
    const element = elementOf(box, scope);
    on(element, "click", () => {
      current = region;
      const { zoomed } = store.get();
      store.set({ selected: region, zoomed: zoomed === region ? region.parent : region });
    });
    on(element, "keydown", (event) => {
      if (isShortcut(event)) return;
      const way = wayFrom(region, event.key, scope.roots);
      if (event.key === "Escape") store.set({ zoomed: store.get().zoomed?.parent ?? null });
      else if (way === null) return;
      else focusFirst(way);
      event.preventDefault();
    });
    return element;
  };

  /** The first of these regions that is wide enough to be drawn. */
  const focusFirst = (way: readonly Region[]) => {
    const target = way.find((region) => drawn.has(region));
    if (target === undefined) return;
    current = target;
    markSelected();
    drawn.get(target)?.focus();
  };
  /** One box of the chart is a tab stop; arrow keys move between boxes. */
  const markSelected = () => {
    const { selected } = store.get();
    const entry = current !== null && drawn.has(current) ? current : [...drawn.keys()][0];
    for (const [region, box] of drawn) {
      box.tabIndex = region === entry ? 0 : -1;
      box.setAttribute("aria-selected", String(region === selected));
    }
  };

  store.watch(({ scope, zoomed, selected }, previous) => {
    if (previous === null || previous.scope !== scope || previous.zoomed !== zoomed) {
      const { activeElement } = document;
      const [inChart, inCrumbs] = [chart, crumbs].map((part) => part.contains(activeElement));
      draw(scope, zoomed);
      // When zoomed out, the box may be too narrow to be drawn; then an enclosing region takes its place.
      if (inChart) focusFirst([...around(current)].reverse());
      if (inCrumbs) crumbs.querySelector<HTMLElement>("[aria-current]")?.focus();
    } else if (previous.selected !== selected) markSelected();
  });
  return h("div", { class: "icicle-view" }, crumbs, chart, note);
}

function elementOf(
  { region, left, width, row }: Box,
  { measure: { wholeMs } }: Scope,
): HTMLElement {
  // More than the whole, of threads at the same time, is no share.
  const isPart = wholeMs === null || (region.value ?? 0) <= wholeMs * 1.005;
  const share = isPart ? `, ${formatShare(region.value, wholeMs)} %` : "";
  const measured = `${formatMs(region.value)} ms${share}`;
  const calls = region.calls === null ? "" : `, ${plural(region.calls, "call")}`;
  const box = h(
    "button",
    {
      type: "button",
      class: "box",
      role: "treeitem",
      "aria-level": region.level + 1,
      "aria-label": `${region.label}, ${measured}`,
      title: `${region.path}\n${measured}${calls}`,
      tabindex: -1,
    },
    h("span", {}, region.label),
  );
  box.style.left = `${left * 100}%`;
  box.style.width = `${width * 100}%`;
  box.style.top = `${row * ROW_HEIGHT}px`;
  box.style.setProperty("--hue", String(hueOf(region.label)));
  return box;
}

/** Buttons for returning to enclosing regions. */
function drawCrumbs(zoomed: Region | null, store: Store): readonly Node[] {
  const crumb = (label: string, target: Region | null) =>
    on(
      h(
        "button",
        { type: "button", class: "crumb", "aria-current": target === zoomed ? "location" : null },
        label,
      ),
      "click",
      () => store.set({ zoomed: target }),
    );
  return [
    crumb("all regions", null),
    ...around(zoomed).flatMap((region) => [
      document.createTextNode(" › "),
      crumb(region.label, region),
    ]),
  ];
}

const wholeText = ({ measure: { wholeLabel, wholeMs } }: Scope): string =>
  wholeLabel === null ? "" : `${wholeLabel}: ${formatMs(wholeMs)} ms is 100 %. `;

/** The targets of a key in the tree, nearest first; null for other keys. */
export function wayFrom<Node extends Timed<Node> = Region>(
  region: Node,
  key: string,
  roots: readonly Node[],
): readonly Node[] | null {
  const siblings = region.parent?.children ?? roots;
  const index = siblings.indexOf(region);
  switch (key) {
    case "ArrowLeft":
      return siblings.slice(0, index).reverse();
    case "ArrowRight":
      return siblings.slice(index + 1);
    case "ArrowUp":
      return region.parent === null ? [] : [region.parent];
    case "ArrowDown":
      return region.children;
    case "Home":
      return siblings;
    case "End":
      return [...siblings].reverse();
    default:
      return null;
  }
}
