/** What became of a pass: an exit code alone does not say that anything was measured. */
import { basename } from "node:path";
import { firstFew, plural } from "../../../../foundation/text/plural.ts";
import { describeOutcome, succeeded } from "../../../machine/process.ts";
import { ToolError } from "../../../machine/tool-error.ts";
import type { NcuPassSource } from "../../run-types.ts";
import type { RecognisedFailure } from "./failures.ts";
import type { PassTables } from "./read-pass.ts";
import type { PassRun } from "./run-pass.ts";

/** The evaluation of a pass: an exit code of 0 alone does not mean that anything was measured. */
export interface Verdict {
  readonly problem: ToolError | null;
  readonly notes: readonly string[];
  /** Whether another pass of the same program would fail in the same way. */
  readonly hopeless: boolean;
}

/** @param read the results read from the pass's report; null without one */
export function judge(run: PassRun, read: Pick<PassTables, "results" | "unread"> | null): Verdict {
  const { results, unread } = read ?? { results: 0, unread: null };
  const { outcome, failures, pass } = run;
  const [failure] = failures.filter(({ id }) => id !== "no_match");
  const nothing = failures.find(({ id }) => id === "no_match");
  if (outcome.interruptedBy !== null)
    return { problem: null, notes: [keptNote(run, results)], hopeless: true };
  if (run.timedOut && failure !== undefined)
    return {
      problem: new ToolError({
        tool: "ncu",
        code: "profile.ncu",
        message: `ncu (${pass.name}): ${failure.message}`,
        hint: failure.remedy,
      }),
      notes: results > 0 ? [keptNote(run, results)] : [],
      hopeless: false,
    };
  if (succeeded(outcome) && unread !== null)
    return {
      problem: unreadProblem({ name: pass.name, unread }),
      notes: [],
      hopeless: false,
    };
  if (succeeded(outcome) && results > 0)
    // ncu continued after the failure, so it becomes a note about what is missing.
    return { problem: null, notes: failures.map(said), hopeless: false };
  if (succeeded(outcome) && failure === undefined)
    return {
      problem: null,
      notes: [
        nothing === undefined
          ? `ncu wrote no results in ${pass.name}`
          : `${said(nothing)}${kernelsThatRan(run.log)}`,
      ],
      hopeless: false,
    };
  const problem =
    failure === undefined
      ? new ToolError({
          tool: "ncu",
          code: "profile.ncu",
          message: `${describeOutcome(outcome)}: ${lastWords(run)}`,
          hint: "the command line is in ncu/cmd.txt, the output of ncu and the program in ncu/logs",
        })
      : new ToolError({
          tool: "ncu",
          code: "profile.ncu",
          message: `ncu: ${failure.message}`,
          hint: failure.remedy,
        });
  return {
    problem,
    notes: results > 0 ? [keptNote(run, results)] : [],
    hopeless: failure === undefined || failure.hopeless,
  };
}

/** The problem of a pass whose results were not read; null if they were. */
export const unreadProblem = ({
  name,
  unread,
}: Pick<NcuPassSource, "name" | "unread">): ToolError | null =>
  unread === undefined
    ? null
    : new ToolError({
        tool: "ncu",
        code: "profile.ncu",
        message: `ncu (${name}): ${unread}`,
        hint: "the measurement is kept: deep-profile report DIR reads it again",
      });

const said = ({ message, remedy }: RecognisedFailure): string => `${message}; ${remedy}`;

const MAX_KERNELS = 10;

/** The kernels that a filter by name could have matched. */
function kernelsThatRan({ kernels }: PassRun["log"]): string {
  return kernels.length === 0 ? "" : `; kernels that ran: ${firstFew(kernels, MAX_KERNELS, "; ")}`;
}

const keptNote = ({ pass, outcome }: PassRun, results: number): string =>
  `${describeOutcome(outcome)} in ${pass.name}: the report covers the ${plural(results, "result")} until then`;

function lastWords({ log, outcome }: PassRun): string {
  const last = log.errors.at(-1) ?? outcome.stderrTail.split("\n").at(-1) ?? "";
  return last === "" ? `${basename(outcome.argv[0] ?? "ncu")} does not say why` : last;
}
