/** `hydraconf sweep`: status, wait, cancel, collect, best, watch and compare. */
import { resolve } from "node:path";
import { isError } from "../../foundation/system/builtin-types.ts";
import { namedFileProblem } from "../../foundation/system/files.ts";
import { startTimer } from "../../foundation/system/long-timer.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellQuote } from "../../foundation/text/shell-words.ts";
import { drawTable } from "../../foundation/text/text-table.ts";
import { portError } from "../command-line/port.ts";
import { isFailure, isSettled } from "../job/ender.ts";
import type { SweepJobStatus } from "../job/job.ts";
import type { SweepRow } from "../job/options.ts";
import { listenForInterrupt } from "../job/process/interrupt.ts";
import type { Console, Invocation } from "../job/process/invocation.ts";
import type { LauncherDefinition } from "../launch/launcher.ts";
import { basicLauncher } from "../launch/local/basic-launcher.ts";
import { loadRegistry } from "../plugins/load-registry.ts";
import { loadSettings } from "../plugins/settings-files.ts";
import { STANDARD_PLUGINS } from "../plugins/standard-plugins.ts";
import { type JobState, tookMs } from "../record/job-state.ts";
import { launcherFolder, launcherFolders, sweepFolder } from "../record/layout.ts";
import { type ManifestJob, readManifest } from "../record/manifest.ts";
import { jobsToRetry, nextCommand, typedCommand } from "../record/next-commands.ts";
import { cancelSweep } from "../sweep/cancel.ts";
import { shownStatus } from "../sweep/page/build-page-data.ts";
import {
  type JobView,
  readSweepStatus,
  recordedExitCode,
  type StatusRequest,
  type SweepView,
} from "../sweep/status.ts";
import { writeSweepPage } from "../sweep/sweep-page.ts";
import { writeSweepTables } from "../sweep/sweep-tables.ts";
import { countsText, distinctOverrides, durationText, heldLine } from "../sweep/tally.ts";
import { waitForSweep } from "../sweep/wait.ts";
import { watchSweep } from "../sweep/watch-sweep.ts";
import { showBest } from "./sweep-best.ts";
import { showComparison } from "./sweep-compare.ts";
import { parseSweepLine } from "./sweep-line.ts";

const TIMED_OUT = 124;

const LAST_STATUS_MS = 1_000;

/**
 * `hydraconf sweep`: shows, resumes and cancels a recorded sweep of any program.
 *
 * @throws ConfigError `app.usage`, and `app.sweep_record` if there is no sweep
 */
export async function runSweepCommand(
  args: readonly string[],
  invocation: Invocation,
): Promise<number> {
  const request = parseSweepLine(args);
  if (request.help !== null) {
    invocation.console.stdout(request.help);
    return 0;
  }
  const { action, all, json, only, settings, timeout } = request;
  const { console, env } = invocation;
  const directory = resolve(invocation.cwd, request.directory);
  const launchers = await launchersOf(directory, invocation, settings);
  const sweep = { directory, env, launchers };
  switch (action) {
    case "status":
      return status(sweep, { all, json, only }, invocation);
    case "wait":
      return wait(sweep, { json, timeout }, invocation);
    case "cancel":
      return cancel(sweep, invocation);
    case "collect":
      return collect(sweep, console);
    case "best":
      return showBest(sweep, request, invocation, (view) => programFrom(view, invocation.cwd));
    case "watch":
      return watch(sweep, request.port, console);
    case "compare": {
      const others = request.others.map(async (name): Promise<StatusRequest> => {
        const other = resolve(invocation.cwd, name);
        return { directory: other, env, launchers: await launchersOf(other, invocation, settings) };
      });
      return showComparison([sweep, ...(await Promise.all(others))], request, invocation);
    }
  }
}

