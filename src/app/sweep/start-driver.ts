import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, fstatSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import { DRIVER_VARIABLE, DRIVES } from "../worker/driver-mark.ts";
import { lastLines } from "../worker/log-tail.ts";

export interface DriverStart {
  /** What starts the program: `[node, ..., script]`. */
  readonly command: readonly string[];
  /** Its arguments: those that carry the sweep on. */
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The file for all that it prints; appended to. */
  readonly log: string;
  /** Is told the process as soon as there is one. */
  readonly onStart: (pid: number) => void;
  /** Ends the waiting for its first word; what becomes of the process is then the caller's. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a process that carries a sweep on when this one, its terminal and its session are gone: the leader
 * of a session of its own, with nothing to read and its output in a file.
 *
 * @returns its process id, once it drives the sweep
 * @throws ConfigError `app.launcher` where it ended before, with what it said last, and where the signal came
 */
export async function startDriver(request: DriverStart): Promise<number> {
  const { args, command, cwd, env, log, onStart, signal } = request;
  const [file = "", ...first] = command;
  makeDirectory(dirname(log));
  const output = openSync(log, "a", 0o600);
  const before = fstatSync(output).size;
  // Not execa, which pipes through us; `detached` is setsid: no terminal reaches it.
  const child = spawn(file, [...first, ...args], {
    cwd,
    env: { ...env, [DRIVER_VARIABLE]: "1" },
    stdio: ["ignore", output, output, "ipc"],
    detached: true,
  });
  closeSync(output);
  if (child.pid !== undefined) onStart(child.pid);
  const problem = await firstWord(child, signal);
  if (child.connected) child.disconnect();
  child.unref();
  if (problem === undefined) return child.pid ?? 0;
  const said = lastLines(log, LINES, before).join("\n");
  throw new ConfigError({
    code: "app.launcher",
    message: `The process that was to run the sweep ${problem}${said === "" ? "" : `:\n${said}`}`,
    hint: `its full output is in ${log}`,
  });
}

/** Undefined once it drives the sweep; else why it will not. */
const firstWord = (child: ChildProcess, stop?: AbortSignal): Promise<string | undefined> =>
  new Promise((settle) => {
    const onStop = () => settle("was not waited for");
    stop?.addEventListener("abort", onStop, { once: true });
    if (stop?.aborted === true) onStop();
    child.once("error", ({ message }) => settle(`could not be started: ${message}`));
    child.once("message", (word) => word === DRIVES && settle(undefined));
    child.once("exit", (code, signal) =>
      settle(signal === null ? `ended with code ${code}` : `was killed by ${signal}`),
    );
  });

/** Of what it said, as many lines. */
const LINES = 12;
