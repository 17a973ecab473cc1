/** `--dry-run`: what a run would do, job by job. */
import type { Composition } from "../../engine/compose/index.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { configFingerprint } from "../../engine/values/fingerprint.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { plural } from "../../foundation/text/plural.ts";
import { drawTable, type TableOptions } from "../../foundation/text/text-table.ts";
import { checkJobs, configFor, factsOf } from "../job/check-jobs.ts";
import { plainAt } from "../job/hydra-values.ts";
import type { JobResult } from "../job/job.ts";
import { jobPlace, type PlannedJob } from "../job/plan-job.ts";
import type { Console } from "../job/process/invocation.ts";
import { printJsonError } from "../job/report-error.ts";
import { checkJobDirectories } from "../job/run-directory.ts";
import { EXIT_ERROR, EXIT_OK } from "../job/session.ts";
import { openShownRecord } from "../sweep/open-sweep.ts";
import {
  checkContinuation,
  jobOfProgram,
  partsOf,
  planRun,
  planTask,
  refusalText,
  refusedOf,
} from "../sweep/plan-sweep.ts";
import { launcherOfRun, type SweepRegistry, type SweepSession } from "../sweep/registry.ts";
import { withRefused } from "../sweep/run-sweep.ts";
import type { JobOverrides } from "../sweep/sweepers/sweeper.ts";

/** The plan of a run or sweep, without the jobs' configs. */
interface Plan {
  readonly mode: "run" | "multirun";
  /** The directory of the run, or of the sweep. */
  readonly directory: string;
  readonly jobs: readonly JobRow[];
  /** The option of `hydra/launcher` that runs a single run; absent if that is this process. */
  readonly launcher?: string;
  /** A note on what is known only after jobs have run. */
  readonly note?: string;
}

interface JobRow {
  readonly number?: number;
  readonly directory: string;
  readonly overrides: readonly string[];
  /** Null if the config does not resolve as a whole. */
  readonly fingerprint: string | null;
  /** Why it does not. */
  readonly problem?: string;
  /** How the program would run it, if the program has such plans. */
  readonly plan?: unknown;
}

/**
 * Composes and checks every job as a run would, and prints a line for each: its directory, its overrides and the
 * fingerprint of its config. The program's own plans follow.
 */
export async function dryRun(session: SweepSession): Promise<number> {
  const { invocation, options, parsed } = session;
  const planned = await planAll(session, await session.registry());
  const { directory, launcher, mode, note, parts } = planned;
  const place = jobPlace(session);
  const rows: JobRow[] = [];
  const texts: string[] = [];
  const written = new Set<string>();
  const owners = new Map<string, number | undefined>();
  let isFit = true;
  let refusal = "";
  const console: Console = {
    ...invocation.console,
    stderr(text) {
      refusal += text;
      invocation.console.stderr(text);
    },
  };
  // Jobs are planned in parts, so that only some of many are in memory.
  for (const jobs of parts) {
    // A job that runs again keeps its directory.
    if (mode === "multirun" && invocation.resumed === undefined)
      checkJobDirectories(jobs, options.resultFiles ?? [], owners);
    isFit = (await checkJobs(jobs, options, console, place, { isPlan: true })) && isFit;
    if (!isFit) continue;
    for (const job of jobs) {
      place.publish(job.root);
      const facts = { ...factsOf(job), context: place.context };
      options.delegate?.inspection?.note(facts);
      const plan = await options.planJob?.(configFor(job, options.delegate), job.outputDir, facts);
      rows.push({ ...rowOf(job), ...(plan !== undefined && { plan: plan.data }) });
      if (plan !== undefined) texts.push(plan.text);
      if (plan?.written !== undefined) written.add(plan.written);
    }
  }
  if (!isFit) {
    const message = refusal.trimEnd();
    printJsonError(new ConfigError({ code: "schema.mismatch", message }), invocation);
    return EXIT_ERROR;
  }
  await options.delegate?.inspection?.finish({ isPlan: true });
  const plan: Plan = {
    ...{ mode, directory, jobs: rows },
    ...(launcher !== undefined && { launcher }),
    ...(note !== undefined && { note }),
  };
  const { redact, stdout, stdoutWidth: width } = invocation.console;
  if (parsed.flags.has("json")) stdout(`${JSON.stringify({ version: 1, ...plan }, null, 2)}\n`);
  else {
    stdout(planText(plan, [...written], { redact, width }));
    for (const text of texts) stdout(`\n${text}`);
  }
  return EXIT_OK;
}

/** What would run, job by job as far as that is known. */
interface PlannedParts extends Omit<Plan, "jobs"> {
  readonly parts: Iterable<readonly PlannedJob[]>;
}

