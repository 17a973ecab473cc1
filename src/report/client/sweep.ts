/** Entry point of the sweep page's script. */
import type { SweepJob, SweepRegion, SweepReport } from "../sweep/document.ts";
import { jobTable, jobTitle, regionMatrix } from "../sweep/tables.ts";
import { NOT_MEASURED } from "../view/numbers.ts";
import { createResponsiveChart } from "./chart.ts";
import { themeButton } from "./controls.ts";
import { h, on, section } from "./dom.ts";
import { legend, scalingChart } from "./scaling-chart.ts";
import { createTable } from "./table.ts";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as SweepReport;

document.getElementById("controls")?.append(themeButton());
const chart = createChart();
document
  .getElementById("sweep")
  ?.append(
    ...(chart === null ? [] : [chart.element]),
    section("Regions", drawRegions()),
    section(
      "Jobs",
      createTable(jobTable(report, { lastTitle: "Remarks" }), { label: "Jobs" }).element,
    ),
  );

function drawRegions(): HTMLElement {
  const { parameters, regions } = report;
  const titleOf = (job: SweepJob) =>
    parameters.length === 1
      ? `${parameters[0]?.key}=${job.values[0] ?? NOT_MEASURED}`
      : jobTitle(job, parameters);
  return createTable(regionMatrix(report, regions.map(nameOf), titleOf), {
    label: "Regions by job",
    ...(chart !== null && { onChoose: chart.show }),
  }).element;
}

/** Null where no parameter is a number. */
function createChart() {
  const numeric = report.parameters.flatMap(({ numeric: is, key }, at) =>
    is ? [{ key, at }] : [],
  );
  const [first] = numeric;
  if (first === undefined) return null;
  let region: SweepRegion | null = null;
  let parameter = first.at;
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
    h("select", {}, ...numeric.map(({ key, at }) => h("option", { value: at }, key))),
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
    show(place: number) {
      region = report.regions[place] ?? null;
      draw();
    },
  };
}

function nameOf({ path }: SweepRegion): string {
  return path.join(" / ");
}
