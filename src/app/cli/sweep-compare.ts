/** `hydraconf sweep compare`: sweeps beside each other, as a table, as data and as a page. */
import { dirname, resolve } from "node:path";
import { floatRepr } from "../../engine/values/python-text.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { makeDirectory, readablePath } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { drawTable } from "../../foundation/text/text-table.ts";
import { readPageAssets } from "../../pages/html.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { sweepFolder } from "../record/layout.ts";
import { readManifest } from "../record/manifest.ts";
import { type JudgementReplacement, readJudgement } from "../sweep/best.ts";
import { type ComparedSweep, compareSweeps } from "../sweep/compare-sweeps.ts";
import { sweepPageData } from "../sweep/page/build-page-data.ts";
import { renderSweepPage } from "../sweep/page/render-sweep-page.ts";
import { readSweepStatus, type StatusRequest } from "../sweep/status.ts";
import { pageSweep } from "../sweep/sweep-page.ts";

/** The output of `hydraconf sweep compare --json`. */
export interface ComparisonView {
  readonly version: 1;
  /** The keys of the numbers; null for what the jobs returned itself. */
  readonly objective: string | readonly string[] | null;
  readonly directions: readonly string[];
  /** In the order of the command line. */
  readonly sweeps: readonly ComparedSweep[];
}

/** @throws ConfigError `app.sweep_record`, `app.objective` and `app.usage` */
export async function showComparison(
  requests: readonly StatusRequest[],
  {
    json,
    page,
    ...replacement
  }: JudgementReplacement & { readonly json: boolean; readonly page: string | undefined },
  { console, cwd }: Invocation,
): Promise<number> {
  const sweeps = [];
  for (const request of requests) {
    const { directory } = request;
    const { rows } = await readSweepStatus(request);
    sweeps.push({ directory, rows, manifest: readManifest(sweepFolder(directory)) });
  }
  const [first] = sweeps;
  const env = requests[0]?.env ?? {};
  if (first === undefined) return 1;
  const judgement = readJudgement(first.directory, first.manifest, env, replacement);
  const compared = compareSweeps(sweeps, judgement);
  const { directions, objective } = judgement;
  const view: ComparisonView = {
    version: 1,
    objective: objective ?? null,
    directions,
    sweeps: compared,
  };
  const shown = (directory: string) => readablePath(directory, cwd);
  console.stdout(
    json ? `${JSON.stringify(view, null, 2)}\n` : comparisonText(view, shown, console),
  );
  if (page === undefined) return 0;
  const file = resolve(cwd, page);
  const shownOnPage = sweeps.map(({ directory, rows }) => ({
    ...pageSweep(directory, rows, judgement, dirname(file)),
    name: shown(directory),
  }));
  makeDirectory(dirname(file));
  const title = `${plural(sweeps.length, "sweep")}`;
  writeFileAtomicSync(
    file,
    renderSweepPage(title, sweepPageData(shownOnPage), readPageAssets("sweep")),
  );
  console.stderr(`The page: ${readablePath(file, cwd)}\n`);
  return 0;
}

function comparisonText(
  { directions, objective, sweeps }: ComparisonView,
  shown: (directory: string) => string,
  { stdoutWidth }: Pick<Invocation["console"], "stdoutWidth">,
): string {
  const names = directions.map((direction, index) =>
    [direction, typeof objective === "string" ? objective : objective?.[index]]
      .filter((word) => word !== undefined)
      .join(" "),
  );
  const head = ["Sweep", "Jobs", "Completed", "Seconds", `Best (${names.join(", ")})`, "Job"];
  const rows = sweeps.flatMap(({ best, completed, directory, jobs, seconds }) =>
    (best.length === 0 ? [undefined] : best).map((judged, index) => [
      ...(index === 0
        ? [printable(shown(directory)), String(jobs), String(completed), seconds.toFixed(1)]
        : ["", "", "", ""]),
      judged === undefined ? "" : judged.values.map(floatRepr).join(", "),
      judged === undefined ? "" : jobsText(judged),
    ]),
  );
  const lines = sweeps.slice(1).map((sweep) => `${commonText(sweep, shown)}\n`);
  return `${drawTable([head, ...rows], { width: stdoutWidth })}${lines.join("")}`;
}

const jobsText = ({ jobs, overrides }: ComparedSweep["best"][number]): string =>
  printable(`${jobs.map((number) => `#${number}`).join(" ")} ${overrides.join(" ")}`.trimEnd());

function commonText(
  { common, directory, hint, problem }: ComparedSweep,
  shown: (path: string) => string,
): string {
  const name = printable(shown(directory));
  if (problem !== null)
    return `${name}: not compared: ${printable(problem)}${hint === null ? "" : `\n  Hint: ${printable(hint)}`}`;
  if (common === null) return `${name}: no job has the same overrides as one of the first sweep`;
  const { count, differences, intervals } = common;
  const short = (value: number) => String(Number(value.toPrecision(6)));
  const signed = (value: number) => `${value > 0 ? "+" : ""}${short(value)}`;
  const means = differences.map((difference, index) => {
    const [low, high] = intervals?.[index] ?? [];
    const isKnown = low !== undefined && high !== undefined;
    return `${signed(difference)}${isKnown ? ` (95 %: ${signed(low)} to ${signed(high)})` : ""}`;
  });
  return `${name}: ${plural(count, "job has", "jobs have")} the same overrides as in the first sweep; mean difference ${means.join(", ")}`;
}
