/** Entry point of the script of a sweep's page. */

import { plural } from "../../../foundation/text/plural.ts";
import { CHARACTER, createResponsiveChart, NARROW } from "../../../pages/client/chart.ts";
import { h, on, section, svg } from "../../../pages/client/dom.ts";
import { extentOf } from "../../../pages/client/plot.ts";
import { themeButton } from "../../../pages/client/theme.ts";
import { formatNumber, formatPercentage } from "../../../pages/numbers.ts";
import { type BetterWhen, LEFT_OUT, type SweepPageData } from "../page/sweep-page-data.ts";
import { type Axis, columnAxis, numberAxis } from "./axis.ts";
import { type Importance, importanceOf } from "./forest.ts";
import { type ChartPoint, createJobChart, type JobChart, plotOf } from "./job-chart.ts";
import { createJobs } from "./job-table.ts";
import {
  bestRow,
  describedJob,
  directionIn,
  isBetter,
  jobName,
  type Metric,
  mainMetric,
  metricsOf,
  paretoFront,
  sampled,
  tonesOf,
} from "./jobs.ts";

let data = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as SweepPageData;
let metric = mainMetric(data);
const directions = new Map<string, BetterWhen>();
let chosen: number | null = null;
/** The rows that the filter lets through. */
let shown: readonly number[] = [...data.number.keys()];
let importance: Importance | null = null;

const directionOf = (title: string): BetterWhen =>
  directions.get(title) ?? directionIn(data, title);
const describe = (row: number): string => describedJob(data, row, metric);
const choose = (row: number | null): void => {
  chosen = row === chosen ? null : row;
  redraw();
};
/** Lines and small charts of more jobs take long to draw, and nobody could tell them apart. */
const MOST_LINES = 600;
const MOST_DOTS = 3000;

const jobChart = (label: string): JobChart =>
  createJobChart({ label, describe, chosen: () => chosen, onChoose: choose });

// Choosing what is looked at.

/** A chooser of a metric, with what is better. */
function createMetricChooser(
  label: string,
  { get, set }: { readonly get: () => Metric; readonly set: (metric: Metric) => void },
) {
  const select = on(h("select"), "change", () => {
    const next = metricsOf(data)[Number(select.value)];
    if (next !== undefined) set(next);
  });
  const toggle = on(h("button", { type: "button" }), "click", () => {
    const { title } = get();
    directions.set(title, directionOf(title) === "minimize" ? "maximize" : "minimize");
    redraw();
    explain();
  });
  let titles = "";
  return {
    element: h(
      "span",
      { class: "choosers" },
      h("label", { class: "chooser" }, `${label} `, select),
      toggle,
    ),
    draw(): void {
      const metrics = metricsOf(data);
      const now = metrics.map(({ title }) => title).join("\n");
      if (now !== titles)
        select.replaceChildren(
          ...metrics.map(({ title }, index) => h("option", { value: index }, title)),
        );
      titles = now;
      select.value = String(metrics.findIndex(({ title }) => title === get().title));
      toggle.textContent =
        directionOf(get().title) === "minimize" ? "lower is better" : "higher is better";
    },
  };
}

/** A part of the page; hidden where it has nothing to show. */
interface Part {
  readonly element: HTMLElement;
  readonly draw: () => void;
}

function part(title: string, hint: string, children: readonly Node[], draw: () => boolean): Part {
  const element = section(title, h("p", { class: "hint" }, hint), ...children);
  return {
    element,
    draw: () => {
      element.hidden = !draw();
    },
  };
}

const valued = () => shown.filter((row) => metric.numbers[row] != null);
const tones = () => tonesOf(shown, metric, directionOf(metric.title));
/** What is better the lower it is, is looked at near zero. */
const axisOf = (metric: Metric, rows = shown): Axis =>
  numberAxis(metric.title, metric.numbers, {
    rows,
    scale: directionOf(metric.title) === "minimize" ? "log" : "linear",
  });

function pointsOf(
  rows: readonly number[],
  [x, y]: readonly [Axis, Axis],
  plot: Pick<ReturnType<typeof plotOf>, "x" | "y">,
  toneOf: (row: number) => string,
): readonly ChartPoint[] {
  return rows.flatMap((row) => {
    const [left, up] = [x.place(row), y.place(row)];
    return left === null || up === null
      ? []
      : [{ row, x: plot.x(left), y: plot.y(up), tone: toneOf(row) }];
  });
}

