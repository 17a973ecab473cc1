import { resolve } from "node:path";
import { startTimer } from "../../system/long-timer.ts";
import { printable } from "../../text/printable.ts";
import { basicLauncher } from "../launchers/basic-launcher.ts";
import { listenForInterrupt } from "../process/interrupt.ts";
import type { Invocation } from "../process/invocation.ts";
import { heldLine } from "./board/event-line.ts";
import { cancelSweep } from "./cancel.ts";
import { lookAtSweep, recordedExitCode } from "./look.ts";
import { sweepFolder } from "./record/layout.ts";
import { readManifest } from "./record/manifest.ts";
import { createShownOverrides, endLine, shownView, summary } from "./shown-view.ts";
import { parseSweepLine } from "./sweep-line.ts";
import type { SweepRow } from "./sweep-rows.ts";
import { writeSweepTables } from "./sweep-tables.ts";
import { waitForSweep } from "./wait.ts";

const TIMED_OUT = 124;

const LAST_LOOK_MS = 1_000;

/**
 * `hydraconf sweep`: looks after a recorded sweep of any program.
 *
 * @throws ConfigError `app.usage`, and `app.sweep_record` where there is no sweep
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
  const { action, json, timeout } = request;
  const directory = resolve(invocation.cwd, request.directory);
  switch (action) {
    case "status":
      return status(directory, json, invocation);
    case "wait":
      return wait(directory, { json, timeout }, invocation);
    case "cancel":
      return cancel(directory, invocation);
    case "collect":
      return collect(directory, invocation);
  }
}

async function status(
  directory: string,
  json: boolean,
  { console, env }: Invocation,
): Promise<number> {
  const { view } = await lookAtSweep(directory, env);
  console.stdout(json ? `${JSON.stringify(view, null, 2)}\n` : shownView(view));
  return !view.more_to_come && view.jobs.every((job) => job.status === "completed") ? 0 : 1;
}

async function wait(
  directory: string,
  { json, timeout }: { readonly json: boolean; readonly timeout: number | undefined },
  { console, env }: Invocation,
): Promise<number> {
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
      directory,
      env,
      signal: AbortSignal.any([interrupt.signal, late.signal]),
      ...(!json && {
        onEnd: (job, state, jobs) => say(endLine(shownOf(job, jobs), state)),
        onHeld: (held, obstacle, jobs) => {
          const cards = held.map((job) => ({
            number: job.number,
            overrides: shownOf(job, jobs),
          }));
          say(heldLine(cards, printable(obstacle)));
        },
      }),
    });
  } finally {
    stopTimer?.();
    interrupt.release();
  }
  const code = interrupt.exitCode() ?? (late.signal.aborted ? TIMED_OUT : undefined);
  // A scheduler that is silent must not hold up who does not want to wait any more.
  const patience = code === undefined ? undefined : AbortSignal.timeout(LAST_LOOK_MS);
  const { rows, view } = await lookAtSweep(directory, env, patience);
  console.stdout(json ? `${JSON.stringify(view, null, 2)}\n` : summary(view));
  if (code === TIMED_OUT)
    console.stderr("Timeout: the waiting has ended, but the sweep continues\n");
  else if (code !== undefined) console.stderr("The waiting has ended, but the sweep continues\n");
  const manifest = readManifest(folder);
  // Nobody else is there at the end of a sweep that a scheduler alone had; a plain one stays as Hydra leaves it.
  if (code === undefined && !basicLauncher.targets.includes(manifest.launcher))
    collectIfAllowed(directory, rows, console);
  return code ?? recordedExitCode(folder, manifest);
}

/** Who waits may be somebody else than who may write there: the exit code is what they came for. */
function collectIfAllowed(
  directory: string,
  rows: readonly SweepRow[],
  { stderr }: Invocation["console"],
): void {
  try {
    writeSweepTables(directory, rows);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    stderr(`Cannot write the tables of the sweep: ${error.message}\n`);
  }
}

async function cancel(directory: string, { console, env }: Invocation): Promise<number> {
  const say = (line: string) => console.stderr(`${line}\n`);
  const wasRunning = await cancelSweep({ directory, env, say });
  const { view } = await lookAtSweep(directory, env);
  console.stdout(`${wasRunning ? "Cancelled" : "Nothing of it is running"}; ${summary(view)}`);
  return view.exit_code === null ? 1 : 0;
}

async function collect(directory: string, { console, env }: Invocation): Promise<number> {
  const { rows } = await lookAtSweep(directory, env);
  for (const file of writeSweepTables(directory, rows)) console.stdout(`${directory}/${file}\n`);
  return 0;
}
