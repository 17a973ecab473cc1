/**
 * Charts of jobs: points, lines and cells on two axes. Thousands of points are one path each colour; the job under the pointer, or
 * reached by the arrow keys, is named below the chart.
 */
import {
  CHARACTER,
  createResponsiveChart,
  isShortcut,
  NARROW,
} from "../../../pages/client/chart.ts";
import { h, on, svg } from "../../../pages/client/dom.ts";
import { extentOf, labelledTicks } from "../../../pages/client/plot.ts";
import type { Axis } from "./axis.ts";

export interface ChartPoint {
  readonly row: number;
  readonly x: number;
  readonly y: number;
  /** The class of its colour. */
  readonly tone: string;
}

/** What a chart draws at a width. */
export interface Drawing {
  readonly height: number;
  /** Below the points. */
  readonly marks: readonly Node[];
  /** In the order of the arrow keys. */
  readonly points: readonly ChartPoint[];
  /** Whether points are drawn; lines have only places to be found by. */
  readonly arePlain?: true;
}

export interface JobChart {
  readonly element: HTMLElement;
  /** @param draw null hides it */
  show(draw: ((width: number) => Drawing) | null): void;
}

/** The reach of the pointer, in pixels. */
const REACH = 24;
/** The jobs that Page Up and Page Down skip. */
const PAGE = 20;

export interface JobChartOptions {
  readonly label: string;
  /** A job in a line. */
  readonly describe: (row: number) => string;
  readonly chosen: () => number | null;
  readonly onChoose: (row: number) => void;
}

export function createJobChart({ label, describe, chosen, onChoose }: JobChartOptions): JobChart {
  const chart = createResponsiveChart();
  const reading = h("p", { class: "hint reading", role: "status" });
  const box = h(
    "div",
    { class: "job-chart", tabindex: 0, role: "slider", "aria-label": label },
    chart.element,
  );
  let points: readonly ChartPoint[] = [];
  let current = -1;
  let scale = 1;
  const marker = svg("circle", { r: 7, class: "marker" });
  const mark = (next: number): void => {
    current = next;
    const point = points[current];
    marker.setAttribute("visibility", point === undefined ? "hidden" : "visible");
    if (point === undefined) {
      reading.textContent = "";
      return;
    }
    marker.setAttribute("cx", String(point.x));
    marker.setAttribute("cy", String(point.y));
    reading.textContent = describe(point.row);
    box.setAttribute("aria-valuenow", String(current + 1));
    box.setAttribute("aria-valuetext", describe(point.row));
  };
  const nearest = ({ clientX, clientY }: MouseEvent): number => {
    const image = chart.element.querySelector("svg");
    if (image === null) return -1;
    const { left, top, width } = image.getBoundingClientRect();
    scale = width / (image.viewBox.baseVal.width || width || 1);
    const [x, y] = [(clientX - left) / scale, (clientY - top) / scale];
    let [found, least] = [-1, REACH * REACH];
    for (const [index, point] of points.entries()) {
      const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (distance < least) [found, least] = [index, distance];
    }
    return found;
  };
  on(box, "pointermove", (event) => {
    const found = nearest(event);
    if (found >= 0 && found !== current) mark(found);
  });
  on(box, "click", (event) => {
    const point = points[nearest(event)];
    if (point !== undefined) onChoose(point.row);
  });
  on(box, "keydown", (event) => {
    if (isShortcut(event) || points.length === 0) return;
    if (event.key === "Enter" || event.key === " ") {
      const point = points[current];
      if (point !== undefined) onChoose(point.row);
    } else {
      const next = targetOf(event.key, current, points.length);
      if (next === null) return;
      mark(next);
    }
    event.preventDefault();
  });
  return {
    element: h("div", {}, box, reading),
    show(draw) {
      box.hidden = draw === null;
      reading.hidden = draw === null;
      if (draw === null) return;
      const row = points[current]?.row;
      chart.show((width) => {
        const drawing = draw(width);
        points = drawing.points;
        box.setAttribute("aria-valuemin", String(Math.min(1, points.length)));
        box.setAttribute("aria-valuemax", String(points.length));
        const image = svg(
          "svg",
          { viewBox: `0 0 ${width} ${drawing.height}`, role: "presentation" },
          ...drawing.marks,
          ...(drawing.arePlain ? [] : dots(points)),
          ...ring(points.find((point) => point.row === chosen())),
          marker,
        );
        return image;
      });
      const index = row === undefined ? -1 : points.findIndex((point) => point.row === row);
      mark(index);
      if (index < 0) {
        box.setAttribute("aria-valuenow", String(Math.min(1, points.length)));
        box.setAttribute("aria-valuetext", `${points.length} jobs`);
      }
    },
  };
}