async function planAll(session: SweepSession, registry: SweepRegistry): Promise<PlannedParts> {
  const { composer, parsed } = session;
  const { resumed } = session.invocation;
  const { composition, mode, overrides } = composer.composeTask(
    session.overrides,
    parsed.flags.has("multirun"),
  );
  const place = jobPlace(session);
  const composed = composition();
  const launcher = mode === "run" ? await launcherOfRun(session, composed) : undefined;
  if (mode === "run" && launcher === undefined) {
    const job = planRun(composed, place);
    return { mode, directory: job.outputDir, parts: [[job]] };
  }
  const task = { composition: composed, mode, overrides };
  const sweep = planTask(task, composer, place, registry, {
    resumed,
    isPlan: true,
  });
  const { directory, planBatch, sweeper } = sweep;
  const record = await openShownRecord(session, sweep, overrides);
  const parts = function* (): Generator<readonly PlannedJob[]> {
    let first = 0;
    for (let asked = sweeper.ask(); asked !== undefined; asked = sweeper.ask()) {
      if (first === 0) checkContinuation(asked, sweep);
      const results: (JobResult | undefined)[] = [];
      const refused =
        sweeper.judgesFailures === true ? refusedOf(asked, sweep) : new Map<number, ConfigError>();
      refuseTooMany(asked, refused, composed, composer.context);
      for (const [index, error] of refused)
        session.invocation.console.stderr(`${refusalText(asked[index] ?? [], error)}\n`);
      const batch = asked.filter((_, index) => !refused.has(index));
      let isDue = false;
      for (const part of partsOf(batch)) {
        const jobs = planBatch(part, first, record?.numberOf);
        first += part.length;
        const due = record?.due(jobs) ?? jobs;
        isDue ||= due.length > 0;
        if (record !== undefined) results.push(...jobs.map(record.resultOf));
        yield due.map((job) => jobOfProgram(sweep, job));
      }
      // What a search asks for next depends on the results of these jobs.
      if (isDue && sweeper.judgesFailures === true) return;
      sweeper.tell(withRefused(asked, results, refused));
    }
  };
  return {
    ...{ mode, directory, parts: parts() },
    ...(sweeper.unforeseeable !== undefined && { note: sweeper.unforeseeable }),
    ...(launcher && { launcher: composed.choices.get("hydra/launcher") ?? launcher.name }),
  };
}

/** @throws ConfigError for the first trial that cannot be composed, if so many of a batch end the sweep */
function refuseTooMany(
  batch: readonly JobOverrides[],
  refused: ReadonlyMap<number, ConfigError>,
  { root }: Composition,
  context: ResolveContext,
): void {
  const [first] = refused.values();
  if (first === undefined) return;
  const most = plainAt(root, "hydra.sweeper.max_failure_rate", context);
  if (refused.size / batch.length > Number(most ?? 0)) throw first;
}

function rowOf({ number, outputDir, overrides, resolved }: PlannedJob): JobRow {
  const facts = { ...(number !== undefined && { number }), directory: outputDir, overrides };
  try {
    return { ...facts, fingerprint: configFingerprint(resolved(), outputDir) };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const { hint, key, message } = error.details;
    const location = key === undefined || message.includes(key) ? "" : ` (key: ${key})`;
    const problem = `${firstLine(message)}${location}${hint === undefined ? "" : `. Hint: ${hint}`}`;
    return { ...facts, fingerprint: null, problem };
  }
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";

const HASH_LETTERS = 19;

/** The first reason why a config does not resolve. */
function problemText(jobs: readonly JobRow[]): string {
  const [first, ...others] = jobs.filter(({ problem }) => problem !== undefined);
  if (first?.problem === undefined) return "";
  const name = first.number === undefined ? "The job" : `Job #${first.number}`;
  const more = others.length === 0 ? "" : ` (and ${plural(others.length, "other job")})`;
  return `${name}${more} does not resolve: ${first.problem}\n`;
}

function planText(
  { directory, jobs, launcher, mode, note }: Plan,
  written: readonly string[],
  options: TableOptions,
): string {
  const what = mode === "run" && jobs.length === 1 ? "One job" : plural(jobs.length, "job");
  const rows = jobs.map((job) => [
    String(job.number ?? ""),
    job.directory,
    job.overrides.join(" "),
    job.fingerprint?.slice(0, HASH_LETTERS) ?? "does not resolve",
  ]);
  const table = drawTable([["#", "Directory", "Overrides", "Config"], ...rows], options);
  return `${what} would run in ${directory}${launcher === undefined ? "" : ` with hydra/launcher=${launcher}`}; nothing was written${written.length === 0 ? "" : ` but ${written.join(" and ")}`}.\n${jobs.length === 0 ? "" : table}${problemText(jobs)}${note === undefined ? "" : `${note}\n`}`;
}