// How the objective went from job to job.

function createHistory(): Part {
  const chart = jobChart("History of the objective");
  const names = h("ul", { class: "legend" });
  return part(
    "History",
    "A point for each job in the order of their numbers; the line is the best so far. Those at the bottom have no value: a bar for each that was pruned, crosses for others. In all charts the pointer or the arrow keys name a job, and a click or Enter shows all of it.",
    [chart.element, names],
    () => {
      const direction = directionOf(metric.title);
      names.replaceChildren(...(data.sweep === undefined ? [] : data.sweeps.map(nameOfSweep)));
      const groups = data.sweeps.map((_, sweep) => shown.filter((row) => sweepOf(row) === sweep));
      const x = numberAxis("job", data.number, { rows: shown, scale: "linear" });
      const y = axisOf(metric);
      const toneOf = (row: number) =>
        metric.numbers[row] == null
          ? endTone(row)
          : data.sweep === undefined
            ? "tone-2"
            : sweepTone(row);
      const atBottom: Axis = { ...y, place: (row) => y.place(row) ?? (isOver(row) ? 0 : null) };
      chart.show((width) => {
        const plot = plotOf(x, y, width);
        return {
          ...plot,
          marks: [
            ...plot.frame,
            ...groups.flatMap((rows) => bestLine(rows, { x, y, plot, direction })),
          ],
          points: pointsOf(shown, [x, atBottom], plot, toneOf),
        };
      });
      return true;
    },
  );
}

/** The colour of a sweep, and its name. */
const nameOfSweep = (name: string, sweep: number): Node =>
  h(
    "li",
    {},
    svg(
      "svg",
      { viewBox: "0 0 20 14", width: 20, height: 14, "aria-hidden": "true" },
      svg("path", { d: "M10,7h0", class: `dots sweep-${sweep % SWEEP_TONES}` }),
    ),
    name,
  );

/** Of a job that did not complete. One that was pruned did not fail. */
const endTone = (row: number): string => (data.status[row] === "pruned" ? "pruned" : "bad");
const isOver = (row: number): boolean =>
  !["queued", "running", LEFT_OUT].includes(data.status[row] ?? "");
const sweepOf = (row: number): number => data.sweep?.[row] ?? 0;
const sweepTone = (row: number): string => `sweep-${sweepOf(row) % SWEEP_TONES}`;
const SWEEP_TONES = 6;

function bestLine(
  rows: readonly number[],
  {
    x,
    y,
    plot,
    direction,
  }: {
    readonly x: Axis;
    readonly y: Axis;
    readonly plot: ReturnType<typeof plotOf>;
    readonly direction: BetterWhen;
  },
): readonly Node[] {
  let best: number | null = null;
  const corners: string[] = [];
  for (const row of rows) {
    const value = metric.numbers[row] ?? null;
    const [left, up] = [x.place(row), y.place(row)];
    if (left === null) continue;
    if (
      value !== null &&
      up !== null &&
      (best === null || isBetter(value, metric.numbers[best] ?? value, direction))
    )
      best = row;
    if (best === null) continue;
    const share = y.place(best) ?? 0;
    corners.push(
      `${corners.length === 0 ? "M" : "H"}${plot.x(left).toFixed(1)}${corners.length === 0 ? "," : "V"}${plot.y(share).toFixed(1)}`,
    );
  }
  const tone = rows[0] === undefined || data.sweep === undefined ? "" : ` ${sweepTone(rows[0])}`;
  return corners.length < 2
    ? []
    : [svg("path", { d: corners.join(""), class: `best-line${tone}` })];
}

// What matters.

function createImportance(): Part {
  const chart = createResponsiveChart();
  const quality = h("p", {});
  return part(
    "Importance of parameters",
    "The share of each parameter in how much worse a random forest guesses if the values of the parameter are shuffled. It learns the order of the objective's values, not their sizes.",
    [quality, chart.element],
    () => {
      if (importance === null) return false;
      const { r2, shares, jobs } = importance;
      quality.textContent = `The forest explains ${formatPercentage(Math.max(0, r2) * 100)} % of the order of ${plural(jobs, "job")} that it has not seen (R² out of bag ${r2.toFixed(2)}).${r2 < LEAST_R2 ? " That is too little to rely on." : ""}`;
      const bars = shares
        .map((share, index) => ({ share, title: data.parameters[index]?.title ?? "" }))
        .sort((a, b) => b.share - a.share)
        .slice(0, MOST_BARS);
      chart.show((width) => barsOf(bars, width));
      return true;
    },
  );
}

