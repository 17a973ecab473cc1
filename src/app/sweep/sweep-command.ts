import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { printable } from "../../printable.ts";
import { ConfigError } from "../../values/errors.ts";
import { nearest } from "../../values/nearest.ts";
import { listenForInterrupt } from "../interrupt.ts";
import type { Invocation } from "../invocation.ts";
import { basicLauncher } from "../launchers/basic-launcher.ts";
import { startTimer } from "../long-timer.ts";
import type { SubcommandLine } from "../subcommand.ts";
import { heldLine } from "./board/event-line.ts";
import { cancelSweep } from "./cancel.ts";
import { type SweepRow, writeSweepTables } from "./collect.ts";
import { lookAtSweep, recordedExitCode } from "./look.ts";
import { SWEEP_ACTIONS, type SweepAction } from "./next-commands.ts";
import { sweepFolder } from "./record/layout.ts";
import { readManifest } from "./record/manifest.ts";
import { createShownOverrides, endLine, shownView, summary } from "./shown-view.ts";
import { waitForSweep } from "./wait.ts";

const HELP = `hydraconf sweep looks after the recorded sweep in DIR (hydra.sweep.dir), of any program.

  hydraconf sweep status DIR     how its jobs stand, a line each
  hydraconf sweep wait DIR       waits for its end, whoever runs it; Ctrl-C ends the waiting, not the sweep
  hydraconf sweep cancel DIR     ends what runs of it; what is done stays done, --resume runs the rest
  hydraconf sweep collect DIR    writes sweep.json, sweep.csv and sweep.md into DIR: a row per job

  hydraconf sweep ACTION --help  more about one of them
`;

const DETAILS: Readonly<Record<SweepAction, string>> = {
  status: `usage: hydraconf sweep status [--json] DIR

Shows how the jobs of a sweep stand, also while it runs, and what runs it. Jobs record themselves what
becomes of them; jobs on Slurm that have not are asked about by squeue and scontrol. A job is 'missing'
if nobody is about to run it: --resume does.

      --json    the same as data
  -h, --help    print this help

Exit code: 0 all jobs are completed, 1 they are not, 2 wrong usage.
`,
  wait: `usage: hydraconf sweep wait [--timeout SECONDS] [--json] DIR

Waits until nothing of a sweep runs any more, and prints a line for each job that ends meanwhile, and for jobs
that Slurm holds, with what to do about it. Ctrl-C ends the waiting, not the sweep.

      --timeout SECONDS    wait no longer than that
      --json               at the end, print what 'status --json' does, and no lines before
  -h, --help               print this help

Exit code: the one that the sweep has in the foreground (0 all jobs are completed); 124 out of time,
130 Ctrl-C, 2 wrong usage.
`,
  cancel: `usage: hydraconf sweep cancel DIR

Ends all that runs of a sweep: the process that runs it, its workers, its jobs on Slurm. Each is asked to
end (SIGTERM, scancel) and killed 10 seconds later. Jobs that are done stay done; PROGRAM --resume DIR runs
those that were ended or never started. Where nothing runs, nothing happens.

  -h, --help    print this help

Exit code: 0 nothing of it runs any more, 1 something runs where it cannot be reached, 2 wrong usage.
`,
  collect: `usage: hydraconf sweep collect DIR

Writes what a sweep came to into its directory, as sweep.json, sweep.csv and sweep.md: a row per job, a
column for each key that overrides set and each field of the results. Also while it runs.

  -h, --help    print this help

Exit code: 0 written, 1 no sweep, 2 wrong usage.
`,
};

const OPTIONS = {
  status: { json: "boolean" },
  wait: { json: "boolean", timeout: "string" },
  cancel: {},
  collect: {},
} as const satisfies Readonly<Record<SweepAction, Readonly<Record<string, "boolean" | "string">>>>;