function targetOf(key: string, index: number, count: number): number | null {
  const steps: Readonly<Record<string, number>> = {
    ...{ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 },
    ...{ PageUp: PAGE, PageDown: -PAGE },
  };
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  const step = steps[key];
  return step === undefined ? null : Math.max(0, Math.min(count - 1, index + step));
}

const ring = (point: ChartPoint | undefined): readonly Node[] =>
  point === undefined ? [] : [svg("circle", { cx: point.x, cy: point.y, r: 6, class: "chosen" })];

/** A path for each colour: a line of no length with round ends is a dot. */
function dots(points: readonly ChartPoint[]): readonly Node[] {
  const paths = new Map<string, string[]>();
  for (const { x, y, tone } of points) {
    const parts = paths.get(tone) ?? [];
    const place = `M${x.toFixed(1)},${y.toFixed(1)}`;
    parts.push(`${place}${SHAPES[tone] ?? "h0"}`);
    paths.set(tone, parts);
  }
  const isDense = points.length > 1000;
  return [...paths]
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([tone, parts]) =>
      svg("path", { d: parts.join(""), class: `dots ${tone}${isDense ? " dense" : ""}` }),
    );
}

/** Of those that did not complete: colour alone does not tell everybody. */
const SHAPES: Readonly<Record<string, string>> = {
  bad: "m-3,-3l6,6m0,-6l-6,6",
  pruned: "m-3,0h6",
};

/** The room of a chart within its margins, in pixels. */
export interface Plot {
  readonly height: number;
  readonly x: (share: number) => number;
  readonly y: (share: number) => number;
  /** Lines and labels of both axes. */
  readonly frame: readonly Node[];
}

const TOP = 12;
/** Labels of texts are cut. */
const LABEL = 16;
const TICK_GAP = 18;

/** @param width width in pixels */
export function plotOf(x: Axis, y: Axis, width: number, height = width < NARROW ? 260 : 340): Plot {
  const cut = (text: string) => (text.length > LABEL ? `${text.slice(0, LABEL - 1)}…` : text);
  const most = width < NARROW ? 10 : LABEL;
  const yTicks = y.ticks.map((tick) => ({ ...tick, text: cut(tick.text).slice(0, most) }));
  const left = Math.max(0, extentOf(yTicks.map(({ text }) => text.length))[1]) * CHARACTER + 14;
  const [right, bottom] = [width - 14, height - 40];
  const toX = (share: number) => left + share * (right - left);
  const toY = (share: number) => bottom - share * (bottom - TOP);
  const shownX = spaced(
    x.ticks.map((tick) => ({ position: toX(tick.position), text: cut(tick.text) })),
    ({ text }) => text.length * CHARACTER + 10,
  ).map(({ position, text }) => ({
    text,
    position: Math.min(position, width - (text.length * CHARACTER) / 2),
  }));
  const shownY = labelledTicks(
    yTicks.map(({ position }) => toY(position)),
    (position) => position,
    TICK_GAP,
  );
  return {
    height,
    x: toX,
    y: toY,
    frame: [
      ...yTicks.flatMap(({ position, text }) => [
        svg("line", { x1: left, x2: right, y1: toY(position), y2: toY(position), class: "grid" }),
        shownY.includes(toY(position))
          ? svg("text", { x: left - 8, y: toY(position) + 4, class: "tick end" }, text)
          : svg("g"),
      ]),
      ...shownX.map(({ position, text }) =>
        svg("text", { x: position, y: bottom + 16, class: "tick" }, text),
      ),
      svg(
        "text",
        { x: (left + right) / 2, y: height - 6, class: "tick" },
        fitted(x.title, right - left),
      ),
    ],
  };
}

const fitted = (text: string, width: number): string => {
  const most = Math.max(8, Math.floor(width / CHARACTER));
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

/** Those of some labels that do not touch one before them. */
function spaced<One extends { readonly position: number }>(
  ticks: readonly One[],
  widthOf: (tick: One) => number,
): readonly One[] {
  const kept: One[] = [];
  for (const tick of [...ticks].sort((a, b) => a.position - b.position)) {
    const last = kept.at(-1);
    if (last === undefined || tick.position - last.position >= (widthOf(tick) + widthOf(last)) / 2)
      kept.push(tick);
  }
  return kept;
}
