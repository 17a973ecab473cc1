/** The page of a sweep: a file beside its tables, or the data of a page that is live. */
import { readdirSync } from "node:fs";
import { basename, isAbsolute, join, relative, sep } from "node:path";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import { findPageAssets } from "../../pages/html.ts";
import type { SweepRow } from "../job/options.ts";
import { jobLog, jobsFolder, sweepFolder } from "../record/layout.ts";
import { readFacts } from "../record/manifest.ts";
import { shareFile } from "../record/rights.ts";
import { judgementOfPage, leavesPage, type PageJudgement } from "./best.ts";
import { reportedCurves, writtenCurves } from "./learning-curves.ts";
import { type PageSweep, sweepPageData } from "./page/build-page-data.ts";
import { renderSweepPage } from "./page/render-sweep-page.ts";
import type { PageObjective } from "./page/sweep-page-data.ts";

/** The name of the page. */
const SWEEP_PAGE = "sweep.html";

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Writes the page of a sweep beside its tables, unless `hydra.sweep.page` is false.
 *
 * @param into the directory of the tables: that of the sweep, or its record
 * @returns the name of the file; nothing if there is no page
 */
export function writeSweepPage(
  into: string,
  directory: string,
  rows: readonly SweepRow[],
  env: Environment,
): readonly string[] {
  const folder = sweepFolder(directory);
  const facts = readFacts(folder);
  if (!leavesPage(directory, facts, env)) return [];
  const assets = findPageAssets("sweep");
  // A program's own bundle has no files of our package.
  if (assets === undefined) return [];
  const judgement = judgementOfPage(directory, facts, env);
  const data = sweepPageData([pageSweep(directory, rows, judgement, into)]);
  const file = join(into, SWEEP_PAGE);
  writeFileAtomicSync(file, renderSweepPage(pageTitle(directory), data, assets));
  shareFile(folder, file);
  return [SWEEP_PAGE];
}

export const pageTitle = (directory: string): string => `Sweep ${basename(directory)}`;

/**
 * A sweep for a page.
 *
 * @param from the directory of the page, from which files are linked; undefined if it can link none
 */
export function pageSweep(
  directory: string,
  rows: readonly SweepRow[],
  judgedBy: PageJudgement,
  from?: string,
): PageSweep {
  const folder = sweepFolder(directory);
  const name = basename(directory);
  const judgement = objectivesOf(judgedBy);
  const reported = reportedCurves(rows);
  if (from === undefined) return { name, rows, judgement, curvesOf: reported };
  const written = once(() => writtenCurves(directory));
  const curvesOf = (row: SweepRow) => written()(row) ?? reported(row);
  const logs = new Set(namesIn(jobsFolder(folder)));
  const linkTo = (path: string): string => relative(from, path).split(sep).join("/");
  return {
    name,
    rows,
    judgement,
    curvesOf,
    linksOf: ({ number, output_dir, result }) => {
      const log = jobLog(folder, number);
      const report = reportIn(result);
      return {
        files: linkTo(output_dir),
        log: logs.has(basename(log)) ? linkTo(log) : "",
        report:
          report === undefined
            ? ""
            : linkTo(isAbsolute(report) ? report : join(output_dir, report)),
      };
    },
  };
}

/** The columns of the page that jobs are judged by. */
const objectivesOf = ({ directions, objective }: PageJudgement): readonly PageObjective[] =>
  directions.map((direction, index) => {
    const key = typeof objective === "object" ? objective[index] : (objective ?? "result");
    const isList = directions.length > 1 && typeof objective !== "object";
    return { column: `${key}${isList ? `[${index}]` : ""}`, direction };
  });

/** Of a job of `deep-profile`, and of any other that returns the path of its report. */
function reportIn(result: unknown): string | undefined {
  if (typeof result !== "object" || result === null || !("report" in result)) return undefined;
  const { report } = result;
  return typeof report === "string" && /\.(?:html|md)$/.test(report) ? report : undefined;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
