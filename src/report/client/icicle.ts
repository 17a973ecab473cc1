/** The region tree as an icicle: width is time, depth is nesting. Click or Enter zooms. */
import { hueOf } from "./color.ts";
import { h, on } from "./dom.ts";
import { formatMs, formatShare } from "./format.ts";
import type { Region, Scope } from "./scope.ts";
import type { Store } from "./state.ts";

interface Box {
  readonly region: Region;
  /** Of the whole width. */
  readonly left: number;
  readonly width: number;
  readonly row: number;
}

/** Narrower boxes could not be seen or hit. */
const MIN_WIDTH = 0.0008;
const ROW_HEIGHT = 26;

export function createIcicle(store: Store): HTMLElement {
  const crumbs = h("nav", { "aria-label": "Zoomed region", class: "crumbs" });
  const chart = h("div", { class: "icicle", role: "tree", "aria-label": "Region tree by time" });
  const note = h("p", { class: "hint" });
  let focusRow = -1;

  const draw = (scope: Scope, zoomed: Region | null) => {
    const boxes = layOut(scope, zoomed);
    const depth = boxes.reduce((most, { row }) => Math.max(most, row + 1), 0);
    chart.style.height = `${depth * ROW_HEIGHT}px`;
    chart.replaceChildren(...boxes.map((box) => drawBox(box, scope)));
    crumbs.replaceChildren(...drawCrumbs(zoomed));
    const shown = new Set(boxes.map(({ region }) => region));
    const hidden = scope.regions.filter(
      (region) => !shown.has(region) && isInside(region, zoomed) && (region.value ?? 0) > 0,
    ).length;
    note.textContent =
      boxes.length === 0
        ? "No region has any time."
        : `${scope.data.wholeLabel}: ${formatMs(scope.data.wholeMs)} ms is 100 %. Click or Enter zooms, arrow keys move, Escape zooms out.${hidden > 0 ? ` ${hidden} regions are too narrow to draw here.` : ""}`;
    markSelected();
  };

  const drawBox = ({ region, left, width, row }: Box, scope: Scope): HTMLElement => {
    const share = formatShare(region.value, scope.data.wholeMs);
    const text = `${region.label}, ${formatMs(region.value)} ms, ${share} %`;
    const box = h(
      "button",
      {
        type: "button",
        class: "box",
        role: "treeitem",
        "aria-level": region.level + 1,
        "aria-label": text,
        title: `${region.path}\n${formatMs(region.value)} ms, ${share} %, ${region.calls} calls`,
        "data-row": region.row,
        tabindex: -1,
      },
      h("span", {}, region.label),
    );
    box.style.left = `${left * 100}%`;
    box.style.width = `${width * 100}%`;
    box.style.top = `${row * ROW_HEIGHT}px`;
    box.style.setProperty("--hue", String(hueOf(region.label)));
    on(box, "click", () => {
      focusRow = region.row;
      const { zoomed } = store.get();
      store.set({ selected: region, zoomed: zoomed === region ? region.parent : region });
    });
    on(box, "keydown", (event) => {
      const target = moveFrom(region, event.key, scope);
      if (event.key === "Escape") store.set({ zoomed: store.get().zoomed?.parent ?? null });
      else if (target === null) return;
      else focus(target);
      event.preventDefault();
    });
    return box;
  };

  const drawCrumbs = (zoomed: Region | null): readonly Node[] => {
    const path: Region[] = [];
    for (let region = zoomed; region !== null; region = region.parent) path.unshift(region);
    const crumb = (label: string, target: Region | null, current: boolean) =>
      on(
        h(
          "button",
          { type: "button", class: "crumb", "aria-current": current ? "location" : null },
          label,
        ),
        "click",
        () => store.set({ zoomed: target }),
      );
    return [
      crumb("all regions", null, zoomed === null),
      ...path.flatMap((region) => [
        document.createTextNode(" › "),
        crumb(region.label, region, region === zoomed),
      ]),
    ];
  };

  const boxOf = (row: number) => chart.querySelector<HTMLElement>(`[data-row="${row}"]`);
  const focus = (region: Region) => {
    const box = boxOf(region.row);
    if (box === null) return;
    focusRow = region.row;
    markSelected();
    box.focus();
  };
  /** One box of the chart takes part in tabbing; arrow keys do the rest. */
  const markSelected = () => {
    const { selected } = store.get();
    const boxes = [...chart.querySelectorAll<HTMLElement>(".box")];
    const entry = boxes.find((box) => box.dataset["row"] === String(focusRow)) ?? boxes[0];
    for (const box of boxes) {
      box.tabIndex = box === entry ? 0 : -1;
      const isSelected = box.dataset["row"] === String(selected?.row ?? -1);
      box.setAttribute("aria-selected", String(isSelected));
    }
  };

  store.watch(({ scope, zoomed, selected }, before) => {
    if (before === null || before.scope !== scope || before.zoomed !== zoomed) {
      const hadFocus = chart.contains(document.activeElement);
      draw(scope, zoomed);
      if (hadFocus) boxOf(focusRow)?.focus();
    } else if (before.selected !== selected) markSelected();
  });
  return h("div", { class: "icicle-view" }, crumbs, chart, note);
}

const isInside = (region: Region, around: Region | null): boolean => {
  for (let at: Region | null = region; at !== null; at = at.parent) if (at === around) return true;
  return around === null;
};

/** Where an arrow key leads in the tree. */
function moveFrom(region: Region, key: string, { roots }: Scope): Region | null {
  const siblings = region.parent?.children ?? roots;
  const at = siblings.indexOf(region);
  switch (key) {
    case "ArrowLeft":
      return siblings[at - 1] ?? null;
    case "ArrowRight":
      return siblings[at + 1] ?? null;
    case "ArrowUp":
      return region.parent;
    case "ArrowDown":
      return region.children[0] ?? null;
    case "Home":
      return siblings[0] ?? null;
    case "End":
      return siblings.at(-1) ?? null;
    default:
      return null;
  }
}

/**
 * Children share the width of the region around them in proportion to their time. Regions of
 * several threads can add up to more than what is around them: then they are squeezed to fit.
 */
function layOut({ roots, data }: Scope, zoomed: Region | null): readonly Box[] {
  const boxes: Box[] = [];
  const place = (
    regions: readonly Region[],
    whole: number,
    left: number,
    width: number,
    row: number,
  ): void => {
    const sum = regions.reduce((total, { value }) => total + (value ?? 0), 0);
    const base = Math.max(sum, whole);
    let at = left;
    for (const region of regions) {
      const own = base === 0 ? 0 : ((region.value ?? 0) / base) * width;
      if (own >= MIN_WIDTH) {
        boxes.push({ region, left: at, width: own, row });
        place(region.children, region.value ?? 0, at, own, row + 1);
      }
      at += own;
    }
  };
  // Above what is zoomed stands what is around it, for the way back.
  const around: Region[] = [];
  for (let region = zoomed; region !== null; region = region.parent) around.unshift(region);
  for (const [row, region] of around.entries()) boxes.push({ region, left: 0, width: 1, row });
  if (zoomed === null) place(roots, data.wholeMs ?? 0, 0, 1, 0);
  else place(zoomed.children, zoomed.value ?? 0, 0, 1, around.length);
  return boxes;
}
