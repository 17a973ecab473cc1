/** Runs ncu once for each pass of a plan. */
import { join } from "node:path";
import type { CodedError } from "../../../engine/values/errors.ts";
import { firstFewOf, plural } from "../../../foundation/text/plural.ts";
import { type ProcessOutcome, unwrittenOfAll } from "../../machine/process.ts";
import type { ReplayMode } from "../profiler-config.ts";
import type { NcuPassSource } from "../run-types.ts";
import { createCommandFile } from "../tool.ts";
import { cliOf, type Session } from "./ncu-session.ts";
import type { ResultReader } from "./read-results.ts";
import { labelExpressions } from "./run/filters.ts";
import { joinTables } from "./run/import-pass.ts";
import { labelKey } from "./run/label-survey.ts";
import { passCommand } from "./run/pass-command.ts";
import type { Pass, PassPlan } from "./run/pass-plan.ts";
import { type PassTables, readPass } from "./run/read-pass.ts";
import { type PassRun, placeOfPass, runPass } from "./run/run-pass.ts";
import { judge, unreadProblem, type Verdict } from "./run/verdict.ts";

/** The result of running a plan's passes. */
export interface MeasuredPasses {
  readonly runs: readonly PassRun[];
  /** For all runs, including those that were repeated. */
  readonly unwritten: Pick<ProcessOutcome, "unwritten">;
  /** The passes whose results were read. */
  readonly read: readonly NcuPassSource[];
  /** The replay modes of passes with results. */
  readonly modes: readonly ReplayMode[];
  /** The number of results in all passes. */
  readonly results: number;
  readonly notes: readonly string[];
  /** The problem to report; null without any. */
  readonly problem: CodedError | null;
}

/**
 * Runs ncu once per pass and passes the results to the reader. A failed pass does not affect the others; these are
 * skipped only if none of them could succeed.
 */
export async function measurePasses(
  { passes }: PassPlan,
  session: Session,
  reader: ResultReader,
): Promise<MeasuredPasses> {
  const { context } = session;
  const isLadder = session.options.config.fallback === "ladder";
  const several = passes.length > 1 || isLadder;
  const prefixOf = ({ name }: Pass): string => (several ? `${name}.` : "");
  const execute = passExecutor(session);
  const runs: PassRun[] = [];
  const outcomes: ProcessOutcome[] = [];
  const read: NcuPassSource[] = [];
  const modes: ReplayMode[] = [];
  const notes: string[] = [];
  const problems: CodedError[] = [];
  let results = 0;
  const take = async (run: PassRun, prefix: string): Promise<PassTables | null> => {
    const tables = await readTables(run, { labels: run.pass.labels, prefix }, session, reader);
    if (tables === null) return null;
    if (tables.results > 0) {
      read.push(passSource(run.pass, prefix, tables));
      modes.push(run.pass.mode);
    }
    results += tables.results;
    notes.push(...tables.notes);
    return tables;
  };
  if (passes.length > 1)
    context.say(
      `ncu runs the program ${passes.length} times: regions inside each other, or without a CUDA call between them, need runs of their own`,
    );

  const conclude = ({ notes: told, problem, hopeless }: Verdict): boolean => {
    notes.push(...told);
    if (problem !== null) problems.push(problem);
    return hopeless && (problem !== null || context.interrupt.stop.aborted);
  };
  const keepUnread = (pass: Pass, tables: PassTables | null): void => {
    if (tables !== null && tables.results === 0 && tables.unread !== null)
      read.push(passSource(pass, prefixOf(pass), tables));
  };
  /** Measures what a step did not by the next one. */
  const descend = async (first: Pass): Promise<Verdict> => {
    for (let pass = first; ; ) {
      const run = await execute(pass);
      outcomes.push(run.outcome);
      notes.push(...run.notes);
      const tables = await take(run, prefixOf(pass));
      const next = nextStep(first, run, { missing: missingIn(pass, tables, reader), session });
      if (next === null) {
        runs.push(run);
        keepUnread(pass, tables);
        return judge(run, tables);
      }
      context.say(next.note);
      notes.push(next.note);
      pass = next.pass;
    }
  };

  for (const pass of passes) {
    if (isLadder && pass.mode === "range") {
      if (conclude(await descend(pass))) break;
      continue;
    }
    const attempts = await runPassWithFallback(pass, execute, session);
    const run = attempts.again ?? attempts.first;
    runs.push(run);
    outcomes.push(attempts.first.outcome, run.outcome);
    notes.push(...attempts.notes, ...run.notes);
    const prefix = prefixOf(run.pass);
    const tables = await take(run, prefix);
    // Results of the first attempt are better than none.
    const kept =
      attempts.again !== null && (tables?.results ?? 0) === 0
        ? await take(attempts.first, prefixOf(pass))
        : null;
    if (kept !== null && kept.results > 0)
      notes.push(
        `${pass.name}: app-range replay gave no results; the report has what range replay captured, ${plural(kept.results, "range")}`,
      );
    else keepUnread(run.pass, tables);
    if (conclude(judge(run, tables))) break;
  }
  const prefixes = read.map(({ prefix }) => prefix);
  if (several) notes.push(...(await joinTables(context.directory, prefixes)));
  // A problem that a later reading can solve matters less than one that needs a new measurement.
  const isUnread = ({ message }: CodedError) =>
    read.some((pass) => message === unreadProblem(pass)?.message);
  const problem = problems.find((candidate) => !isUnread(candidate)) ?? problems[0] ?? null;
  return { runs, unwritten: unwrittenOfAll(outcomes), read, modes, results, notes, problem };
}

