import { readablePath } from "../../../system/files.ts";
import { plural } from "../../../text/plural.ts";
import { printable } from "../../../text/printable.ts";
import { columnWidths, fitText, padText } from "../../../text/text-width.ts";
import { isUndone, type JobResult, wasStopped } from "../../job/job.ts";
import { hasFailed } from "../failure-policy.ts";
import { errorLine } from "./tally.ts";

/** More are for `hydraconf sweep status`. */
const MOST_ROWS = 50;
const MOST_ERROR = 200;
const NARROWEST_ERROR = 24;
const GAP = "  ";

/**
 * The jobs of a sweep that failed, or that their scheduler ended: number, overrides, the first line of the error, and where
 * the job logged. Empty where there are none.
 *
 * @param columns of the terminal; undefined for any width
 * @param redact takes secrets out: of one that is cut, nobody would know the part that is left
 */
export function failureTable(
  results: readonly JobResult[],
  {
    columns,
    cwd,
    redact = (text) => text,
  }: {
    readonly columns?: number;
    readonly cwd: string;
    readonly redact?: (text: string) => string;
  },
): string {
  const failed = results.filter((result) => hasFailed(result) && !wasStopped(result));
  if (failed.length === 0) return "";
  const rows = failed
    .slice(0, MOST_ROWS)
    .map((result) => [
      `#${result.number}`,
      printable(redact(shown(result.overrides))),
      fitText(errorLine(result, redact), MOST_ERROR),
      printable(readablePath(result.log ?? result.outputDir, cwd)),
    ]);
  const head = ["Job", "Overrides", "Error", "Log"];
  const widths = columnWidths([head, ...rows]);
  const [first = 0, second = 0, third = 0, last = 0] = widths;
  const others = first + second + last + 3 * GAP.length;
  const room = Math.max(NARROWEST_ERROR, (columns ?? Number.POSITIVE_INFINITY) - others);
  const fitted = [first, second, Math.min(third, room)];
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => {
        const width = fitted[column];
        return width === undefined ? cell : padText(fitText(cell, width), width, "left");
      })
      .join(GAP);
  const left = failed.length - rows.length;
  return [
    `${counted(failed, results.length)}:`,
    line(head),
    ...rows.map(line),
    ...(left > 0 ? [`and ${left} more`] : []),
    "",
  ].join("\n");
}

/** `2 of 4 jobs failed, 1 stopped`, `1 of 4 jobs stopped` */
function counted(told: readonly JobResult[], all: number): string {
  const stopped = told.filter(isUndone).length;
  const failed = told.length - stopped;
  const first = failed > 0 ? `${failed} of ${plural(all, "job")} failed` : undefined;
  if (stopped === 0) return first ?? "";
  return first === undefined
    ? `${stopped} of ${plural(all, "job")} stopped`
    : `${first}, ${stopped} stopped`;
}

const shown = (overrides: readonly string[]): string =>
  overrides.filter((override) => !override.startsWith("hydra.")).join(" ");
