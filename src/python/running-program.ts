/** The processes of programs: started, signalled, and followed to their end and their last output. */
import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { startProblem } from "../foundation/system/find-program.ts";
import type { Signal } from "../foundation/system/platform-types.ts";

/** How a program ended. */
export interface ProgramEnd {
  /** Null if a signal ended it, or it never started. */
  readonly code: number | null;
  readonly signal: Signal | null;
  /** Why it never started. */
  readonly problem?: string;
}

/** A program to start. */
export interface ProgramStart {
  readonly argv: readonly string[];
  /** Variables to add to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Whether a program of Hydra finds a `hydra.mode` in the config of its job. */
  readonly hasMode: boolean;
  readonly readsStdin: boolean;
  readonly onErrors: (chunk: Buffer) => void;
  /** Absent: its standard output is that of this process. */
  readonly onOutput?: (chunk: Buffer) => void;
}

export interface RunningProgram {
  kill(signal: Signal): void;
  /** Resolves after its last output. */
  readonly ended: Promise<ProgramEnd>;
}

/** Without execa: loading it would take as long as many programs run, for each job that a launcher starts. */
export function startProgram(start: ProgramStart): RunningProgram {
  const child = spawnProgram(start, start.argv, start.env);
  return { kill: (signal) => void child.kill(signal), ended: endOf(child) };
}

export function spawnProgram(
  { cwd, onErrors, onOutput, readsStdin }: Omit<ProgramStart, "argv" | "env">,
  [file = "", ...args]: readonly string[],
  env: Readonly<Record<string, string>>,
): ChildProcess {
  const child = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [readsStdin ? "inherit" : "ignore", onOutput === undefined ? "inherit" : "pipe", "pipe"],
  });
  if (onOutput !== undefined) child.stdout?.on("data", onOutput);
  child.stderr?.on("data", onErrors);
  return child;
}

/** Waits for a program's end and its last output, after which it does not keep this process alive. */
export const endOf = (child: ChildProcess): Promise<ProgramEnd> =>
  new Promise((settle) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      settle({ code: null, signal: null, problem: startProblem(error.code, error.message) }),
    );
    child.once("exit", (code, signal) => {
      const pipes = [child.stdout, child.stderr].filter((pipe) => pipe !== null);
      void lastWords(pipes, new Promise((closed) => child.once("close", closed))).then(() =>
        settle({ code, signal }),
      );
    });
  });

/** Waits until pipes are closed, but not forever: processes that a program left behind may hold them open. */
export const lastWords = (pipes: readonly Readable[], closed: Promise<unknown>): Promise<void> =>
  new Promise((settle) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const pipe of pipes)
        if ("unref" in pipe && typeof pipe.unref === "function") pipe.unref();
      settle();
    };
    const timer = setTimeout(end, LAST_WORDS_MS);
    void closed.then(end);
  });

const LAST_WORDS_MS = 500;
