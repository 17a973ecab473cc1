/** Regions under the roofline: arithmetic intensity against achieved FLOP/s, both logarithmic. */
import { scaleLog } from "d3-scale";
import {
  CHARACTER,
  createResponsiveChart,
  makeSelectable,
  NARROW,
  type SelectableMark,
} from "../../pages/client/chart.ts";
import { h, svg } from "../../pages/client/dom.ts";
import { extentOf, hueOf, labelledTicks } from "../../pages/client/plot.ts";
import { formatNumber, formatRate } from "../../pages/numbers.ts";
import type { RooflineData } from "../view/page-data.ts";
import type { Scope, Store } from "./state.ts";

/** Room for a label of a few digits with a margin. */
const TICK_GAP = 44;
/** Line height, with a margin to other lines. */
const LINE = 19;
const MARGIN = { left: 90, right: 26, top: 36, bottom: 48 };
const DOT_RADIUS = 6;
/** Maximum number of regions that are read out for one place. */
const MOST_READ = 5;

export function createRoofline(store: Store): HTMLElement {
  const chart = createResponsiveChart();
  const hint = h("p", { class: "hint" });
  const reading = h("div", { class: "reading" });
  const section = h(
    "section",
    { "aria-labelledby": "roofline-heading" },
    h("h2", { id: "roofline-heading" }, "Roofline"),
    chart.element,
    reading,
    hint,
  );
  store.watch(({ scope }, previous) => {
    if (previous !== null && previous.scope === scope) return;
    const { roofline } = scope.data;
    section.hidden = roofline === null;
    if (roofline === null) return;
    hint.textContent =
      "Each dot is a region at one precision; hover over it to see which. Ceilings are for the clock rates during the measurement.";
    chart.show((width) => draw(scope, roofline, width, store, reading));
  });
  return section;
}

