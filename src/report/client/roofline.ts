/** Regions under the roofline: arithmetic intensity against achieved FLOP/s, both logarithmic. */
import { scaleLog } from "d3-scale";
import type { RooflineData } from "../html/page-data.ts";
import { labelledTicks } from "./axis.ts";
import { type Choosable, makeChoosable } from "./choosable.ts";
import { hueOf } from "./color.ts";
import { h, svg } from "./dom.ts";
import { createFitted, NARROW } from "./fit.ts";
import { formatNumber, formatRate } from "./format.ts";
import type { Scope } from "./scope.ts";
import type { Store } from "./state.ts";

/** A label of some digits with air around it. */
const TICK_GAP = 44;
const MARGIN = { left: 90, right: 20, top: 16, bottom: 44 };

export function createRoofline(store: Store): HTMLElement {
  const chart = createFitted();
  const hint = h("p", { class: "hint" });
  const section = h(
    "section",
    { "aria-labelledby": "roofline-heading" },
    h("h2", { id: "roofline-heading" }, "Roofline"),
    chart.element,
    hint,
  );
  store.watch(({ scope }, before) => {
    if (before !== null && before.scope === scope) return;
    const { roofline } = scope.data;
    section.hidden = roofline === null;
    if (roofline === null) return;
    const { bandwidth } = roofline;
    hint.textContent = `A dot is a region at one precision. ${bandwidth === null ? "" : `The slope is DRAM at ${formatRate(bandwidth, "B/s")}. `}Ceilings are those of the clocks during the measurement.`;
    chart.show((width) => draw(scope, roofline, width, store));
  });
  return section;
}

function draw(scope: Scope, data: RooflineData, width: number, store: Store): Node {
  const axes = axesOf(data, width);
  const dots = data.points.map((point) => drawPoint(point, axes, scope, store));
  makeChoosable(dots);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${axes.height}`,
      class: "roofline",
      role: "group",
      "aria-label": "Roofline; arrow keys move, Enter shows a region",
    },
    ...drawGrid(axes),
    ...data.ceilings.map((ceiling) => drawCeiling(ceiling, data.bandwidth, axes)),
    ...drawMemoryRoof(data, axes),
    ...dots.map(({ element }) => element),
  );
}

interface Scale {
  (value: number): number;
  domain(): number[];
}

/** FLOP per byte to the right, FLOP/s upwards. */
interface Axes {
  readonly x: Scale;
  readonly y: Scale;
  /** Of the chart, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** All points, ceilings, and where ceilings meet the memory roof. */
function axesOf({ points, ceilings, bandwidth }: RooflineData, width: number): Axes {
  const height = width < NARROW ? 320 : 420;
  const ridges = bandwidth === null ? [] : ceilings.map(({ flops }) => flops / bandwidth);
  const intensities = [...points.map(({ intensity }) => intensity), ...ridges];
  const rates = [...points, ...ceilings].map(({ flops }) => flops);
  return {
    width,
    height,
    x: scaleLog(decades(intensities), [MARGIN.left, width - MARGIN.right]),
    y: scaleLog(decades(rates), [height - MARGIN.bottom, MARGIN.top]),
  };
}

const ends = (scale: Scale): readonly [number, number] => {
  const [low = 1, high = 1] = scale.domain();
  return [low, high];
};

function drawGrid({ x, y, width, height }: Axes): readonly Node[] {
  const bottom = height - MARGIN.bottom;
  const right = width - MARGIN.right;
  return [
    ...powersOfTen(x).map((tick) =>
      svg("line", { x1: x(tick), x2: x(tick), y1: MARGIN.top, y2: bottom, class: "grid" }),
    ),
    ...labelledTicks(powersOfTen(x), x, TICK_GAP).map((tick) =>
      svg("text", { x: x(tick), y: bottom + 16, class: "tick" }, formatNumber(tick)),
    ),
    ...powersOfTen(y).flatMap((tick) => [
      svg("line", { x1: MARGIN.left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
      svg(
        "text",
        { x: MARGIN.left - 8, y: y(tick) + 4, class: "tick end" },
        formatRate(tick, "FLOP/s"),
      ),
    ]),
    svg(
      "text",
      { x: (width + MARGIN.left) / 2, y: height - 6, class: "tick" },
      "FLOP per byte of DRAM traffic",
    ),
  ];
}

function powersOfTen(scale: Scale): readonly number[] {
  const [from, to] = ends(scale);
  const all: number[] = [];
  for (let value = from; value <= to * 1.001; value *= 10) all.push(value);
  return all;
}

/** From the ridge, left of which memory is the limit. */
function drawCeiling(
  { label, flops }: RooflineData["ceilings"][number],
  bandwidth: number | null,
  { x, y }: Axes,
): SVGElement {
  const [left, right] = ends(x);
  const ridge = bandwidth === null ? left : Math.max(left, flops / bandwidth);
  return svg(
    "g",
    { class: "ceiling" },
    svg("line", { x1: x(ridge), x2: x(right), y1: y(flops), y2: y(flops) }),
    svg(
      "text",
      { x: x(right) - 4, y: y(flops) - 5, class: "tick end" },
      `${label} ${formatRate(flops, "FLOP/s")}`,
    ),
  );
}

/** Up to where it meets the highest ceiling or the edge. */
function drawMemoryRoof({ bandwidth, ceilings }: RooflineData, { x, y }: Axes): readonly Node[] {
  if (bandwidth === null) return [];
  const [left, right] = ends(x);
  const [bottom, top] = ends(y);
  const highest = ceilings.length === 0 ? top : Math.max(...ceilings.map(({ flops }) => flops));
  const start = Math.max(left, bottom / bandwidth);
  const end = Math.min(right, highest / bandwidth);
  return [
    svg("line", {
      x1: x(start),
      y1: y(start * bandwidth),
      x2: x(end),
      y2: y(end * bandwidth),
      class: "memory-roof",
    }),
  ];
}

/** One region at one precision. */
function drawPoint(
  { region, label, intensity, flops }: RooflineData["points"][number],
  { x, y }: Axes,
  scope: Scope,
  store: Store,
): Choosable {
  const target = scope.regions[region];
  const text = `${target?.path ?? ""}, ${label}: ${formatNumber(intensity)} FLOP/byte, ${formatRate(flops, "FLOP/s")}`;
  const dot = svg(
    "circle",
    { cx: x(intensity), cy: y(flops), r: 6, class: "dot", "aria-label": text },
    svg("title", {}, text),
  );
  dot.style.setProperty("--hue", String(hueOf(target?.label ?? "")));
  const choose = () => {
    if (target !== undefined) store.set({ selected: target });
  };
  return { element: dot, choose };
}

/** Whole powers of ten around the values, so that nothing stands on the edge. */
function decades(values: readonly number[]): [number, number] {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  const low = Math.floor(Math.min(...logs) - 0.1);
  const high = Math.ceil(Math.max(...logs) + 0.1);
  return [10 ** low, 10 ** high];
}
