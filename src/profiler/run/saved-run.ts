/**
 * `run.json`: what a run knows beside its raw files, so that its reports can be made again from both (`deep-profile
 * report`). `schemas/run.schema.json` is the same contract for other languages.
 */

import { join, relative, sep } from "node:path";
import type { CodedError, ErrorDetails } from "../../engine/values/errors.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { dateTime } from "../../foundation/text/date-time.ts";
import type { ConfigLine } from "../../report/render/report-page.ts";
import type { MachineEnvironment } from "../machine/environment.ts";
import type { ProcessOutcome, Workload } from "../machine/process.ts";
import { type CollectionSource, RUN_FILE } from "../tools/collection.ts";
import type { ProfileConfig } from "../tools/config.ts";
import type { CollectedRun, RunInputs } from "./run.ts";

// `run.json`: the facts about a run that are not in its raw files, so that its reports can be made again from both
// (`deep-profile report`). `schemas/run.schema.json` is the same contract for other languages.

/** Version of the contract, `major.minor`; a minor version only adds. */
export const RUN_CONTRACT = "hydraconf.run/1.5";

export interface SavedRun {
  readonly contract: string;
  readonly config_fingerprint: string;
  /** The resolved config, with secrets masked. */
  readonly config: ProfileConfig;
  /** The config as text, with the origin of each value. */
  readonly config_lines: readonly ConfigLine[];
  /** Without its environment variables, which may contain secrets. */
  readonly workload: Omit<Workload, "env" | "peaksArgv">;
  readonly environment: MachineEnvironment;
  /** When its collectors began and ended: RFC 3339, in UTC. Since 1.2. */
  readonly started?: string;
  readonly ended?: string;
  readonly inputs: RunInputs;
  /** In the order in which they ran. */
  readonly collectors: readonly SavedCollection[];
  /** Collectors without results, and the reasons. */
  readonly missing: readonly SavedMissing[];
}

export interface SavedCollection {
  readonly collector: string;
  /** The version of the tool; null for our own recorder. */
  readonly tool_version: string | null;
  readonly source: CollectionSource;
  /** Its files are relative to the run directory, with `/`. */
  readonly outcome: ProcessOutcome;
  readonly notes: readonly string[];
  readonly problem: SavedProblem | null;
}

export interface SavedMissing {
  readonly collector: string;
  readonly problem: SavedProblem;
}

export type SavedProblem = Pick<
  ErrorDetails<string>,
  "code" | "message" | "key" | "available" | "nearest" | "hint"
>;

/** The configuration in the form in which it may be stored: with secrets masked. */
export interface ShownConfig {
  /** Resolved plain data. */
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
  const { env: _env, peaksArgv: _peaksArgv, ...workload } = run.workload;
  return {
    contract: RUN_CONTRACT,
    config_fingerprint: run.fingerprint,
    // Masking does not change the type of the config.
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

const savedProblem = ({ details }: CodedError): SavedProblem => {
  const { origin: _origin, cause: _cause, ...problem } = details;
  return problem;
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