function draw(
  scope: Scope,
  data: RooflineData,
  width: number,
  store: Store,
  reading: HTMLElement,
): Node {
  const axes = axesOf(data, width);
  const ceilings = drawCeilings(data, axes);
  const dots = data.points.map((point) => drawPoint(point, axes, scope, store));
  makeSelectable(dots);
  const read = (texts: readonly string[]) => {
    const more = texts.length - MOST_READ;
    reading.replaceChildren(
      ...texts.slice(0, MOST_READ).map((text) => h("p", {}, text)),
      ...(more > 0 ? [h("p", {}, `and ${more} more in this place; arrow keys reach them`)] : []),
    );
  };
  read([]);
  for (const dot of dots) {
    // A dot can cover others: all dots at its place are named, beginning with it.
    const here = [dot, ...dots.filter((other) => other !== dot && covers(dot, other))];
    const show = () => read(here.map(({ text }) => text));
    for (const event of ["pointerenter", "focus"]) dot.element.addEventListener(event, show);
    for (const event of ["pointerleave", "blur"])
      dot.element.addEventListener(event, () => read([]));
  }
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${axes.height}`,
      class: "roofline",
      role: "group",
      "aria-label": "Roofline; arrow keys move, Enter shows a region",
    },
    ...drawGrid(axes),
    ...drawMemoryRoof(data, axes),
    ...ceilings.map(({ element }) => element),
    ...dots.map(({ element }) => element),
    ...namesOf(
      dots,
      ceilings.map(({ label }) => label),
      width,
    ),
  );
}

const MOST_NAMES = 12;
const MOST_LETTERS = 28;
/** Distance from the centre of a dot to its name, in pixels. */
const NAME_GAP = DOT_RADIUS + 3;

/** A line of text: its left end, middle and length, in pixels. */
interface LabelBox {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The names of points with enough space beside them; the others are shown when their point is pointed at. */
function namesOf(dots: readonly Dot[], labels: readonly LabelBox[], width: number): Node[] {
  const taken = [...labels];
  const names: Node[] = [];
  for (const { x, y, name } of dots) {
    if (names.length >= MOST_NAMES) break;
    const text = name.length > MOST_LETTERS ? `…${name.slice(1 - MOST_LETTERS)}` : name;
    const long = text.length * CHARACTER;
    const isFree = (left: number) =>
      left >= MARGIN.left &&
      left + long <= width &&
      taken.every(
        (other) =>
          Math.abs(other.y - y) > LINE || left > other.x + other.width || other.x > left + long,
      );
    const besides = [x + NAME_GAP, x - NAME_GAP - long];
    const left = besides.find(isFree);
    if (left === undefined) continue;
    taken.push({ x: left, y, width: long });
    const isRight = left === besides[0];
    names.push(
      svg(
        "text",
        {
          x: isRight ? left : x - NAME_GAP,
          y: y + 4,
          class: isRight ? "point-name" : "point-name end",
          "aria-hidden": true,
        },
        text,
      ),
    );
  }
  return names;
}

const covers = (dot: Dot, other: Dot): boolean =>
  Math.hypot(dot.x - other.x, dot.y - other.y) < DOT_RADIUS;

interface Scale {
  (value: number): number;
  domain(): number[];
}

/** FLOP per byte on the x axis, FLOP/s on the y axis. */
interface Axes {
  readonly x: Scale;
  readonly y: Scale;
  /** Width of the chart, in pixels. */
  readonly width: number;
  readonly height: number;
}

/** Scales that contain all points, all ceilings, and the intersections of the ceilings with the memory roof. */
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
      svg("text", { x: x(tick), y: bottom + 20, class: "tick" }, formatNumber(tick)),
    ),
    ...powersOfTen(y).map((tick) =>
      svg("line", { x1: MARGIN.left, x2: right, y1: y(tick), y2: y(tick), class: "grid" }),
    ),
    ...labelledTicks(powersOfTen(y), y, LINE).map((tick) =>
      svg("text", { x: MARGIN.left - 8, y: y(tick) + 4, class: "tick end" }, formatTick(tick)),
    ),
    svg(
      "text",
      { x: (width + MARGIN.left) / 2, y: height - 6, class: "tick" },
      "FLOP per byte of DRAM traffic",
    ),
  ];
}

/** `10 TFLOP/s`: a power of ten needs no decimals. */
const formatTick = (tick: number): string => formatRate(tick, "FLOP/s").replace(/\.0+(?= )/, "");

/** Parsed from text: repeated multiplication of 1e-6 by ten would not give exactly 1. */
function powersOfTen(scale: Scale): readonly number[] {
  const [from, to] = ends(scale).map((end) => Math.round(Math.log10(end)));
  const [first = 0, last = 0] = [from, to];
  return Array.from({ length: last - first + 1 }, (_, step) => Number(`1e${first + step}`));
}

/** Each ceiling starts at its ridge point, left of which memory is the limit. */
function drawCeilings(
  { ceilings, bandwidth }: RooflineData,
  { x, y }: Axes,
): readonly { readonly element: Node; readonly label: LabelBox }[] {
  const [left, right] = ends(x);
  const heights = [...new Set(ceilings.map(({ flops }) => flops))].sort((a, b) => b - a);
  const lines = heights.map(y);
  const baselines: number[] = [];
  return heights.map((flops) => {
    const same = ceilings.filter((ceiling) => ceiling.flops === flops);
    const label = `${same.map((ceiling) => ceiling.label).join(", ")} ${formatRate(flops, "FLOP/s")}`;
    const baseline = freeBaseline(y(flops), lines, baselines);
    baselines.push(baseline);
    const ridge = bandwidth === null ? left : Math.max(left, flops / bandwidth);
    const end = x(right) - 4;
    const long = label.length * CHARACTER;
    return {
      element: svg(
        "g",
        { class: "ceiling" },
        svg("line", { x1: x(ridge), x2: x(right), y1: y(flops), y2: y(flops) }),
        svg("text", { x: end, y: baseline, class: "tick end" }, label),
      ),
      label: { x: end - long, y: baseline - 4, width: long },
    };
  });
}

/**
 * The baseline of a label: on its line or else below it, without overlapping another label and, if possible, a line.
 */
function freeBaseline(line: number, lines: readonly number[], taken: readonly number[]): number {
  const places = [line - 5, ...[0, 1, 2].map((steps) => line + LINE + steps * LINE)];
  const free = places.filter((place) => taken.every((other) => Math.abs(other - place) >= LINE));
  const crossed = (place: number) =>
    lines.some((other) => other > place - LINE && other < place + 3);
  return free.find((place) => !crossed(place)) ?? free[0] ?? line - 5;
}

/** Drawn up to the highest ceiling or the edge. */
function drawMemoryRoof({ bandwidth, ceilings }: RooflineData, { x, y }: Axes): readonly Node[] {
  if (bandwidth === null) return [];
  const [left, right] = ends(x);
  const [bottom, top] = ends(y);
  const highest = ceilings.length === 0 ? top : extentOf(ceilings.map(({ flops }) => flops))[1];
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
    // Placed above the plot, where it covers nothing.
    svg(
      "text",
      { x: MARGIN.left, y: 12, class: "tick memory-label" },
      `Slope: DRAM ${formatRate(bandwidth, "B/s")}`,
    ),
  ];
}

interface Dot extends SelectableMark {
  /** The centre, in pixels. */
  readonly x: number;
  readonly y: number;
  readonly text: string;
  /** Name of the region. */
  readonly name: string;
}

/** One region at one precision. */
function drawPoint(
  { region, label, intensity, flops }: RooflineData["points"][number],
  { x, y }: Axes,
  scope: Scope,
  store: Store,
): Dot {
  const target = scope.regions[region];
  const text = `${target?.path ?? ""}, ${label}: ${formatNumber(intensity)} FLOP/byte, ${formatRate(flops, "FLOP/s")}`;
  const dot = svg("circle", {
    cx: x(intensity),
    cy: y(flops),
    r: DOT_RADIUS,
    class: "dot",
    "aria-label": text,
  });
  dot.style.setProperty("--hue", String(hueOf(target?.label ?? "")));
  const choose = () => {
    if (target !== undefined) store.set({ selected: target });
  };
  return {
    element: dot,
    choose,
    text,
    name: target?.label ?? "",
    x: x(intensity),
    y: y(flops),
  };
}

/** Whole powers of ten around the values, so that no value is on the edge. */
function decades(values: readonly number[]): [number, number] {
  const [least, greatest] = extentOf(values.filter((value) => value > 0).map(Math.log10));
  return [10 ** Math.floor(least - 0.1), 10 ** Math.ceil(greatest + 0.1)];
}