/** For shell completion. */
export const SWEEP_LINE: SubcommandLine = {
  actions: SWEEP_ACTIONS,
  options: {
    json: { help: "of status and wait: print JSON" },
    timeout: { value: "SECONDS", help: "of wait: wait no longer than that" },
  },
};

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
  const { stdout } = invocation.console;
  const [first = ""] = args;
  if (["--help", "-h"].includes(first)) {
    stdout(HELP);
    return 0;
  }
  const action = actionOf(first);
  const { json, name, timeout } = parse(action, args.slice(1));
  if (name === undefined) {
    stdout(DETAILS[action]);
    return 0;
  }
  const directory = resolve(invocation.cwd, name);
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

function actionOf(word: string): SweepAction {
  const names = Object.keys(SWEEP_ACTIONS) as SweepAction[];
  const action = names.find((name) => name === word);
  if (action !== undefined) return action;
  const near = nearest(word, names);
  throw new ConfigError({
    code: "app.usage",
    message:
      word === ""
        ? "expected an action and the directory of a sweep"
        : `expected an action, not '${word}'`,
    ...(near !== undefined && { nearest: near }),
    hint: names.map((name) => `hydraconf sweep ${name} DIR`).join(", "),
  });
}

interface Parsed {
  /** Undefined where help was asked for. */
  readonly name: string | undefined;
  readonly json: boolean;
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

function parse(action: SweepAction, args: readonly string[]): Parsed {
  const types: Readonly<Record<string, "boolean" | "string">> = OPTIONS[action];
  const { tokens } = parseArgs({
    args: [...args],
    options: {
      ...Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])),
      help: { type: "boolean", short: "h" },
    },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const names: string[] = [];
  let json = false;
  let timeout: number | undefined;
  for (const token of tokens) {
    if (token.kind === "positional") names.push(token.value);
    if (token.kind !== "option") continue;
    if (token.name === "help") return { name: undefined, json, timeout };
    if (!Object.hasOwn(types, token.name)) throw unknownOption(token.rawName, Object.keys(types));
    if (types[token.name] === "boolean" && token.value !== undefined)
      throw usage(
        `${token.rawName} takes no value`,
        `hydraconf sweep ${action} ${token.rawName} DIR`,
      );
    if (token.name === "json") json = true;
    if (token.name === "timeout") timeout = milliseconds(token.value);
  }
  const [name, ...more] = names;
  if (name === undefined || more.length > 0)
    throw usage(`${action}: expected the directory of one sweep`, `hydraconf sweep ${action} DIR`);
  return { name, json, timeout };
}

function milliseconds(text: string | undefined): number {
  const seconds = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  if (seconds >= 0) return seconds * 1000;
  throw usage("--timeout: expected a number of seconds", "hydraconf sweep wait --timeout 3600 DIR");
}

function unknownOption(name: string, known: readonly string[]): ConfigError {
  const near = nearest(name.replace(/^-+/, ""), [...known, "help"]);
  return new ConfigError({
    code: "app.usage",
    message: `unknown option ${name}`,
    ...(near !== undefined && { nearest: `--${near}` }),
  });
}

const usage = (message: string, hint: string): ConfigError =>
  new ConfigError({ code: "app.usage", message, hint });

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
  { json, timeout }: Pick<Parsed, "json" | "timeout">,
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
    console.stderr("Out of time: the sweep goes on, only the waiting has ended\n");
  else if (code !== undefined) console.stderr("The sweep goes on, only the waiting has ended\n");
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
    stderr(`The tables of the sweep cannot be written: ${error.message}\n`);
  }
}

async function cancel(directory: string, { console, env }: Invocation): Promise<number> {
  const say = (line: string) => console.stderr(`${line}\n`);
  const wasRunning = await cancelSweep({ directory, env, say });
  const { view } = await lookAtSweep(directory, env);
  console.stdout(`${wasRunning ? "Cancelled" : "Nothing of it runs"}; ${summary(view)}`);
  return view.exit_code === null ? 1 : 0;
}

async function collect(directory: string, { console, env }: Invocation): Promise<number> {
  const { rows } = await lookAtSweep(directory, env);
  for (const file of writeSweepTables(directory, rows)) console.stdout(`${directory}/${file}\n`);
  return 0;
}
