/**
 * The charts of a sweep: time against a numeric parameter with a line for each setting of the other parameters; calls
 * by job.
 */

import { scaleLinear, scaleLog } from "d3-scale";
import { CHARACTER, NARROW } from "../../pages/client/chart.ts";
import { h, svg } from "../../pages/client/dom.ts";
import { extentOf, hueOfCurve, labelledTicks, markOfCurve } from "../../pages/client/plot.ts";
import { formatMs, formatNumber } from "../../pages/numbers.ts";
import { shortenPath } from "../../pages/shorten-path.ts";
import { curvesOf, scalingWords } from "../sweep/sweep-document.ts";
import type { SweepRegion, SweepReport } from "../sweep/sweep-types.ts";
import { jobTitle, rankedJobs } from "../sweep/tables.ts";

/** Room for a label of a few digits with a margin. */
const TICK_GAP = 44;
const MARGIN = { right: 20, top: 16, bottom: 44 };

/** @param width width in pixels */
export function scalingChart(
  report: SweepReport,
  parameter: number,
  region: SweepRegion | null,
  width: number,
): Node {
  const height = width < NARROW ? 280 : 380;
  const curves = curvesOf(report, parameter, region?.times_ms);
  const all = curves.flatMap(({ points }) => points);
  if (all.length === 0) return h("p", {}, "No job has a time here.");
  const y = scaleLinear(
    [0, extentOf(all.map(({ ms }) => ms))[1] * 1.05 || 1],
    [height - MARGIN.bottom, MARGIN.top],
  );
  const times = y.ticks(5).map((tick) => ({ tick, text: `${formatNumber(tick)} ms` }));
  const left = extentOf(times.map(({ text }) => text.length))[1] * CHARACTER + 14;
  const xs = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  const x = axis(xs, [left + 10, width - MARGIN.right - 10]);
  const key = report.parameters[parameter]?.key ?? "";
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "scaling", role: "group", "aria-label": "Scaling" },
    ...times.flatMap(({ tick, text }) => [
      svg("line", {
        x1: left,
        x2: width - MARGIN.right,
        y1: y(tick),
        y2: y(tick),
        class: "grid",
      }),
      svg("text", { x: left - 8, y: y(tick) + 4, class: "tick end" }, text),
    ]),
    ...labelledTicks(xs, x, TICK_GAP).map((value) =>
      svg(
        "text",
        { x: x(value), y: height - MARGIN.bottom + 16, class: "tick" },
        formatNumber(value),
      ),
    ),
    svg("text", { x: (width + left) / 2, y: height - 6, class: "tick" }, key),
    ...curves.map(({ label, points }, index) => {
      const { dashes, shape } = markOfCurve(index);
      const line = svg(
        "g",
        { class: "curve" },
        svg("polyline", {
          points: points.map((point) => `${x(point.x)},${y(point.ms)}`).join(" "),
          "stroke-dasharray": dashes,
        }),
        ...points.map((point) => {
          const text = `${label === "" ? "" : `${label}, `}${key}=${point.x}: ${formatMs(point.ms)} ms (job ${point.job})`;
          const transform = `translate(${x(point.x)} ${y(point.ms)})`;
          return svg(
            "path",
            { d: shape, transform, role: "img", "aria-label": text },
            svg("title", {}, text),
          );
        }),
      );
      line.style.setProperty("--hue", String(hueOfCurve(index, curves.length)));
      return line;
    }),
  );
}

/** Parameters are usually doubled, so the axis is logarithmic: equal distances are equal factors. */
function axis(values: readonly number[], range: readonly [number, number]) {
  const [lowest = 0, highest = 1] = [values[0], values.at(-1)];
  const domain = lowest === highest ? [lowest - 1, highest + 1] : [lowest, highest];
  return lowest > 0 && highest / lowest >= 4 ? scaleLog(domain, range) : scaleLinear(domain, range);
}

/** Legend: the lines and their slopes. */
export function legend(
  report: SweepReport,
  parameter: number,
  region: SweepRegion | null,
): HTMLElement {
  const curves = curvesOf(report, parameter, region?.times_ms);
  const list = h("ul", { class: "legend" });
  for (const [index, { label, points }] of curves.entries()) {
    const item = h(
      "li",
      { class: "curve" },
      sampleOf(index),
      `${label === "" ? "all jobs" : label}${points.length < 2 ? "" : `: exponent of its growth ${scalingWords(points)}`}`,
    );
    item.style.setProperty("--hue", String(hueOfCurve(index, curves.length)));
    list.append(item);
  }
  return list;
}

/** A segment of the curve with a point. */
function sampleOf(index: number): Node {
  const { dashes, shape } = markOfCurve(index);
  return svg(
    "svg",
    { viewBox: "0 0 44 14", width: 44, height: 14, "aria-hidden": "true" },
    svg("polyline", { points: "0,7 44,7", "stroke-dasharray": dashes }),
    svg("path", { d: shape, transform: "translate(22 7)" }),
  );
}

