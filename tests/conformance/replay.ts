import { DEFAULT_DIALECT, type Dialect } from "../../src/engine/values/dialect.ts";
import { excuseFor, tooManyAccepted } from "./accepted.ts";
import {
  type CorpusCase,
  type CorpusFile,
  findCompanion,
  identityOf,
  listCorpus,
  listedIn,
  readCorpusFile,
  readDelta,
} from "./corpus.ts";
import type { Outcome, Suite, SuiteEnvironment } from "./suite.ts";

export interface ReplayRequest {
  /** The corpus to replay. */
  readonly corpus: string;
  /** What another version of Hydra did differently: lines that take the place of those of `corpus`. */
  readonly delta?: string;
  /** Default: Hydra 1.3. */
  readonly dialect?: Dialect;
  /** Where companions of a case are looked up when the corpus itself lacks them. */
  readonly fallback: string | null;
  readonly suites: readonly Suite[];
  /** Replays only what the delta lists, and not what it leaves as it was. */
  readonly differencesOnly?: boolean;
  /** Replays only files whose path matches. */
  readonly only?: RegExp;
  /** Replays only the case of this id, in every file that has it. */
  readonly caseId?: string;
}

/** What became of one file of the corpus. */
export interface FileResult {
  readonly path: string;
  /** Null when no suite knows this kind of file yet. */
  readonly suite: string | null;
  readonly cases: number;
  readonly passed: readonly CorpusCase[];
  readonly failures: readonly CaseResult[];
  readonly accepted: readonly CaseResult[];
  /** What is wrong with the file itself: bad lines, no case, too many accepted differences. */
  readonly problems: readonly string[];
  /** Wall time of the replay. */
  readonly milliseconds: number;
}

export interface CaseResult {
  readonly case: CorpusCase;
  readonly outcome: Extract<Outcome, { pass: false }>;
  /** Why the difference is accepted; absent on a failure. */
  readonly reason?: string;
}

/** Replays file by file, so that results can be printed as they come. */
export async function* replay(request: ReplayRequest): AsyncGenerator<FileResult> {
  const { caseId, corpus, delta, dialect = DEFAULT_DIALECT } = request;
  const isOwnVersion = dialect.hydraVersion !== DEFAULT_DIALECT.hydraVersion;
  for (const path of listCorpus(corpus)) {
    if (request.only?.test(path) === false) continue;
    const suite = request.suites.find((candidate) => candidate.matches(path));
    if (delta !== undefined && suite?.dependsOnVersionBase === false && !isOwnVersion) continue;
    const file =
      delta === undefined ? readCorpusFile(corpus, path) : readDelta(corpus, delta, path);
    if (delta !== undefined && request.differencesOnly === true) {
      const listed = listedIn(delta, path);
      const cases = file.cases.filter((line) => listed.has(identityOf(line)));
      if (cases.length > 0) yield await replayFile(file, cases, request);
      continue;
    }
    if (caseId === undefined) {
      yield await replayFile(file, file.cases, request);
      continue;
    }
    const chosen = file.cases.filter(({ id }) => id === caseId);
    if (chosen.length > 0) yield await replayFile(file, chosen, request);
  }
}

async function replayFile(
  file: CorpusFile,
  cases: readonly CorpusCase[],
  request: ReplayRequest,
): Promise<FileResult> {
  const { path } = file;
  const suite = request.suites.find((candidate) => candidate.matches(path));
  if (suite === undefined)
    return {
      path,
      suite: null,
      cases: cases.length,
      passed: [],
      failures: [],
      accepted: [],
      problems: [],
      milliseconds: 0,
    };
  const started = performance.now();
  const outcomes = await runAll(suite, cases, environment(path, request));
  const passed: CorpusCase[] = [];
  const failures: CaseResult[] = [];
  const accepted: CaseResult[] = [];
  for (const { case: testCase, outcome } of outcomes) {
    if (outcome.pass) {
      passed.push(testCase);
      continue;
    }
    const excuse = excuseFor(path, testCase.id, outcome);
    if (excuse === null) failures.push({ case: testCase, outcome });
    else accepted.push({ case: testCase, outcome, reason: excuse.reason });
  }
  return {
    path,
    suite: suite.name,
    cases: cases.length,
    passed,
    failures,
    accepted,
    problems: problemsOf(file, accepted.length),
    milliseconds: performance.now() - started,
  };
}

function problemsOf(file: CorpusFile, accepted: number): readonly string[] {
  const problems = file.badLines.map(({ line, why }) => `line ${line}: ${why}`);
  if (file.cases.length === 0) problems.push("holds no case");
  if (tooManyAccepted(accepted, file.cases.length))
    problems.push(`${accepted} accepted differences are more than 1 % of the file`);
  return problems;
}

function environment(path: string, request: ReplayRequest): SuiteEnvironment {
  const { corpus, delta, dialect = DEFAULT_DIALECT, fallback } = request;
  const dirs = [delta, corpus, fallback].filter((dir) => dir !== undefined && dir !== null);
  return { file: path, dialect, companion: (wanted) => findCompanion(dirs, wanted) };
}

interface Ran {
  readonly case: CorpusCase;
  readonly outcome: Outcome;
}

async function runAll(
  suite: Suite,
  cases: readonly CorpusCase[],
  env: SuiteEnvironment,
): Promise<readonly Ran[]> {
  const results: Ran[] = [];
  const queue = cases.entries();
  const worker = async () => {
    for (const [index, testCase] of queue)
      results[index] = { case: testCase, outcome: await runOne(suite, testCase, env) };
  };
  await Promise.all(Array.from({ length: suite.concurrency ?? 1 }, worker));
  return results;
}

/** A case may also say what came out without libyaml: then both have to be right. */
async function runOne(suite: Suite, testCase: CorpusCase, env: SuiteEnvironment): Promise<Outcome> {
  const outcome = await runOnce(suite, testCase, env);
  const { pure, ...withLibyaml } = testCase;
  if (!outcome.pass || typeof pure !== "object" || suite.takesNames === true) return outcome;
  const dialect = { ...env.dialect, libyaml: false };
  const other = await runOnce(suite, { ...withLibyaml, ...pure }, { ...env, dialect });
  return other.pass ? other : { ...other, why: `without libyaml: ${other.why}` };
}

async function runOnce(
  suite: Suite,
  testCase: CorpusCase,
  env: SuiteEnvironment,
): Promise<Outcome> {
  try {
    return await suite.run(testCase, env);
  } catch (error) {
    const shown = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      pass: false,
      expected: "a case that can be run",
      actual: shown,
      why: `could not be run: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}
