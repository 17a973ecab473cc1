/** Entry point of the sweep page's script. */
import type { SweepJob, SweepRegion, SweepReport } from "../sweep/document.ts";
import { formatMs, NOT_MEASURED } from "../view/numbers.ts";
import { createResponsiveChart } from "./chart.ts";
import { themeButton } from "./controls.ts";
import { h, nameElement, on, section } from "./dom.ts";
import { legend, scalingChart } from "./scaling-chart.ts";
import { createTable } from "./table.ts";

const report = JSON.parse(document.getElementById("data")?.textContent ?? "{}") as SweepReport;

document.getElementById("controls")?.append(themeButton());
const chart = createChart();
document
  .getElementById("sweep")
  ?.append(
    ...(chart === null ? [] : [chart.element]),
    section("Regions", regionTable()),
    section("Jobs", jobTable()),
  );

function regionTable(): HTMLElement {
  const { jobs, parameters, regions } = report;
  const headingOf = ({ name, values }: SweepJob) =>
    parameters.length === 1 ? `${parameters[0]?.key}=${values[0] ?? NOT_MEASURED}` : `job ${name}`;
  const table = createTable<SweepRegion>({
    label: "Regions by job",
    columns: [
      { heading: "Region", key: nameOf, cell: (region) => regionButton(region) },
      ...jobs.map((job, at) => ({
        heading: headingOf(job),
        hint: parameters
          .map(({ key }, place) => `${key}=${job.values[place] ?? NOT_MEASURED}`)
          .join(", "),
        align: "right" as const,
        key: ({ times_ms }: SweepRegion) => times_ms[at] ?? null,
        cell: ({ times_ms }: SweepRegion) => formatMs(times_ms[at] ?? null),
      })),
    ],
    text: nameOf,
    pageSize: 200,
  });
  table.setRows(regions);
  return table.element;
}

function regionButton(region: SweepRegion): Node {
  if (chart === null) return nameElement("code", nameOf(region));
  return on(nameElement("button", nameOf(region)), "click", () => chart.show(region));
}

function jobTable(): HTMLElement {
  const { jobs, parameters, best } = report;
  const table = createTable<SweepJob>({
    label: "Jobs",
    columns: [
      { heading: "Job", key: ({ name }) => name, cell: ({ name }) => nameElement("code", name) },
      ...parameters.map(({ key, numeric }, at) => ({
        heading: key,
        key: ({ values }: SweepJob) => {
          const value = values[at] ?? null;
          return numeric && value !== null ? Number(value) : value;
        },
        cell: ({ values }: SweepJob) => values[at] ?? NOT_MEASURED,
      })),
      {
        heading: "ms",
        align: "right",
        key: ({ total_ms }) => total_ms,
        cell: ({ total_ms }) => formatMs(total_ms),
      },
      {
        heading: "Remarks",
        key: ({ problem }) => problem,
        cell: ({ name, problem }) => problem ?? (name === best ? "best" : ""),
      },
    ],
    text: ({ name, values }) => [name, ...values].join(" "),
    pageSize: 200,
  });
  table.setRows(jobs);
  return table.element;
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
    show(chosen: SweepRegion) {
      region = chosen;
      draw();
    },
  };
}

function nameOf({ path }: SweepRegion): string {
  return path.join(" / ");
}