const ROW = 22;
/** Maximum number of rows; the table below has all jobs. */
const MOST_ROWS = 60;

/**
 * Throughput of each job, or its time where the work is unknown, the best first.
 *
 * @param width width in pixels
 */
export function jobsChart(report: SweepReport, width: number): Node {
  const unit = report.work === undefined ? "ms" : `${report.work.unit}/s`;
  const textOf = report.work === undefined ? formatMs : formatNumber;
  const rows = rankedJobs(report)
    .slice(0, MOST_ROWS)
    .map(({ job, value }) => ({
      value,
      isBest: job.name === report.best,
      job: jobTitle(job, report.parameters),
      text: `${textOf(value)} ${unit}${job.name === report.best ? ", best" : ""}`,
    }));
  const room = Math.min(Math.floor(width / 3 / CHARACTER), 40);
  const labels = rows.map(({ job }) => shortenPath({ label: job, path: job }, room));
  const left = extentOf(labels.map(({ length }) => length))[1] * CHARACTER + 14;
  const beside = extentOf(rows.map(({ text }) => text.length))[1] * CHARACTER + 8;
  const x = scaleLinear(
    [0, extentOf(rows.map(({ value }) => value))[1] || 1],
    [left, Math.max(left + 20, width - beside)],
  );
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${rows.length * ROW}`,
      class: "bars",
      role: "group",
      "aria-label": `Jobs, ${unit}`,
    },
    ...rows.map(({ job, value, text, isBest }, index) => {
      const y = index * ROW + ROW / 2;
      return svg(
        "g",
        { class: isBest ? "best" : null, role: "img", "aria-label": `${job}: ${text}` },
        svg("text", { x: left - 8, y: y + 4, class: "tick end" }, labels[index] ?? ""),
        svg("rect", { x: left, y: y - 7, width: Math.max(1, x(value) - left), height: 14 }),
        svg("text", { x: Math.max(x(value), left + 1) + 6, y: y + 4 }, text),
        svg("title", {}, `${job}: ${text}`),
      );
    }),
  );
}

/**
 * The durations of the calls of a region, one row per job: a line from the minimum to the maximum, a bar from the
 * median to the 95th percentile, a mark at the median.
 *
 * @param width width in pixels
 */
export function callsChart(
  { jobs, parameters }: Pick<SweepReport, "jobs" | "parameters">,
  { calls_ms = [] }: SweepRegion,
  width: number,
): Node {
  const rows = jobs
    .flatMap((job, index) => {
      const calls = calls_ms[index] ?? null;
      return calls === null ? [] : [{ ...calls, job: jobTitle(job, parameters) }];
    })
    .slice(0, MOST_ROWS);
  const room = Math.min(Math.floor(width / 3 / CHARACTER), 40);
  const labels = rows.map(({ job }) => shortenPath({ label: job, path: job }, room));
  const left = extentOf(labels.map(({ length }) => length))[1] * CHARACTER + 14;
  const height = rows.length * ROW + MARGIN.top + MARGIN.bottom;
  const x = scaleLinear(
    [0, extentOf(rows.map(({ max }) => max))[1] || 1],
    [left, width - MARGIN.right - 10],
  );
  const ticks = x.ticks(width < NARROW ? 3 : 6);
  const bottom = height - MARGIN.bottom;
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, class: "calls", role: "group", "aria-label": "Calls" },
    ...ticks.flatMap((tick) => [
      svg("line", { x1: x(tick), x2: x(tick), y1: MARGIN.top, y2: bottom, class: "grid" }),
      svg("text", { x: x(tick), y: bottom + 16, class: "tick" }, `${formatNumber(tick)} ms`),
    ]),
    ...rows.flatMap(({ job, calls, min, median, p95, max }, index) => {
      const y = MARGIN.top + index * ROW + ROW / 2;
      const text = `${job}: ${calls} calls, ${formatMs(min)} to ${formatMs(max)} ms, median ${formatMs(median)} ms, p95 ${formatMs(p95)} ms`;
      return [
        svg("text", { x: left - 8, y: y + 4, class: "tick end" }, labels[index] ?? ""),
        svg(
          "g",
          { class: "spread", role: "img", "aria-label": text },
          svg("line", { x1: x(min), x2: Math.max(x(max), x(min) + 1), y1: y, y2: y }),
          svg("rect", {
            x: x(median),
            y: y - 5,
            width: Math.max(x(p95) - x(median), 1),
            height: 10,
          }),
          svg("line", { x1: x(median), x2: x(median), y1: y - 8, y2: y + 8, class: "median" }),
          svg("title", {}, text),
        ),
      ];
    }),
  );
}