/** The launchers that a sweep needs. Plugins are loaded only for one of theirs. */
async function launchersOf(
  directory: string,
  invocation: Invocation,
  named: string | undefined,
): Promise<readonly LauncherDefinition[]> {
  const { launchers } = await loadRegistry(STANDARD_PLUGINS);
  const folder = sweepFolder(directory);
  const folders = new Set(launchers.map(({ name }) => launcherFolder(folder, name)));
  if (launcherFolders(folder).every((notes) => folders.has(notes))) return launchers;
  const request = { named, trustCommand: "hydraconf trust" };
  const { plugins } = await loadSettings(STANDARD_PLUGINS, invocation, request);
  return (await loadRegistry(await plugins())).launchers;
}

/** For longer sweeps only some of the failed and running jobs are shown. */
const MOST_SHOWN = 50;
const MOST_NOTABLE = 20;

interface Filter {
  readonly all: boolean;
  readonly json: boolean;
  readonly only: readonly SweepJobStatus[] | undefined;
}

async function status(
  sweep: StatusRequest,
  { all, json, only }: Filter,
  invocation: Invocation,
): Promise<number> {
  const { console } = invocation;
  const { view } = await readSweepStatus(sweep);
  const isShown = ({ status }: JobView) => only === undefined || only.includes(status);
  const isShort = !all && only === undefined && view.jobs.length > MOST_SHOWN;
  console.stdout(
    json
      ? `${JSON.stringify({ ...view, jobs: view.jobs.filter(isShown) }, null, 2)}\n`
      : isShort
        ? shortView(view, invocation)
        : shownView(view, view.jobs.filter(isShown), invocation),
  );
  return !view.more_to_come && view.jobs.every((job) => isSettled(job.status)) ? 0 : 1;
}

async function wait(
  sweep: StatusRequest,
  { json, timeout }: { readonly json: boolean; readonly timeout: number | undefined },
  { console, cwd }: Invocation,
): Promise<number> {
  const { directory } = sweep;
  const folder = sweepFolder(directory);
  readManifest(folder);
  const shownOf = createShownOverrides();
  const say = (line: string) => console.stdout(`${line}\n`);
  const interrupt = listenForInterrupt();
  const late = new AbortController();
  if (!json)
    console.stderr(`Waiting for the sweep in ${directory}; Ctrl-C ends only the waiting\n`);
  const stopTimer = timeout === undefined ? undefined : startTimer(timeout, () => late.abort());
  try {
    await waitForSweep({
      ...sweep,
      signal: AbortSignal.any([interrupt.signal, late.signal]),
      ...(!json && {
        onEnd: (job, state, jobs) => say(endLine(shownOf(job, jobs), state)),
        onHeld: (held, pendingReason, jobs) => {
          const cards = held.map((job) => ({
            number: job.number,
            overrides: shownOf(job, jobs),
          }));
          say(heldLine(cards, pendingReason));
        },
      }),
    });
  } finally {
    stopTimer?.();
    interrupt.release();
  }
  const code = interrupt.exitCode() ?? (late.signal.aborted ? TIMED_OUT : undefined);
  // A scheduler that does not answer must not delay a user who has ended the waiting.
  const timeLimit = code === undefined ? undefined : AbortSignal.timeout(LAST_STATUS_MS);
  const { rows, view } = await readSweepStatus({
    ...sweep,
    ...(timeLimit && { signal: timeLimit }),
  });
  console.stdout(json ? `${JSON.stringify(view, null, 2)}\n` : summary(view, cwd));
  if (code === TIMED_OUT)
    console.stderr("Timeout: the waiting has ended, but the sweep continues\n");
  else if (code !== undefined) console.stderr("The waiting has ended, but the sweep continues\n");
  const manifest = readManifest(folder);
  // A sweep in a scheduler has no process of its own that writes tables at its end; the basic launcher writes none, as
  // in Hydra.
  if (code === undefined && !basicLauncher.targets.includes(manifest.launcher))
    collectIfAllowed(sweep, rows, console);
  return code ?? recordedExitCode(folder, manifest);
}

/** The waiting user may have no permission to write there, and needs only the exit code. */
function collectIfAllowed(
  { directory, env }: StatusRequest,
  rows: readonly SweepRow[],
  { stderr }: Console,
): void {
  try {
    writeSweepTables(directory, rows);
    writeSweepPage(directory, directory, rows, env);
  } catch (error) {
    if (!(isError(error) && "syscall" in error)) throw error;
    stderr(`Cannot write the tables of the sweep: ${namedFileProblem(error)}\n`);
  }
}

