import type { Dialect } from "../../src/engine/values/dialect.ts";
import type { CorpusCase } from "./corpus.ts";

/**
 * One kind of corpus file and how to replay it. A suite is a data object in `suites/`, listed in
 * `suites/index.ts`; the runner only iterates over them.
 */
export interface Suite {
  readonly name: string;
  /** Whether this suite replays the file at this path (relative to the corpus, with `/`). */
  matches(pathInCorpus: string): boolean;
  /** Replays one case. Anything thrown here means "could not be run", which is a failure. */
  run(testCase: CorpusCase, env: SuiteEnvironment): Outcome | Promise<Outcome>;
  /**
   * Whether what is replayed is decided by Hydra's `version_base` as well; a version of Hydra itself may change anything. Default:
   * true.
   */
  readonly dependsOnVersionBase?: boolean;
  /**
   * Whether a version is chosen by its name alone, as programs choose it: then what came out without libyaml is not replayed. Where
   * the recorded outcomes with and without it differ, the latter are those of Hydra 1.3, which are replayed there.
   */
  readonly takesNames?: boolean;
  /** How many cases may run at once; absent means one. For suites that start processes. */
  readonly concurrency?: number;
}

export interface SuiteEnvironment {
  /** Path of the file in the corpus, e.g. `compose/ml/cases.jsonl`. */
  readonly file: string;
  /** The version of Hydra that recorded the case. */
  readonly dialect: Dialect;
  /**
   * Absolute path of something that a suite needs beside its cases (`compose/ml/conf`): looked up
   * in the replayed corpus, then at the same place in that of Hydra 1.3. Throws when in neither.
   */
  companion(pathInCorpus: string): string;
}

export type Outcome = Pass | Fail;

export interface Pass {
  readonly pass: true;
}

export interface Fail {
  readonly pass: false;
  /** What Hydra did: text or JSON, shown side by side with `actual`. */
  readonly expected: unknown;
  readonly actual: unknown;
  /** One line: the first difference, or what is wrong with the error. */
  readonly why: string;
  /** What we threw, when we threw. */
  readonly error?: unknown;
}

export const PASS: Pass = { pass: true };