const passSource = (
  { name, labels }: Pass,
  prefix: string,
  { notes, unread }: PassTables,
): NcuPassSource => ({
  name,
  prefix,
  labels: labels?.map(({ domain, name, kind }) => ({ domain, name, kind })) ?? null,
  ...(notes.length > 0 && { notes }),
  ...(unread !== null && { unread }),
});

interface Attempts {
  readonly first: PassRun;
  /** The repetition with app-range replay; null if the first attempt did not need it. */
  readonly again: PassRun | null;
  readonly notes: readonly string[];
}

/** Repeats a pass whose ranges cannot be captured, with the replay mode that captures nothing. */
async function runPassWithFallback(
  pass: Pass,
  execute: (pass: Pass) => Promise<PassRun>,
  session: Session,
): Promise<Attempts> {
  const first = await execute(pass);
  if (!shouldFallBack(first, session)) return { first, again: null, notes: [] };
  const note = `${pass.name}: ${first.failures.find(isUncaptured)?.message}; measured again with app-range replay`;
  session.context.say(note);
  const again = await execute({ ...pass, name: `${pass.name}.app-range`, mode: "app-range" });
  return { first, again, notes: [note] };
}

/** The steps of the ladder below range replay. */
const NEXT_STEP: Readonly<Partial<Record<ReplayMode, ReplayMode>>> = {
  range: "app-range",
  "app-range": "kernel",
};

const STEP_WORDS: Readonly<Partial<Record<ReplayMode, string>>> = {
  "app-range": "by app-range replay",
  kernel: "kernel by kernel",
};

/**
 * The regions of a pass without results; null if a pass that names none has none.
 */
function missingIn(
  { labels }: Pass,
  tables: PassTables | null,
  { seen }: Pick<ResultReader, "seen">,
): Pass["labels"] {
  if (labels === null) return (tables?.results ?? 0) === 0 ? null : [];
  return labels.filter((label) => !seen.has(labelKey(label)));
}

/** What to measure next, and why; null if nothing is missing, or nothing else can be tried. */
function nextStep(
  first: Pass,
  { pass, failures, log }: PassRun,
  { missing, session }: { readonly missing: Pass["labels"]; readonly session: Session },
): { readonly pass: Pass; readonly note: string } | null {
  const mode = NEXT_STEP[pass.mode];
  const failure = failures.find((candidate) =>
    pass.mode === "range" ? isUncaptured(candidate) : !candidate.hopeless,
  );
  if (mode === undefined || failure === undefined || missing?.length === 0) return null;
  const { context, ncu } = session;
  if (context.interrupt.stop.aborted || !ncu.accepts("--replay-mode", mode)) return null;
  const names =
    missing === null ? first.name : firstFewOf(missing, MOST_REGIONS, ({ name }) => name);
  const api = [...log.warnings, ...log.errors]
    .filter((line) => /Unsupported ?API|capture/i.test(line))
    .flatMap((line) => /\bcu(?:da)?[A-Z]\w+/.exec(line)?.[0] ?? [])[0];
  const why = api === undefined ? failure.message : `${failure.message}; ncu names ${api}`;
  return {
    pass: {
      ...pass,
      name: `${first.name}.${mode}`,
      mode,
      labels: missing,
      include: missing === null ? pass.include : labelExpressions(missing),
    },
    note: `${names}: measured ${STEP_WORDS[mode]}, since ${pass.mode} replay did not: ${why}`,
  };
}

const MOST_REGIONS = 10;

/** Writes each command to the command file before it runs. */
function passExecutor(session: Session): (pass: Pass) => Promise<PassRun> {
  const { options, workload, context } = session;
  const commands = createCommandFile(join(context.directory, "cmd.txt"));
  return async (pass) => {
    const place = placeOfPass(pass, context.directory);
    const command = passCommand(pass, place, { ...session, config: cliOf(pass, session) });
    await commands.add(command.argv);
    const { timeout_min: timeoutMin } = options.config;
    return runPass({ pass, command, workload, place, timeoutMin }, context);
  };
}

/** Null if there is no report, or the user no longer waits for it. */
async function readTables(
  { report }: PassRun,
  { labels, prefix }: { readonly labels: Pass["labels"]; readonly prefix: string },
  { options, ncu, context }: Session,
  reader: ResultReader,
): Promise<PassTables | null> {
  const stop = context.interrupt.kill;
  if (report === null || stop.aborted) return null;
  const keepTables = options.config.ncu_cli.export.csv;
  return reader.readPass(labels, (onResult) =>
    readPass(report, onResult, { ncu, prefix, keepTables, stop, say: context.say }),
  );
}

/** Failures of range replay that app-range replay may avoid. */
const UNCAPTURED: ReadonlySet<PassRun["failures"][number]["id"]> = new Set([
  "unsupported_api",
  "several_contexts",
  "capture_failed",
]);

const isUncaptured = ({ id }: PassRun["failures"][number]): boolean => UNCAPTURED.has(id);

const shouldFallBack = ({ pass, failures }: PassRun, { options, ncu, context }: Session): boolean =>
  pass.mode === "range" &&
  options.config.fallback &&
  failures.some(isUncaptured) &&
  ncu.accepts("--replay-mode", "app-range") &&
  !context.interrupt.stop.aborted;