const LEAST_R2 = 0.3;
const MOST_BARS = 20;
const BAR = 22;

function barsOf(
  bars: readonly { readonly title: string; readonly share: number }[],
  width: number,
): Node {
  const room = Math.floor(width / 3 / CHARACTER);
  const labels = bars.map(({ title }) =>
    title.length > room ? `…${title.slice(1 - room)}` : title,
  );
  const left = extentOf(labels.map(({ length }) => length))[1] * CHARACTER + 14;
  const most = extentOf(bars.map(({ share }) => share))[1] || 1;
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${bars.length * BAR}`,
      class: "bars",
      role: "group",
      "aria-label": "Importance",
    },
    ...bars.map(({ title, share }, index) => {
      const text = `${(share * 100).toFixed(0)} %`;
      const y = index * BAR + BAR / 2;
      const length = (share / most) * Math.max(20, width - left - 60);
      return svg(
        "g",
        { role: "img", "aria-label": `${title}: ${text}` },
        svg("text", { x: left - 8, y: y + 4, class: "tick end" }, labels[index] ?? ""),
        svg("rect", { x: left, y: y - 7, width: Math.max(1, length), height: 14 }),
        svg("text", { x: left + Math.max(1, length) + 6, y: y + 4 }, text),
      );
    }),
  );
}

/** The parameters, the most important first. */
function ranked(): readonly number[] {
  const order = [...data.parameters.keys()];
  const shares = importance?.shares;
  return shares === undefined ? order : order.sort((a, b) => (shares[b] ?? 0) - (shares[a] ?? 0));
}

// All parameters of a job as a line.

const MOST_AXES = 12;
const AXIS_HEIGHT = 58;

function createStrands(): Part {
  const chart = jobChart("Parallel coordinates");
  return part(
    "Parallel coordinates",
    "A line for each job, from parameter to parameter, the most important ones next to the objective; the darker in light colours, or lighter in dark ones, the better.",
    [chart.element],
    () => {
      const places = ranked().slice(0, MOST_AXES).reverse();
      if (places.length < 2 || valued().length === 0) return false;
      const byTone = tones();
      const rows = sampled(
        shown.filter((row) => byTone.has(row)),
        MOST_LINES,
        byTone,
      );
      const axes = [
        ...places
          .flatMap((index) => data.parameters[index] ?? [])
          .map((column) => columnAxis(column, data.texts, rows)),
        axisOf(metric, rows),
      ];
      chart.show((width) => strandsOf(axes, rows, byTone, width));
      return true;
    },
  );
}

function strandsOf(
  axes: readonly Axis[],
  rows: readonly number[],
  byTone: ReadonlyMap<number, string>,
  width: number,
) {
  const [left, right] = [10, width - 10];
  const x = (index: number) => left + index * (right - left);
  const y = (index: number) => 22 + index * AXIS_HEIGHT;
  const paths = new Map<string, string[]>();
  const points: ChartPoint[] = [];
  for (const row of rows) {
    const corners = axes.flatMap((axis, index) => {
      const place = axis.place(row);
      return place === null ? [] : [{ x: x(place), y: y(index) }];
    });
    const tone = byTone.get(row) ?? "";
    const strands = paths.get(tone) ?? [];
    strands.push(`M${corners.map((corner) => `${corner.x.toFixed(1)},${corner.y}`).join("L")}`);
    paths.set(tone, strands);
    const last = corners.at(-1);
    if (last !== undefined) points.push({ row, ...last, tone });
  }
  const point = points.find(({ row }) => row === chosen);
  const ofChosen = axes.flatMap((axis, index) => {
    const place = chosen === null ? null : axis.place(chosen);
    return place === null ? [] : [`${x(place).toFixed(1)},${y(index)}`];
  });
  return {
    height: y(axes.length - 1) + 30,
    arePlain: true as const,
    points: points.sort((a, b) => a.x - b.x),
    marks: [
      ...[...paths]
        .sort(([a], [b]) => (a < b ? 1 : -1))
        .map(([tone, parts]) => svg("path", { d: parts.join(""), class: `strands ${tone}` })),
      ...(point === undefined
        ? []
        : [svg("path", { d: `M${ofChosen.join("L")}`, class: "strands of-chosen" })]),
      ...axes.flatMap((axis, index) => [
        svg("line", { x1: left, x2: right, y1: y(index), y2: y(index), class: "axis" }),
        svg(
          "text",
          { x: left, y: y(index) - 8, class: "axis-title" },
          shortened(axis.title, width),
        ),
        ...tickLabels(axis, x, width).map(({ text, position: place }) =>
          svg("text", { x: place, y: y(index) + 15, class: "tick haloed" }, text),
        ),
      ]),
    ],
  };
}

const shortened = (text: string, width: number): string => {
  const most = Math.floor(width / CHARACTER) - 4;
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
};

/** The labels that do not touch, within the chart. */
function tickLabels({ ticks }: Axis, x: (index: number) => number, width: number) {
  const kept: { readonly text: string; readonly position: number }[] = [];
  let free = 0;
  for (const tick of ticks) {
    const text = tick.text.length > 12 ? `${tick.text.slice(0, 11)}…` : tick.text;
    const half = (text.length * CHARACTER) / 2;
    const position = Math.min(width - half, Math.max(half, x(tick.position)));
    if (position - half < free) continue;
    kept.push({ text, position });
    free = position + half + 8;
  }
  return kept;
}

// The objective against each parameter.

const MOST_SLICES = 9;

function createSlices(): Part {
  const grid = h("div", { class: "slices" });
  let charts: readonly JobChart[] = [];
  return part(
    "Slices",
    "The objective against each parameter, the most important first.",
    [grid],
    () => {
      const places = ranked().slice(0, MOST_SLICES);
      if (places.length === 0 || valued().length === 0) return false;
      if (charts.length !== places.length) {
        charts = places.map((_, index) => jobChart(`Slice ${index + 1}`));
        grid.replaceChildren(...charts.map(({ element }) => element));
      }
      const byTone = tones();
      const rows = sampled(
        shown.filter((row) => byTone.has(row)),
        MOST_DOTS,
        byTone,
      );
      const y = axisOf(metric, rows);
      for (const [index, place] of places.entries()) {
        const column = data.parameters[place];
        if (column === undefined) continue;
        const x = columnAxis(column, data.texts, rows);
        charts[index]?.show((width) => {
          const plot = plotOf(x, y, width, 220);
          const points = pointsOf(rows, [x, y], plot, (row) => byTone.get(row) ?? "");
          return { ...plot, marks: plot.frame, points: points.toSorted((a, b) => a.x - b.x) };
        });
      }
      return true;
    },
  );
}

// The objective over two parameters.

const CELLS = 22;
const NEIGHBOURS = 5;
/** Fewer are not enough for a map. */
const LEAST_JOBS = 10;

function createContour(): Part {
  const chart = jobChart("Objective over two parameters");
  let picked: readonly [string, string] | null = null;
  const select = (place: 0 | 1) =>
    on(h("select"), "change", (event) => {
      const { value } = event.target as HTMLSelectElement;
      picked = place === 0 ? [value, names()[1]] : [names()[0], value];
      redraw();
    });
  const names = (): readonly [string, string] => {
    const [first, second] = ranked().flatMap((index) => data.parameters[index]?.title ?? []);
    return picked ?? [first ?? "", second ?? ""];
  };
  const [left, right] = [select(0), select(1)];
  let titles = "";
  return part(
    "Two parameters",
    `Each cell has the mean rank of the ${NEIGHBOURS} nearest jobs, whatever their other parameters: the darker in light colours, or lighter in dark ones, the better.`,
    [
      h(
        "span",
        { class: "choosers" },
        h("label", { class: "chooser" }, "Across ", left),
        h("label", { class: "chooser" }, "Up ", right),
      ),
      chart.element,
    ],
    () => {
      if (data.parameters.length < 2 || valued().length < LEAST_JOBS) return false;
      const now = data.parameters.map(({ title }) => title);
      if (now.join("\n") !== titles)
        for (const select of [left, right])
          select.replaceChildren(...now.map((title) => h("option", { value: title }, title)));
      titles = now.join("\n");
      [left.value, right.value] = names();
      const [across, up] = names().map((name) =>
        data.parameters.find(({ title }) => title === name),
      );
      if (across === undefined || up === undefined) return false;
      const byTone = tones();
      const rows = sampled(
        shown.filter((row) => byTone.has(row)),
        MOST_DOTS,
        byTone,
      );
      const [x, y] = [columnAxis(across, data.texts, rows), columnAxis(up, data.texts, rows)];
      chart.show((width) => {
        const plot = plotOf(x, y, width);
        const points = pointsOf(rows, [x, y], plot, (row) => byTone.get(row) ?? "");
        return {
          ...plot,
          marks: [...cellsOf(rows, [x, y], plot, byTone), ...plot.frame],
          points: points.map((point) => ({ ...point, tone: "in-cell" })).sort((a, b) => a.x - b.x),
        };
      });
      return true;
    },
  );
}

function cellsOf(
  rows: readonly number[],
  [x, y]: readonly [Axis, Axis],
  plot: ReturnType<typeof plotOf>,
  byTone: ReadonlyMap<number, string>,
): readonly Node[] {
  const jobs = rows.flatMap((row) => {
    const [left, up] = [x.place(row), y.place(row)];
    return left === null || up === null
      ? []
      : [{ left, up, tone: Number(byTone.get(row)?.slice(-1)) }];
  });
  const paths = new Map<number, string[]>();
  for (let column = 0; column < CELLS; column++)
    for (let line = 0; line < CELLS; line++) {
      const [left, up] = [(column + 0.5) / CELLS, (line + 0.5) / CELLS];
      const tone = Math.round(nearestTone(jobs, left, up));
      const parts = paths.get(tone) ?? [];
      const [from, to] = [plot.x(column / CELLS), plot.x((column + 1) / CELLS)];
      const [low, high] = [plot.y(line / CELLS), plot.y((line + 1) / CELLS)];
      parts.push(
        `M${from.toFixed(1)},${low.toFixed(1)}H${to.toFixed(1)}V${high.toFixed(1)}H${from.toFixed(1)}z`,
      );
      paths.set(tone, parts);
    }
  // The best jobs have tone 1, and the strongest shade.
  return [...paths].map(([tone, parts]) =>
    svg("path", { d: parts.join(""), class: `shade-${6 - tone}` }),
  );
}

function nearestTone(
  jobs: readonly { readonly left: number; readonly up: number; readonly tone: number }[],
  left: number,
  up: number,
): number {
  const near: { distance: number; tone: number }[] = [];
  for (const job of jobs) {
    const distance = (job.left - left) ** 2 + (job.up - up) ** 2;
    if (near.length === NEIGHBOURS && distance >= (near.at(-1)?.distance ?? 0)) continue;
    if (near.length === NEIGHBOURS) near.pop();
    const index = near.findIndex((entry) => entry.distance > distance);
    near.splice(index < 0 ? near.length : index, 0, { distance, tone: job.tone });
  }
  return near.reduce((sum, { tone }) => sum + tone, 0) / Math.max(1, near.length);
}

// What jobs measured while they ran.

function createCurves(): Part {
  const chart = jobChart("Learning curves");
  const select = on(h("select"), "change", () => {
    picked = select.value;
    redraw();
  });
  let picked = "";
  let titles = "";
  return part(
    "Learning curves",
    "What jobs reported while they ran, step by step; the darker in light colours, or lighter in dark ones, the better their objective.",
    [h("label", { class: "chooser" }, "Metric ", select), chart.element],
    () => {
      const visible = new Set(shown);
      const all = data.curves.filter(({ row }) => visible.has(row));
      const now = [...new Set(data.curves.map(({ title }) => title))];
      if (now.join("\n") !== titles)
        select.replaceChildren(...now.map((title) => h("option", { value: title }, title)));
      titles = now.join("\n");
      const title = now.includes(picked) ? picked : (now[0] ?? "");
      select.value = title;
      const curves = all.filter((curve) => curve.title === title);
      if (curves.length === 0) return false;
      const byTone = tones();
      const [steps, values] = [
        curves.flatMap((curve) => curve.steps),
        curves.flatMap((curve) => curve.values),
      ];
      const places = [...steps.keys()];
      const x = numberAxis("step", steps, { rows: places, scale: "linear" });
      const y = numberAxis(title, values, { rows: places });
      chart.show((width) => {
        const plot = plotOf(x, y, width);
        let index = 0;
        const lines = curves.map((curve) => {
          const corners = curve.steps.flatMap(() => {
            const [left, up] = [x.place(index), y.place(index)];
            index++;
            return left === null || up === null ? [] : [{ x: plot.x(left), y: plot.y(up) }];
          });
          const tone = curve.row === chosen ? "of-chosen" : (byTone.get(curve.row) ?? "tone-5");
          return { row: curve.row, tone, corners };
        });
        return {
          ...plot,
          arePlain: true as const,
          marks: [
            ...plot.frame,
            ...lines
              .filter(({ corners }) => corners.length > 0)
              .sort((a, b) => (a.tone < b.tone ? 1 : -1))
              .map(({ corners, tone }) =>
                svg("path", {
                  // A single step, as of a job that was soon pruned, is a short bar.
                  d: `M${corners.map((corner) => `${corner.x.toFixed(1)},${corner.y.toFixed(1)}`).join("L")}${corners.length === 1 ? "m-3,0h6" : ""}`,
                  class: `strands ${tone}`,
                }),
              ),
          ],
          points: lines
            .flatMap(({ corners, row, tone }) => {
              const last = corners.at(-1);
              return last === undefined ? [] : [{ row, tone, ...last }];
            })
            .sort((a, b) => a.y - b.y),
        };
      });
      return true;
    },
  );
}

// Two metrics.

function createFront(): Part {
  const chart = jobChart("Two metrics");
  let other: string | null = null;
  const second = (): Metric => {
    const metrics = metricsOf(data).filter(({ title }) => title !== metric.title);
    const wanted = other ?? data.judgement.find(({ column }) => column !== metric.title)?.column;
    return metrics.find(({ title }) => title === wanted) ?? metrics[0] ?? metric;
  };
  const chooser = createMetricChooser("Against", {
    get: second,
    set: ({ title }) => {
      other = title;
      redraw();
    },
  });
  return part(
    "Pareto front",
    "Jobs on the line are those that no other is better than in both.",
    [chooser.element, chart.element],
    () => {
      const against = second();
      chooser.draw();
      const front = paretoFront(
        shown,
        [against, metric],
        [directionOf(against.title), directionOf(metric.title)],
      );
      if (against === metric || front.length === 0) return false;
      const onFront = new Set(front);
      const [x, y] = [axisOf(against), axisOf(metric)];
      const toneOf = (row: number) => (onFront.has(row) ? "tone-1" : "tone-4");
      chart.show((width) => {
        const plot = plotOf(x, y, width);
        const line = pointsOf(front, [x, y], plot, () => "").map(
          (point) => `${point.x.toFixed(1)},${point.y.toFixed(1)}`,
        );
        const points = pointsOf(shown, [x, y], plot, toneOf);
        return {
          ...plot,
          marks: [...plot.frame, svg("path", { d: `M${line.join("L")}`, class: "best-line" })],
          points: points.toSorted((a, b) => a.x - b.x),
        };
      });
      return true;
    },
  );
}

// When jobs ran, and how long.

function createDurations(): Part {
  const chart = jobChart("Durations over time");
  return part(
    "Durations and failures",
    "When each job started, and how long it took. Crosses are jobs that did not complete, bars those that were pruned.",
    [chart.element],
    () => {
      const rows = shown.filter((row) => data.started[row] != null && data.seconds[row] != null);
      if (rows.length === 0) return false;
      const [first, last] = extentOf(rows.flatMap((row) => data.started[row] ?? []));
      const [unit, length] =
        last - first > 3 * 3_600_000
          ? ["hours", 3_600_000]
          : last - first > 180_000
            ? ["minutes", 60_000]
            : ["seconds", 1000];
      const since = data.started.map((time) =>
        time === null ? null : (time - first) / Number(length),
      );
      const x = numberAxis(`${unit} since the first job`, since, { rows, scale: "linear" });
      const y = numberAxis("seconds", data.seconds, {
        rows,
        textOf: (value) => `${formatNumber(value)} s`,
      });
      const toneOf = (row: number) =>
        ["completed", "running", LEFT_OUT].includes(data.status[row] ?? "")
          ? "tone-2"
          : endTone(row);
      chart.show((width) => {
        const plot = plotOf(x, y, width, width < NARROW ? 220 : 260);
        const points = pointsOf(rows, [x, y], plot, toneOf);
        return { ...plot, marks: plot.frame, points: points.toSorted((a, b) => a.x - b.x) };
      });
      return true;
    },
  );
}

// The whole page.

const chooser = createMetricChooser("Objective", {
  get: () => metric,
  set(next) {
    metric = next;
    redraw();
    explain();
  },
});
const summary = document.getElementById("summary");
const answer = document.getElementById("best");
const state = h("span", { class: "count", role: "status" });
document.getElementById("controls")?.append(state, chooser.element, themeButton());

const jobs = createJobs({
  data: () => data,
  metric: () => metric,
  direction: () => directionOf(metric.title),
  chosen: () => chosen,
  choose,
  onFilter(rows) {
    shown = rows;
    redraw({ areJobsSame: true });
    explain();
  },
});
const parts = [
  createHistory(),
  jobs.part,
  createImportance(),
  createStrands(),
  createSlices(),
  createContour(),
  createCurves(),
  createFront(),
  createDurations(),
];
document.getElementById("sweep")?.append(...parts.map(({ element }) => element), jobs.details);

function redraw({ areJobsSame = false }: { readonly areJobsSame?: boolean } = {}): void {
  for (const part of parts) if (!areJobsSame || part !== jobs.part) part.draw();
  jobs.drawDetails();
  chooser.draw();
  if (summary !== null) summary.textContent = countsOf();
  if (answer !== null) answer.textContent = bestText();
}

function countsOf(): string {
  const counts = new Map<string, number>();
  for (const status of data.status) counts.set(status, (counts.get(status) ?? 0) + 1);
  const others = [...counts].filter(([status]) => status !== "completed");
  return [
    ...(data.sweeps.length > 1 ? [plural(data.sweeps.length, "sweep")] : []),
    `${counts.get("completed") ?? 0} of ${plural(data.number.length, "job")} completed`,
    ...others.map(([status, count]) => `${count} ${status}`),
  ]
    .join(", ")
    .concat(data.constants.length === 0 ? "" : `; the same in all: ${data.constants.join(", ")}`);
}

function bestText(): string {
  const rows = [...data.number.keys()];
  const bests = data.sweeps.flatMap((_, sweep) => {
    const best = bestRow(
      rows.filter((row) => sweepOf(row) === sweep),
      metric,
      directionOf(metric.title),
    );
    return best === null ? [] : [best];
  });
  return bests.length === 0
    ? `No job has a number in ${metric.title}.`
    : `Best: ${bests.map(describe).join("; ")}`;
}

/** The forest takes longer than a chart: the page is shown before. */
let explaining: ReturnType<typeof setTimeout> | undefined;
function explain(): void {
  clearTimeout(explaining);
  explaining = setTimeout(() => {
    const isShown = new Set(shown);
    const target = metric.numbers.map((value, row) => (isShown.has(row) ? value : null));
    importance = importanceOf(
      data.parameters.map(({ numbers, words }) =>
        numbers === undefined
          ? { isCategory: true, values: Array.isArray(words) ? words : [] }
          : { isCategory: false, values: numbers },
      ),
      target,
    );
    redraw({ areJobsSame: true });
  });
}

redraw();
explain();

// While the sweep runs, the page asks for what is new.

const AGAIN_MS = 2000;

async function refresh(): Promise<void> {
  try {
    const answer = await fetch("data.json", { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const next = (await answer.json()) as SweepPageData;
    const isGrown = JSON.stringify(next.status) !== JSON.stringify(data.status);
    const name = chosen === null ? null : jobName(data, chosen);
    data = next;
    metric = metricsOf(data).find(({ title }) => title === metric.title) ?? mainMetric(data);
    if (metric.title === "seconds") metric = mainMetric(data);
    if (name !== null)
      chosen = [...data.number.keys()].find((row) => jobName(data, row) === name) ?? null;
    shown = jobs.update();
    redraw({ areJobsSame: true });
    if (isGrown) explain();
    state.textContent = data.isLive ? "live" : "the sweep is over";
    if (data.isLive) setTimeout(refresh, AGAIN_MS);
  } catch {
    state.textContent = "no longer live: the command that shows it has ended";
  }
}
if (data.isLive) {
  state.textContent = "live";
  setTimeout(refresh, AGAIN_MS);
}
