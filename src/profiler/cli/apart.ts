/**
 * Makes reports in a separate process: this one can then handle signals, which it could not while reading millions of
 * ranges, and survives if the other one runs out of memory.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import type { CommandLine } from "../../app/command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../app/command-line/parse.ts";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { openGuard } from "../../foundation/system/process-guard.ts";
import { groupsBelow, signalGroup } from "../../foundation/system/process-signals.ts";
import { interruptOf, listenForInterrupt, signalExitCode } from "../machine/stop-signals.ts";
import type { Subcommand, SubcommandIo } from "./subcommand.ts";

export interface ApartOptions {
  /** The command that starts this program again. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly cwd: string;
  /** Ends the other process and the tools that it runs. */
  readonly stop: AbortSignal;
  readonly writeError: (text: string) => void;
}

export type ApartEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "stopped" }
  | { readonly kind: "out_of_memory" }
  | { readonly kind: "failed"; readonly message: string };

/** An environment variable that is set for the other process. */
const IS_APART = "DEEP_PROFILE_APART";

/** The first line that V8 prints for a full heap, before a stack of its own functions. */
const OUT_OF_HEAP = /^<--- Last few GCs --->|^FATAL ERROR: .*(?:out of memory|heap limit)/;

export async function runApart(options: ApartOptions): Promise<ApartEnd> {
  const { command, args, cwd, stop, writeError } = options;
  const [program = process.execPath, ...leading] = command;
  if (stop.aborted) return { kind: "stopped" };
  const guard = openGuard();
  const child = spawn(program, [...leading, ...args], {
    cwd,
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...process.env, [IS_APART]: "1" },
  });
  if (child.pid !== undefined) guard.watch(child.pid);
  const end = endOnAbort(child, stop);
  let isFull = false;
  const lines = createInterface({ input: child.stderr });
  lines.on("line", (line) => {
    isFull ||= OUT_OF_HEAP.test(line);
    // A stop is reported by this process, together with its consequences.
    if (!isFull && !stop.aborted) writeError(`${line}\n`);
  });
  try {
    const { code, signal } = await new Promise<{
      readonly code: number | null;
      readonly signal: Signal | null;
    }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exit, by) => resolve({ code: exit, signal: by }));
    });
    if (stop.aborted) return { kind: "stopped" };
    // Linux kills the largest process if the machine or a container runs out of memory.
    if (isFull || signal === "SIGKILL" || signal === "SIGABRT") return { kind: "out_of_memory" };
    if (code === null) return { kind: "failed", message: `ended by ${signal}` };
    return { kind: "exited", code };
  } catch (error) {
    return { kind: "failed", message: messageOf(error) };
  } finally {
    end.dispose();
    guard.release();
    lines.close();
  }
}

/**
 * The time in milliseconds in which a process that is to end can remove what it began; a process that is busy reading
 * does not use it.
 */
const GRACE_MS = 400;

function endOnAbort(child: ChildProcess, stop: AbortSignal) {
  let timer: NodeJS.Timeout | undefined;
  const kill = (): void => void child.kill("SIGKILL");
  const endTools = (): void => {
    // Tools are in process groups of their own, and would outlive the process that started them.
    const groups = child.pid === undefined ? [] : groupsBelow(child.pid);
    for (const group of groups) signalGroup(group, "SIGKILL");
    if (groups.length === 0) kill();
    else timer = setTimeout(kill, GRACE_MS);
  };
  const end = (): void => {
    child.kill(interruptOf(stop));
    timer = setTimeout(endTools, GRACE_MS);
  };
  stop.addEventListener("abort", end, { once: true });
  return {
    dispose: () => {
      clearTimeout(timer);
      stop.removeEventListener("abort", end);
    },
  };
}

/** @param again the command that makes the reports, quoted for a shell */
export const outOfMemory = (again: string): string =>
  `out of memory while reports were made; what was measured is kept. With more memory: NODE_OPTIONS=--max-old-space-size=16000 ${again}; with less to keep: fewer different labels (labels.fold, labels.rules; --fold, --label-rule)`;

/** Larger files take a noticeable time, and may take more memory than there is. */
const LARGE_BYTES = 1e6;
/** The levels of folders that are searched: those of a run, of a tool, and of its repeats. */
const LEVELS = 4;

/** A subcommand that reads files, which may be large. */
export interface ReadingSubcommand {
  readonly line: CommandLine;
  readonly run: Subcommand["run"];
  /**
   * Called before the other process starts.
   *
   * @returns removes what that process had begun when it was killed
   */
  readonly begin: (command: ParsedCommand, io: SubcommandIo) => Promise<() => void>;
  /** Called if a signal ended the other process; returns the message for the user. */
  readonly stopped: (command: ParsedCommand, io: SubcommandIo, signal: Signal) => Promise<string>;
}

/** Runs a subcommand in a separate process if the given files are large. */
export const apartIfLarge =
  ({ line, run, begin, stopped }: ReadingSubcommand): Subcommand["run"] =>
  async (args, io) => {
    const { command: program, env, cwd, console } = io;
    const paths = args.filter((arg) => !arg.startsWith("-")).map((arg) => resolve(cwd, arg));
    const bytes = paths.reduce((sum, path) => sum + bytesOf(path, LEVELS), 0);
    if (program === undefined || (env[IS_APART] ?? "") !== "" || bytes <= LARGE_BYTES)
      return run(args, io);
    const command = parseCommandLine(line, args);
    if (command.has("help")) return run(args, io);
    const name = line.name.split(" ").slice(1);
    const { stop, dispose } = listenForInterrupt();
    try {
      const removeBegun = await begin(command, io);
      const options = {
        ...{ command: program, args: [...name, ...args] },
        ...{ cwd, stop, writeError: console.stderr },
      };
      const end = await runApart(options);
      if (end.kind === "exited") return end.code;
      removeBegun();
      if (end.kind === "stopped") {
        const signal = interruptOf(stop);
        console.stderr(`stopped by ${signal}; ${await stopped(command, io, signal)}\n`);
        return signalExitCode(signal);
      }
      console.stderr(
        end.kind === "out_of_memory" ? `${outOfMemory(`${line.name} ...`)}\n` : `${end.message}\n`,
      );
      return 1;
    } finally {
      dispose();
    }
  };

/** The stored bytes of a file, or of the files in a directory, without the holes of sparse files. */
function bytesOf(path: string, levels: number): number {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return 0;
    if (!status.isDirectory()) return Math.min(status.size, status.blocks * 512);
    if (levels === 0) return 0;
    return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name), levels - 1), 0);
  } catch {
    // The error is reported when the file is read.
    return 0;
  }
}
