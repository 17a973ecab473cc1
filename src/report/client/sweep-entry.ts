/** Entry point of the sweep page's script. */

import { capitalized } from "../../foundation/text/plural.ts";
import { createResponsiveChart } from "../../pages/client/chart.ts";
import { h, on, section } from "../../pages/client/dom.ts";
import { createTable } from "../../pages/client/table.ts";
import { themeButton } from "../../pages/client/theme.ts";
import { NOT_MEASURED } from "../../pages/numbers.ts";
import type { SweepJob, SweepRegion, SweepReport } from "../sweep/sweep-types.ts";
import {
  callsTable,
  jobTable,
  jobTitle,
  mostCalled,
  rankedJobs,
  regionMatrix,
  throughputTitle,
} from "../sweep/tables.ts";
import { callsChart, jobsChart, legend, scalingChart } from "./scaling-chart.ts";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as SweepReport;

document.getElementById("controls")?.append(themeButton());
const views = [createScaling(), createCalls()].filter((view) => view !== null);
document.getElementById("sweep")?.append(
  ...createJobsChart(),
  ...views.map(({ element }) => element),
  section("Regions", drawRegions()),
  section(
    "Jobs",
    createTable(jobTable(report, { lastTitle: "Remarks" }), {
      label: "Jobs",
      order:
        report.work === undefined
          ? { title: "ms", descending: false }
          : { title: throughputTitle(report.work), descending: true },
    }).element,
  ),
);

/** Empty with fewer than two results. */
function createJobsChart(): readonly HTMLElement[] {
  if (rankedJobs(report).length < 2) return [];
  const chart = createResponsiveChart();
  chart.show((width) => jobsChart(report, width));
  const title =
    report.work === undefined ? "Time by job" : `${capitalized(report.work.unit)} per second`;
  return [section(title, chart.element)];
}

/** A part of the page that shows the region chosen in the table. */
interface RegionView {
  readonly element: HTMLElement;
  readonly show: (region: SweepRegion) => void;
}

function drawRegions(): HTMLElement {
  const { parameters, regions } = report;
  const titleOf = (job: SweepJob) =>
    parameters.length === 1
      ? `${parameters[0]?.key}=${job.values[0] ?? NOT_MEASURED}`
      : jobTitle(job, parameters);
  const onChoose = (place: number) => {
    const region = regions[place];
    if (region !== undefined) for (const { show } of views) show(region);
  };
  return createTable(regionMatrix(report, regions.map(nameOf), titleOf), {
    label: "Regions by job",
    ...(views.length > 0 && { onChoose }),
  }).element;
}

/** Null if no parameter is numeric. */
function createScaling(): RegionView | null {
  const numeric = report.parameters.flatMap(({ numeric: is, key }, index) =>
    is ? [{ key, index }] : [],
  );
  const [first] = numeric;
  if (first === undefined) return null;
  let region: SweepRegion | null = null;
  let parameter = first.index;
  const title = h("p", { class: "hint", role: "status" });
  const chart = createResponsiveChart();
  const curves = h("div");
  const draw = () => {
    title.textContent = `${region === null ? "Whole jobs" : nameOf(region)}; choose a region in the table below.`;
    const shown = [report, parameter, region] as const;
    chart.show((width) => scalingChart(...shown, width));
    curves.replaceChildren(legend(...shown));
  };
  const chooser = on(
    h("select", {}, ...numeric.map(({ key, index }) => h("option", { value: index }, key))),
    "change",
    () => {
      parameter = Number(chooser.value);
      draw();
    },
  );
  const whole = on(h("button", { type: "button" }, "Whole jobs"), "click", () => {
    region = null;
    draw();
  });
  draw();
  return {
    element: section(
      "Scaling",
      h("label", { class: "chooser" }, "Parameter ", chooser),
      whole,
      title,
      chart.element,
      curves,
    ),
    show(chosen) {
      region = chosen;
      draw();
    },
  };
}

/** Initially shows the region with the most time; null if no region was called twice in a job. */
function createCalls(): RegionView | null {
  const first = mostCalled(report.regions);
  if (first === null) return null;
  const title = h("p", { class: "hint", role: "status" });
  const chart = createResponsiveChart();
  const numbers = h("div");
  const show = (region: SweepRegion) => {
    const [table] = callsTable(report, region);
    chart.element.hidden = table === undefined;
    numbers.replaceChildren();
    if (table === undefined) {
      title.textContent = `${nameOf(region)} was called at most once in each job.`;
      return;
    }
    title.textContent = `${nameOf(region)}: the line is from the shortest call to the longest, the bar from the median to the 95th percentile. Choose a region in the table below.`;
    chart.show((width) => callsChart(report, region, width));
    numbers.append(createTable(table, { label: "Calls by job" }).element);
  };
  show(first);
  return { element: section("Calls", title, chart.element, numbers), show };
}

function nameOf({ path }: SweepRegion): string {
  return path.join(" / ");
}
