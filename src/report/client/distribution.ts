/** How wall time spreads over the calls of a region: minimum, median, 95th percentile, maximum. */
import { scaleLinear, scaleLog } from "d3-scale";
import { labelledTicks } from "./axis.ts";
import { h, svg } from "./dom.ts";
import { formatMs } from "./format.ts";
import type { Region, Scope } from "./scope.ts";
import type { Store } from "./state.ts";

const MOST_ROWS = 40;
const ROW = 24;
const LABEL = 250;
const WIDTH = 900;
const AXIS = 26;
/** A label such as `0.25 ms` with air around it. */
const TICK_GAP = 64;

interface Spread {
  readonly region: Region;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

export function createDistribution(store: Store): HTMLElement {
  const holder = h("div");
  const section = h(
    "section",
    { "aria-labelledby": "distribution-heading" },
    h("h2", { id: "distribution-heading" }, "Wall time per call"),
    holder,
  );
  store.watch(({ scope }, before) => {
    if (before !== null && before.scope === scope) return;
    const spreads = spreadsOf(scope);
    section.hidden = spreads.length === 0;
    holder.replaceChildren(...(spreads.length === 0 ? [] : draw(spreads, store)));
  });
  return section;
}

/** Regions called more than once, the longest first. */
function spreadsOf({ regions, data }: Scope): readonly Spread[] {
  const { min, median, p95, max, wall } = data.regions;
  return regions
    .flatMap((region) => {
      const [low, middle, high, top] = [min, median, p95, max].map((of) => of[region.row] ?? null);
      if (region.calls < 2 || low == null || middle == null || high == null || top == null)
        return [];
      return [{ region, min: low, median: middle, p95: high, max: top }];
    })
    .sort((a, b) => (wall[b.region.row] ?? 0) - (wall[a.region.row] ?? 0));
}

function draw(all: readonly Spread[], store: Store): readonly Node[] {
  const spreads = all.slice(0, MOST_ROWS);
  const lowest = Math.min(...spreads.map(({ min }) => min));
  const highest = Math.max(...spreads.map(({ max }) => max));
  const range: [number, number] = [LABEL, WIDTH - 20];
  // Regions of a step and of a whole run differ by orders of magnitude.
  const logarithmic = lowest > 0 && highest / lowest > 20;
  const scale = logarithmic
    ? scaleLog([lowest, highest], range)
    : scaleLinear([0, highest === 0 ? 1 : highest], range);
  const height = spreads.length * ROW + AXIS;
  const ticks = labelledTicks(scale.ticks(6), scale, TICK_GAP);
  const chart = svg(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${height}`,
      class: "distribution",
      role: "group",
      "aria-label": "Wall time per call",
    },
    ...ticks.flatMap((tick) => {
      const x = scale(tick);
      return [
        svg("line", { x1: x, x2: x, y1: 0, y2: height - AXIS, class: "grid" }),
        svg("text", { x, y: height - 8, class: "tick" }, `${formatTick(tick)} ms`),
      ];
    }),
    ...spreads.map((spread, at) => drawSpread(spread, at * ROW + ROW / 2, scale, store)),
  );
  const left = all.length - spreads.length;
  return [
    h("div", { class: "scroll" }, chart),
    h(
      "p",
      { class: "hint" },
      `Line: from the fastest to the slowest call. Dot: median. Tick: 95th percentile.${logarithmic ? " Logarithmic scale." : ""}${left > 0 ? ` ${left} shorter regions are in the table.` : ""}`,
    ),
  ];
}

function drawSpread(
  { region, min, median, p95, max }: Spread,
  y: number,
  scale: (value: number) => number,
  store: Store,
): SVGElement {
  const text = `${region.path}: ${region.calls} calls, minimum ${formatMs(min)}, median ${formatMs(median)}, 95th percentile ${formatMs(p95)}, maximum ${formatMs(max)} ms`;
  const group = svg(
    "g",
    { class: "spread", role: "img", "aria-label": text },
    svg("title", {}, text),
    svg("rect", { x: 0, y: y - ROW / 2, width: WIDTH, height: ROW, class: "hit" }),
    svg("text", { x: LABEL - 10, y: y + 4, class: "row-label" }, shortenPath(region)),
    svg("line", { x1: scale(min), x2: scale(max), y1: y, y2: y, class: "whisker" }),
    svg("line", { x1: scale(p95), x2: scale(p95), y1: y - 6, y2: y + 6, class: "p95" }),
    svg("circle", { cx: scale(median), cy: y, r: 4.5, class: "median" }),
  );
  group.addEventListener("click", () => store.set({ selected: region }));
  return group;
}

/** The end of a path tells regions of one name apart, as long as there is room. */
function shortenPath({ label, path }: Region): string {
  if (path.length <= MOST_CHARACTERS) return path;
  const end = path.slice(path.length - (MOST_CHARACTERS - 1));
  return label.length >= MOST_CHARACTERS ? `${label.slice(0, MOST_CHARACTERS - 1)}…` : `…${end}`;
}

const MOST_CHARACTERS = 34;

const formatTick = (value: number): string => String(Number(value.toPrecision(3)));