async function cancel(sweep: StatusRequest, { console, cwd }: Invocation): Promise<number> {
  const say = (line: string) => console.stderr(`${line}\n`);
  const wasRunning = await cancelSweep({ ...sweep, say });
  const { view } = await readSweepStatus(sweep);
  console.stdout(`${wasRunning ? "Cancelled" : "Nothing of it is running"}; ${summary(view, cwd)}`);
  return view.exit_code === null ? 1 : 0;
}

async function watch(
  sweep: StatusRequest,
  port: number,
  { stderr, stdout }: Console,
): Promise<number> {
  readManifest(sweepFolder(sweep.directory));
  const interrupt = listenForInterrupt();
  try {
    await watchSweep({
      ...sweep,
      port,
      signal: interrupt.signal,
      onAddress(address) {
        stdout(`${address}\n`);
        stderr("The page of the sweep while it runs; Ctrl-C ends only the watching\n");
      },
    });
  } catch (error) {
    throw portError(error, port);
  } finally {
    interrupt.release();
  }
  const code = interrupt.exitCode();
  if (code === undefined) stderr("The sweep is over\n");
  return code ?? 0;
}

async function collect(sweep: StatusRequest, console: Console): Promise<number> {
  const { directory, env } = sweep;
  const { rows } = await readSweepStatus(sweep);
  const tables = writeSweepTables(directory, rows);
  for (const file of [...tables, ...writeSweepPage(directory, directory, rows, env)])
    console.stdout(`${directory}/${file}\n`);
  return 0;
}

/** For long sweeps: the notable jobs, and how to see the others. */
function shortView(view: SweepView, invocation: Invocation): string {
  const notable = (["damaged", "failed", "timed_out", "running"] as const).flatMap((status) =>
    view.jobs.filter((job) => job.status === status),
  );
  const left = notable.length - MOST_NOTABLE;
  const shown = shownView(view, notable.slice(0, MOST_NOTABLE), invocation, left);
  return `${shown}  ${nextCommand("status", view.directory, typedCommand(invocation)?.hydraconf)} --all   each job; --only failed,running of these\n`;
}

/**
 * `hydraconf sweep status`: a line per job, and a summary.
 *
 * @param left number of further jobs
 */
function shownView(
  view: SweepView,
  jobs: readonly JobView[],
  { console, cwd }: Invocation,
  left = 0,
): string {
  if (jobs.length === 0) return summary(view, cwd);
  const hasScheduler = jobs.some(({ scheduler }) => scheduler !== null);
  const recorded = new Map(
    readManifest(sweepFolder(view.directory)).jobs.map((job) => [job.number, job.task_overrides]),
  );
  const overrides = distinctOverrides(
    jobs.map(({ number }) => ({ overrides: recorded.get(number) ?? [] })),
  );
  const rows = jobs.map((job, index) => [
    String(job.number),
    overrides[index] ?? "",
    shownStatus(job),
    ...(hasScheduler ? [scheduled(job)] : []),
    String(job.attempts),
    job.seconds === null ? "" : job.seconds.toFixed(1),
    printable(job.error ?? ""),
  ]);
  const waiting = pendingLines(jobs.map((job, index) => ({ job, text: overrides[index] ?? "" })));
  const head = ["#", "Overrides", "Status", "Attempts", "Seconds", "Error"];
  if (hasScheduler) head.splice(3, 0, "Scheduler");
  const more = left > 0 ? `and ${left} more\n` : "";
  return `${drawTable([head, ...rows], { width: console.stdoutWidth })}${more}${waiting}${summary(view, cwd)}`;
}

