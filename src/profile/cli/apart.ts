/**
 * Makes reports in a process of its own: this one stays free to hear a signal, which it otherwise does not for as long as
 * millions of ranges are read, and lives on where the other one runs out of memory.
 */
import { spawn } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { interruptOf, listenForInterrupt, signalExitCode } from "../machine/interrupt.ts";
import type { Subcommand } from "./subcommand.ts";

export interface ApartOptions {
  /** What starts this program again. */
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly cwd: string;
  /** Ends the other process at once. */
  readonly stop: AbortSignal;
  readonly writeError: (text: string) => void;
}

export type ApartEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "stopped" }
  | { readonly kind: "out_of_memory" }
  | { readonly kind: "failed"; readonly message: string };

/** Set for the other process. */
const IS_APART = "DEEP_PROFILE_APART";

/** What V8 prints first where its heap is full; a stack of its own functions follows. */
const OUT_OF_HEAP = /^<--- Last few GCs --->|^FATAL ERROR: .*(?:out of memory|heap limit)/;

export async function runApart(options: ApartOptions): Promise<ApartEnd> {
  const { command, args, cwd, stop, writeError } = options;
  const [program = process.execPath, ...before] = command;
  if (stop.aborted) return { kind: "stopped" };
  const child = spawn(program, [...before, ...args], {
    cwd,
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...process.env, [IS_APART]: "1" },
  });
  const kill = () => void child.kill("SIGKILL");
  stop.addEventListener("abort", kill);
  let isFull = false;
  const lines = createInterface({ input: child.stderr });
  lines.on("line", (line) => {
    isFull ||= OUT_OF_HEAP.test(line);
    if (!isFull) writeError(`${line}\n`);
  });
  try {
    const { code, signal } = await new Promise<{
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
    }>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (exit, by) => resolve({ code: exit, signal: by }));
    });
    if (stop.aborted) return { kind: "stopped" };
    // Linux ends the largest process where the machine, or a container, has no memory left.
    if (isFull || signal === "SIGKILL" || signal === "SIGABRT") return { kind: "out_of_memory" };
    if (code === null) return { kind: "failed", message: `ended by ${signal}` };
    return { kind: "exited", code };
  } catch (error) {
    return { kind: "failed", message: error instanceof Error ? error.message : String(error) };
  } finally {
    stop.removeEventListener("abort", kill);
    lines.close();
  }
}

/** @param again the command that makes the reports, as a shell takes it */
export const outOfMemory = (again: string): string =>
  `out of memory while reports were made; what was measured is kept. With more memory: NODE_OPTIONS=--max-old-space-size=16000 ${again}; with less to keep: fewer different labels (labels.fold, labels.rules; --fold, --label-rule)`;

/** Reading more takes a noticeable time, and more memory than there may be. */
const LARGE_BYTES = 4e6;

/** A subcommand that reads the files that it is given: in a process of its own where they are large. */
export const apartIfLarge =
  (name: string, run: Subcommand["run"]): Subcommand["run"] =>
  async (args, io) => {
    const { command, env, cwd, console } = io;
    const given = args.filter((arg) => !arg.startsWith("-")).map((arg) => resolve(cwd, arg));
    const bytes = given.reduce((sum, path) => sum + bytesOf(path, 2), 0);
    if (command === undefined || (env[IS_APART] ?? "") !== "" || bytes <= LARGE_BYTES)
      return run(args, io);
    const { stop, dispose } = listenForInterrupt();
    try {
      const options = { command, args: [name, ...args], cwd, stop, writeError: console.stderr };
      const end = await runApart(options);
      if (end.kind === "exited") return end.code;
      if (end.kind === "stopped") {
        console.stderr(`stopped by ${interruptOf(stop)}; not all reports were written\n`);
        return signalExitCode(interruptOf(stop));
      }
      console.stderr(
        end.kind === "out_of_memory"
          ? `${outOfMemory(`deep-profile ${name} ...`)}\n`
          : `${end.message}\n`,
      );
      return 1;
    } finally {
      dispose();
    }
  };

/** Of what is stored of a file, or of files in a directory: holes of sparse ones are not read. */
function bytesOf(path: string, levels: number): number {
  try {
    const status = statSync(path, { throwIfNoEntry: false });
    if (status === undefined) return 0;
    if (!status.isDirectory()) return Math.min(status.size, status.blocks * 512);
    if (levels === 0) return 0;
    return readdirSync(path).reduce((sum, name) => sum + bytesOf(join(path, name), levels - 1), 0);
  } catch {
    // Reading it says what is wrong.
    return 0;
  }
}
