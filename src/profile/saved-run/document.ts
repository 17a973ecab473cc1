/**
 * `run.json`: what a run knows beside its raw files, so that its reports can be made again from both
 * (`deep-profile report`). `schemas/run.schema.json` is the same contract for other languages.
 */
import type { ConfigLine } from "../../report/html/report-page.ts";
import type { ErrorDetails } from "../../values/errors.ts";
import type { CollectorName } from "../collection/collector-names.ts";
import type { CollectionSource } from "../collection/source.ts";
import type { ProfileConfig } from "../config/config.ts";
import type { MachineEnvironment } from "../machine/environment.ts";
import type { ProcessOutcome } from "../machine/process.ts";
import type { RunInputs } from "../run/inputs.ts";
import type { Workload } from "../workload/workload.ts";

/** Version of the contract; `major.minor`, a minor only adds. */
export const RUN_CONTRACT = "hydraconf.run/1.2";

export interface SavedRun {
  readonly contract: string;
  readonly config_fingerprint: string;
  /** Resolved; what a schema marks secret is masked. */
  readonly config: ProfileConfig;
  /** The same for people, with what set each value. */
  readonly config_lines: readonly ConfigLine[];
  /** Without its environment variables, which hold secrets. */
  readonly workload: Omit<Workload, "env">;
  readonly environment: MachineEnvironment;
  /** When its collectors began and ended: RFC 3339, in UTC. Since 1.2. */
  readonly started?: string;
  readonly ended?: string;
  readonly inputs: RunInputs;
  /** In the order in which they ran. */
  readonly collectors: readonly SavedCollection[];
  /** Collectors that brought nothing back, and why. */
  readonly missing: readonly SavedMissing[];
}

export interface SavedCollection {
  readonly collector: CollectorName;
  /** Of the tool; null: ours. */
  readonly tool_version: string | null;
  readonly source: CollectionSource;
  /** Its files are relative to the run directory, with `/`. */
  readonly outcome: ProcessOutcome;
  readonly notes: readonly string[];
  readonly problem: SavedProblem | null;
}

export interface SavedMissing {
  readonly collector: CollectorName;
  readonly problem: SavedProblem;
}

export type SavedProblem = Pick<
  ErrorDetails,
  "code" | "message" | "key" | "available" | "nearest" | "hint"
>;