/** One line for all jobs that wait for the same reason. */
function pendingLines(jobs: readonly { readonly job: JobView; readonly text: string }[]): string {
  const waiting = new Map<string, { number: number; overrides: string }[]>();
  for (const { job, text } of jobs) {
    const pendingReason = job.scheduler?.pendingReason;
    if (pendingReason == null) continue;
    const same = waiting.get(pendingReason) ?? [];
    same.push({ number: job.number, overrides: text });
    waiting.set(pendingReason, same);
  }
  return [...waiting].map(([pendingReason, held]) => `${heldLine(held, pendingReason)}\n`).join("");
}

const scheduled = ({ scheduler }: JobView): string =>
  scheduler === null ? "" : `${scheduler.id} ${scheduler.state}`;

/** The overrides that distinguish each job. Computed once per list, since a list of jobs may be long. */
function createShownOverrides(): (job: ManifestJob, jobs: readonly ManifestJob[]) => string {
  let latest: readonly ManifestJob[] = [];
  let shown: ReadonlyMap<number, string> = new Map();
  return ({ number }, jobs) => {
    if (jobs !== latest) {
      const texts = distinctOverrides(jobs.map((job) => ({ overrides: job.task_overrides })));
      shown = new Map(jobs.map((job, index) => [job.number, texts[index] ?? ""]));
      latest = jobs;
    }
    return shown.get(number) ?? "";
  };
}

/** How a job of the sweep ended, in the format of progress lines without a terminal. */
export function endLine(overrides: string, { attempts, number, status }: JobState): string {
  const last = attempts.at(-1);
  const time =
    last === undefined || last.ended === null
      ? ""
      : ` ${status === "completed" ? "in" : "after"} ${durationText(tookMs(last))}`;
  const { error } = last ?? {};
  const why = error == null || status === "completed" ? "" : `: ${printable(error)}`;
  return `#${number}${overrides === "" ? "" : ` ${overrides}`}: ${status}${time}${why}`;
}

/** The program as it was typed, from the directory where that command is valid. */
const programFrom = (view: Pick<SweepView, "cwd" | "program_command">, cwd: string): string =>
  view.cwd === cwd || !/[\s/]/.test(view.program_command)
    ? view.program_command
    : `cd ${shellQuote(view.cwd)} && ${view.program_command}`;

/** A summary of the jobs and the process that runs them, and the command that continues a sweep without one. */
export function summary(view: SweepView, cwd = view.cwd): string {
  const { counts, directory, driver, jobs, more_to_come, scheduler_problem } = view;
  const leftOut = jobs.filter(({ left_out }) => left_out).length;
  const first = `${countsText(counts)}${leftOut === 0 ? "" : `; ${leftOut} of these ${leftOut === 1 ? "does" : "do"} not count (left_out)`}`;
  const inScheduler = jobs.filter(({ scheduler }) => scheduler !== null).length;
  const toDo = (counts.missing ?? 0) + (counts.stopped ?? 0);
  const failed = jobs.map(({ status }) => status).filter(isFailure);
  const isLeft =
    driver === null &&
    inScheduler === 0 &&
    scheduler_problem === null &&
    (counts.running ?? 0) === 0;
  const who =
    driver !== null
      ? `; process ${driver.pid} on ${driver.host} runs it`
      : inScheduler > 0 || scheduler_problem !== null
        ? [
            inScheduler > 0 ? `; the scheduler has ${inScheduler} of them` : "",
            scheduler_problem === null ? "" : `; ${printable(scheduler_problem)}`,
          ].join("")
        : toDo > 0
          ? "; no launcher runs it"
          : more_to_come
            ? "; no launcher runs it, and more jobs were to come"
            : "";
  const command = (flag: string, what: string) =>
    `  ${programFrom(view, cwd)} ${flag} ${shellQuote(directory)}   ${what}\n`;
  const isCutOff = toDo > 0 || (more_to_come && failed.length === 0);
  const next =
    isLeft && counts.damaged !== undefined
      ? command("--resume", "tells of the damaged records how to go on")
      : !isLeft || (!isCutOff && failed.length === 0)
        ? ""
        : isCutOff
          ? command("--resume", "runs the missing jobs")
          : command("--retry-failed", `runs the ${jobsToRetry(failed)} again`);
  return `${first}${who}\n${next}`;
}
