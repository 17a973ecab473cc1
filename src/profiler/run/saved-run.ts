/**
 * `run.json`: what a run knows beside its raw files, so that its reports can be made again from both (`deep-profile
 * report`), under the contract of `schemas/run.schema.json`.
 */

import { join, relative, sep } from "node:path";
import type { CodedError } from "../../engine/values/errors.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { dateTime } from "../../foundation/text/date-time.ts";
import type { ConfigLine } from "../../report/render/report-page.ts";
import type { MachineEnvironment } from "../machine/machine-environment.ts";
import type { ProcessOutcome, Workload } from "../machine/process.ts";
import { RUN_FILE } from "../tools/collection.ts";
import type { ProfileConfig } from "../tools/profiler-config.ts";
import type {
  RunDocument,
  SavedProblem,
  SavedCollection as StoredCollection,
} from "../tools/run-types.ts";
import type { TimedRun } from "./run.ts";

/** Version of the contract, `major.minor`; a minor version only adds. */
export const RUN_CONTRACT = "hydraconf.run/1.5";

/** The contract with what its schema leaves open: the config and the machine have contracts of their own. */
export interface SavedRun extends RunDocument {
  readonly config: ProfileConfig;
  readonly workload: Omit<Workload, "env" | "peaksArgv">;
  readonly environment: MachineEnvironment;
  readonly collectors: readonly SavedCollection[];
}

export interface SavedCollection extends StoredCollection {
  /** Its files are relative to the run directory, with `/`. */
  readonly outcome: ProcessOutcome;
}

/** The configuration in the form in which it may be stored: with secrets masked. */
export interface ShownConfig {
  /** Resolved plain data. */
  readonly config: unknown;
  readonly lines: readonly ConfigLine[];
}

/** Writes `run.json`. */
export const saveRun = (run: TimedRun, shown: ShownConfig, runDirectory: string): Promise<void> =>
  writeFileAtomic(
    join(runDirectory, RUN_FILE),
    `${JSON.stringify(savedRun(run, shown, runDirectory), plainNumbers, 2)}\n`,
  );

function savedRun(run: TimedRun, shown: ShownConfig, runDirectory: string): SavedRun {
  const { env: _env, peaksArgv: _peaksArgv, ...workload } = run.workload;
  return {
    contract: RUN_CONTRACT,
    config_fingerprint: run.fingerprint,
    // Masking does not change the type of the config.
    config: shown.config as SavedRun["config"],
    config_lines: shown.lines,
    workload,
    environment: run.environment,
    started: dateTime(run.period.started),
    ended: dateTime(run.period.ended),
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

const savedProblem = ({ details }: CodedError): SavedProblem => {
  const { origin: _origin, cause: _cause, key, available, nearest, hint, ...problem } = details;
  return {
    ...problem,
    ...(key !== undefined && { key }),
    ...(available !== undefined && { available }),
    ...(nearest !== undefined && { nearest }),
    ...(hint !== undefined && { hint }),
  };
};

/** Relative paths, because a run directory may be moved. */
function inDirectory(outcome: ProcessOutcome, runDirectory: string): ProcessOutcome {
  const inside = (file: string) => relative(runDirectory, file).replaceAll(sep, "/");
  return {
    ...outcome,
    stdoutFile: inside(outcome.stdoutFile),
    stderrFile: inside(outcome.stderrFile),
  };
}

/** JSON has no integers beyond 2^53 and no infinities; they are written as text. */
const plainNumbers = (_: string, value: unknown): unknown =>
  typeof value === "bigint" || (typeof value === "number" && !Number.isFinite(value))
    ? String(value)
    : value;
