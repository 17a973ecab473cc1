/** The spread of wall time over the calls of a region: minimum, median, 95th percentile, maximum. */
import { scaleLinear, scaleLog } from "d3-scale";
import { plural } from "../../foundation/text/plural.ts";
import {
  CHARACTER,
  createResponsiveChart,
  makeSelectable,
  NARROW,
} from "../../pages/client/chart.ts";
import { h, svg } from "../../pages/client/dom.ts";
import { extentOf, labelledTicks } from "../../pages/client/plot.ts";
import { formatMs } from "../../pages/numbers.ts";
import { shortenPath } from "../../pages/shorten-path.ts";
import type { Region, Scope, Store } from "./state.ts";

const AXIS = 26;
/** Margin at the ends of the scale for half of an axis label, in pixels. */
const EDGE = 30;
/** Room for a label such as `0.25 ms` with a margin. */
const TICK_GAP = 64;

interface Spread {
  readonly region: Region;
  readonly calls: number;
  readonly min: number;
  readonly median: number;
  readonly p95: number;
  readonly max: number;
}

/** Positions of the parts of a row. */
interface Layout {
  readonly width: number;
  readonly row: number;
  /** Start of the scale. */
  readonly left: number;
  /** Width of a label, in pixels. */
  readonly room: number;
  /** Whether labels have a line of their own, above what they name. */
  readonly stacked: boolean;
}

function layoutOf(width: number): Layout {
  const stacked = width < NARROW;
  const left = stacked ? EDGE : Math.max(250, width * 0.28);
  return { width, stacked, left, row: stacked ? 42 : 24, room: (stacked ? width : left) - 10 };
}

export function createDistribution(store: Store): HTMLElement {
  const chart = createResponsiveChart();
  const hint = h("p", { class: "hint" });
  const section = h(
    "section",
    { "aria-labelledby": "distribution-heading" },
    h("h2", { id: "distribution-heading" }, "Wall time per call"),
    chart.element,
    hint,
  );
  store.watch(({ scope }, previous) => {
    if (previous !== null && previous.scope === scope) return;
    const spreads = spreadsOf(scope);
    section.hidden = spreads.length === 0;
    if (spreads.length === 0) return;
    hint.textContent = hintOf(spreads, scope.data.calls.left);
    chart.show((width) => draw(spreads, layoutOf(width), store));
  });
  return section;
}

const spreadsOf = ({ regions, data }: Scope): readonly Spread[] =>
  data.calls.rows.flatMap(({ region: row, ...spread }) => {
    const region = regions[row];
    return region === undefined ? [] : [{ region, ...spread }];
  });

const extremes = (spreads: readonly Spread[]): readonly [number, number] => [
  extentOf(spreads.map(({ min }) => min))[0],
  extentOf(spreads.map(({ max }) => max))[1],
];

/** The times of a step and of a whole run differ by orders of magnitude. */
const isLogarithmic = (lowest: number, highest: number): boolean =>
  lowest > 0 && highest / lowest > 20;

function hintOf(spreads: readonly Spread[], left: number): string {
  const scale = isLogarithmic(...extremes(spreads)) ? " Logarithmic scale." : "";
  const more =
    left > 0 ? ` ${plural(left, "shorter region is", "shorter regions are")} in the table.` : "";
  return `Line: from the fastest to the slowest call. Dot: median. Tick: 95th percentile.${scale}${more}`;
}

function draw(spreads: readonly Spread[], layout: Layout, store: Store): Node {
  const { width, row, left } = layout;
  const [lowest, highest] = extremes(spreads);
  const range: [number, number] = [left, width - EDGE];
  const scale = isLogarithmic(lowest, highest)
    ? scaleLog([lowest, highest], range)
    : scaleLinear([0, highest === 0 ? 1 : highest], range);
  const height = spreads.length * row + AXIS;
  const ticks = labelledTicks(scale.ticks(6), scale, TICK_GAP);
  const rows = spreads.map((spread, index) => ({
    element: drawSpread(spread, index * row, layout, scale),
    choose: () => store.set({ selected: spread.region }),
  }));
  makeSelectable(rows);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      class: "distribution",
      role: "group",
      "aria-label": "Wall time per call; arrow keys move, Enter shows a region",
    },
    ...ticks.flatMap((tick) => {
      const x = scale(tick);
      return [
        svg("line", { x1: x, x2: x, y1: 0, y2: height - AXIS, class: "grid" }),
        svg("text", { x, y: height - 8, class: "tick" }, `${formatTick(tick)} ms`),
      ];
    }),
    ...rows.map(({ element }) => element),
  );
}

function drawSpread(
  { region, calls, min, median, p95, max }: Spread,
  top: number,
  { left, room, row, stacked, width }: Layout,
  scale: (value: number) => number,
): SVGElement {
  const text = `${region.path}: ${plural(calls, "call")}, minimum ${formatMs(min)}, median ${formatMs(median)}, 95th percentile ${formatMs(p95)}, maximum ${formatMs(max)} ms`;
  const y = top + (stacked ? 30 : row / 2);
  const label = shortenPath(region, Math.floor(room / CHARACTER));
  return svg(
    "g",
    { class: "spread", "aria-label": text },
    svg("title", {}, text),
    svg("rect", { x: 1, y: top + 1, width: width - 2, height: row - 2, class: "hit" }),
    stacked
      ? svg("text", { x: 4, y: top + 17 }, label)
      : svg("text", { x: left - 10, y: y + 4, class: "row-label" }, label),
    svg("line", { x1: scale(min), x2: scale(max), y1: y, y2: y, class: "whisker" }),
    svg("line", { x1: scale(p95), x2: scale(p95), y1: y - 6, y2: y + 6, class: "p95" }),
    svg("circle", { cx: scale(median), cy: y, r: 4.5, class: "median" }),
  );
}

const formatTick = (value: number): string => String(Number(value.toPrecision(3)));
