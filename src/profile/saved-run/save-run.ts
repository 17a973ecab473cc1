import { join, relative, sep } from "node:path";
import { dateTime } from "../../report/date-time.ts";
import type { ConfigLine } from "../../report/html/report-page.ts";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import type { ConfigError } from "../../values/errors.ts";
import type { ProcessOutcome } from "../machine/process.ts";
import { RUN_FILE } from "../run/result-files.ts";
import type { CollectedRun } from "../run/run.ts";
import { RUN_CONTRACT, type SavedProblem, type SavedRun } from "./document.ts";

/** The configuration as it may be stored: secrets masked. */
export interface ShownConfig {
  /** Plain data, resolved. */
  readonly config: unknown;
  readonly lines: readonly ConfigLine[];
}

/** Writes `run.json`. */
export const saveRun = (
  run: CollectedRun,
  shown: ShownConfig,
  runDirectory: string,
): Promise<void> =>
  writeFileAtomic(
    join(runDirectory, RUN_FILE),
    `${JSON.stringify(savedRun(run, shown, runDirectory), plainNumbers, 2)}\n`,
  );

function savedRun(run: CollectedRun, shown: ShownConfig, runDirectory: string): SavedRun {
  const { env: _env, ...workload } = run.workload;
  return {
    contract: RUN_CONTRACT,
    config_fingerprint: run.fingerprint,
    // Its type is that of the config it shows.
    config: shown.config as SavedRun["config"],
    config_lines: shown.lines,
    workload,
    environment: run.environment,
    ...(run.period && {
      started: dateTime(run.period.started),
      ended: dateTime(run.period.ended),
    }),
    inputs: run.inputs,
    collectors: run.collections.map(
      ({ collector, toolVersion, source, outcome, notes, problem }) => ({
        collector,
        tool_version: toolVersion ?? null,
        source,
        outcome: inDirectory(outcome, runDirectory),
        notes,
        problem: problem === undefined ? null : savedProblem(problem),
      }),
    ),
    missing: run.missing.map(({ collector, error }) => ({
      collector,
      problem: savedProblem(error),
    })),
  };
}

const savedProblem = ({ details }: ConfigError): SavedProblem => {
  const { origin: _origin, cause: _cause, ...problem } = details;
  return problem;
};

/** A run directory may be moved. */
function inDirectory(outcome: ProcessOutcome, runDirectory: string): ProcessOutcome {
  const inside = (file: string) => relative(runDirectory, file).replaceAll(sep, "/");
  return {
    ...outcome,
    stdoutFile: inside(outcome.stdoutFile),
    stderrFile: inside(outcome.stderrFile),
  };
}

/** JSON has no integers beyond 2^53 and no infinities: they stay readable as text. */
const plainNumbers = (_: string, value: unknown): unknown =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))
    ? String(value)
    : value;
