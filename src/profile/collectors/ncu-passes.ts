import { join } from "node:path";
import type { ConfigError } from "../../values/errors.ts";
import type { ResultReader } from "../ncu/read-results.ts";
import { passCommand } from "../ncu/run/command-line.ts";
import type { Pass, PassPlan } from "../ncu/run/pass-plan.ts";
import { joinTables, type PassTables, readPass } from "../ncu/run/read-pass.ts";
import { type PassRun, placeOfPass, runPass, writeCommands } from "../ncu/run/run-pass.ts";
import { judge } from "../ncu/run/verdict.ts";
import { cliOf, type Session } from "./ncu-session.ts";
import type { NcuPassSource } from "./source.ts";

/** What came of the runs of ncu that a plan asks for. */
export interface MeasuredPasses {
  readonly runs: readonly PassRun[];
  /** Those whose results were read. */
  readonly read: readonly NcuPassSource[];
  /** Results in all of them. */
  readonly results: number;
  readonly notes: readonly string[];
  /** The first one; null where nothing went wrong. */
  readonly problem: ConfigError | null;
}

/**
 * Runs ncu once per pass and hands the results to the reader. A pass that fails takes nothing from the
 * others; they are left out only where none of them could succeed.
 */
export async function measurePasses(
  { passes }: PassPlan,
  session: Session,
  reader: ResultReader,
): Promise<MeasuredPasses> {
  const { context } = session;
  const several = passes.length > 1;
  const prefixOf = ({ name }: Pass): string => (several ? `${name}.` : "");
  const execute = passExecutor(session);
  const runs: PassRun[] = [];
  const read: NcuPassSource[] = [];
  const notes: string[] = [];
  let problem: ConfigError | null = null;
  let results = 0;
  if (several)
    context.say(
      `ncu runs the program ${passes.length} times: regions inside one another need runs of their own`,
    );

  for (const pass of passes) {
    let run = await execute(pass);
    if (shouldFallBack(run, session)) {
      const note = `${pass.name}: ${run.failures.find(isUnsupported)?.message}; measured again by app-range replay`;
      context.say(note);
      notes.push(note);
      run = await execute({ ...pass, name: `${pass.name}.app-range`, mode: "app-range" });
    }
    runs.push(run);
    const { labels } = pass;
    const prefix = prefixOf(run.pass);
    const tables = await readTables(run, { labels, prefix }, session, reader);
    if (tables !== null) read.push({ name: run.pass.name, prefix, labels });
    const found = tables?.results ?? 0;
    const verdict = judge(run, found);
    results += found;
    notes.push(...run.notes, ...(tables?.notes ?? []), ...verdict.notes);
    problem ??= verdict.problem;
    if (verdict.hopeless && (verdict.problem !== null || context.interrupt.stop.aborted)) break;
  }
  const prefixes = runs.map(({ pass }) => prefixOf(pass));
  if (several) notes.push(...(await joinTables(context.directory, prefixes)));
  return { runs, read, results, notes, problem };
}

/** Each command is on file before it runs. */
function passExecutor(session: Session): (pass: Pass) => Promise<PassRun> {
  const { options, workload, context } = session;
  const commands: (readonly string[])[] = [];
  return async (pass) => {
    const place = placeOfPass(pass, context.directory);
    const command = passCommand(pass, place, { ...session, config: cliOf(pass, session) });
    commands.push(command);
    await writeCommands(join(context.directory, "cmd.txt"), commands);
    return runPass(pass, command, workload, place, context, {
      timeoutMin: options.config.timeout_min,
    });
  };
}

/** Null where there is no report, or nobody waits for it any longer. */
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
    readPass(report, onResult, { ncu, prefix, keepTables, stop }),
  );
}

const isUnsupported = ({ id }: PassRun["failures"][number]): boolean => id === "unsupported_api";

const shouldFallBack = ({ pass, failures }: PassRun, { options, ncu, context }: Session): boolean =>
  pass.mode === "range" &&
  options.config.fallback &&
  failures.some(isUnsupported) &&
  ncu.accepts("--replay-mode", "app-range") &&
  !context.interrupt.stop.aborted;
