/**
 * Keeps an interpreter of Python that has imported a program of Hydra, and forks a process of it for each job: the jobs of a worker
 * share one import.
 */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Signal } from "../foundation/system/platform-types.ts";
import { printable } from "../foundation/text/printable.ts";
import { interpreterWords, type Program } from "./program-command-line.ts";
import { type PlacedCallback, type PythonFiles, placeCallback } from "./python-callbacks.ts";
import {
  endOf,
  lastWords,
  type ProgramEnd,
  type ProgramStart,
  type RunningProgram,
  spawnProgram,
  startProgram,
} from "./running-program.ts";
import COMPOSITIONS from "./sources/hydraconf_compositions.py";
import WARM from "./sources/hydraconf_warm.py";

const SERVER_FILE = "hydraconf_warm.py";

/** What lets compositions of one process share what they can, as Python finds it. */
export const COMPOSITION_FILES: PythonFiles = { "hydraconf_compositions.py": COMPOSITIONS };

/** The value of `hydra.launcher.warm`; null: where it is safe. */
export type WarmChoice = boolean | null;

export interface WarmPython {
  /** How the jobs tell their results. */
  readonly callback: PlacedCallback;
  /** Starts a job: in a fork where that is possible, else in an interpreter of its own. */
  start(job: ProgramStart): RunningProgram;
}

interface WarmRequest {
  readonly files: PythonFiles;
  readonly choice: WarmChoice;
  readonly note: (text: string) => void;
}

/**
 * Whether the program can be kept warm: a source that Python itself runs, in a system where threads can be looked at.
 */
export const canBeWarm = (program: Program): boolean =>
  process.platform === "linux" &&
  program.pass === "hydra" &&
  program.app?.kind !== "script" &&
  interpreterWords(program.argv) !== undefined;

/** The interpreter starts with the first job, and ends with this process. */
export function openWarmPython(program: Program, { choice, files, note }: WarmRequest): WarmPython {
  const words = interpreterWords(program.argv) ?? 0;
  const callback = placeCallback(process.env, {
    ...files,
    ...COMPOSITION_FILES,
    [SERVER_FILE]: WARM,
  });
  process.once("exit", callback.remove);
  const path = join(callback.folder, "jobs");
  const state: WarmState = { server: undefined, isRefused: false };
  const refuse = (why: string): void => {
    state.isRefused = true;
    note(`note: each job imports the program anew: ${printable(why)}\n`);
  };
  if (Buffer.byteLength(path) > LONGEST_PATH)
    refuse(`the path of the temporary directory is too long for a socket: ${callback.folder}`);
  const command = {
    path,
    argv: [
      ...program.argv.slice(0, words),
      join(callback.folder, SERVER_FILE),
      path,
      choice === true ? "1" : "0",
      ...program.argv.slice(words),
    ],
    env: { PYTHONPATH: callback.path },
    told: ({ argv, env, hasMode }: ProgramStart): ToldJob => ({
      args: argv.slice(program.argv.length),
      argv,
      env,
      mode: hasMode ? "RUN" : null,
    }),
  };
  return {
    callback,
    start(job) {
      if (state.isRefused) return startProgram(job);
      const open = (): WarmServer => {
        state.server = openServer(command, job);
        return state.server;
      };
      const idle = state.server?.isOver() === false ? state.server : undefined;
      const first = idle ?? open();
      let current: Pick<RunningProgram, "kill"> = first;
      const run = async (server: WarmServer): Promise<ProgramEnd> => {
        current = server;
        const readiness = await server.ready;
        if (readiness.kind === "ended") return readiness.end;
        if (readiness.problem !== null) {
          refuse(readiness.problem);
          // It goes on as this job, for which it was started.
          return server.ended;
        }
        const forked = server.fork(job);
        current = forked;
        const end = await forked.ended;
        if (end !== undefined) return end;
        // It was killed while it waited, which is no failure of this job.
        return server === idle ? run(open()) : server.ended;
      };
      return { kill: (signal) => current.kill(signal), ended: run(first) };
    },
  };
}

/** In bytes, of the path of a socket. */
const LONGEST_PATH = 107;

interface WarmState {
  server: WarmServer | undefined;
  isRefused: boolean;
}

type Readiness =
  /** Null: it waits for jobs. A problem: it runs the first one itself. */
  | { readonly kind: "ready"; readonly problem: string | null }
  /** Before the program called its task: then it would have ended so by itself. */
  | { readonly kind: "ended"; readonly end: ProgramEnd };

/** An interpreter that waits for jobs. */
interface WarmServer extends RunningProgram {
  readonly ready: Promise<Readiness>;
  fork(job: ProgramStart): ForkedProgram;
  isOver(): boolean;
}

interface ForkedProgram extends Pick<RunningProgram, "kill"> {
  /** Undefined: the interpreter ended before the job began. */
  readonly ended: Promise<ProgramEnd | undefined>;
}

/** What keeps this process alive, or not. */
interface Held {
  ref(): unknown;
  unref(): unknown;
}

/** What the interpreter says, in lines of JSON. */
type Message =
  | readonly ["ready", string | null]
  | readonly ["begun", number]
  | readonly ["ended", number | Signal];

/** What the interpreter is told of a job; keys are those that it reads. */
interface ToldJob {
  /** Of the program. */
  readonly args: readonly string[];
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of `hydra.mode` in the config of the job; null if it has none. */
  readonly mode: "RUN" | null;
}

interface ForkedJob extends ToldJob {
  /** The descriptors of standard streams that are sockets of this process. */
  readonly streams: readonly number[];
}

interface ServerStart {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Of its socket. */
  readonly path: string;
  readonly told: (job: ProgramStart) => ToldJob;
}

/** @param first the job of which the program is imported: its output is that of the import, too */
function openServer({ argv, env, path, told }: ServerStart, first: ProgramStart): WarmServer {
  const state: { child?: ChildProcess; isOver: boolean } = { isOver: false };
  const waiting = new Map<Message[0], (message: Message | undefined) => void>();
  const said = <Kind extends Message[0]>(
    kind: Kind,
  ): Promise<Extract<Message, readonly [Kind, unknown]> | undefined> =>
    new Promise((settle) => {
      if (state.isOver) settle(undefined);
      else waiting.set(kind, (message) => settle(message as never));
    });
  const take = (kind: Message[0], message: Message | undefined): void => {
    const settle = waiting.get(kind);
    waiting.delete(kind);
    settle?.(message);
  };
  let line: Socket | undefined;
  let onStream = (_descriptor: number, _stream: Socket): void => {};
  const send = (value: unknown): void => void line?.write(`${JSON.stringify(value)}\n`);
  const server = createServer((socket) =>
    greeted(socket, ([kind, descriptor]) => {
      if (kind === "stream") return onStream(descriptor, socket);
      line = socket;
      send(told(first));
      createInterface(socket)
        .on("line", (text) => {
          const message: Message = JSON.parse(text);
          take(message[0], message);
        })
        // It tells those of its socket again.
        .on("error", () => {});
    }),
  );
  /** Whether this process stays alive for the interpreter. */
  const hold = (isHeld: boolean): void => {
    const { child } = state;
    // Its pipes are sockets, too.
    const held = [child, line, child?.stdout, child?.stderr] as readonly (
      | Held
      | null
      | undefined
    )[];
    for (const handle of held) isHeld ? handle?.ref() : handle?.unref();
  };
  const ready = said("ready");
  const ended = once(server.unref().listen(path), "listening").then((): Promise<ProgramEnd> => {
    const child = spawnProgram(first, argv, env);
    state.child = child;
    const end = endOf(child);
    void end.then(() => {
      state.isOver = true;
      server.close();
      for (const kind of [...waiting.keys()]) take(kind, undefined);
    });
    return end;
  });
  return {
    kill: (signal) => void state.child?.kill(signal),
    ended,
    ready: ready.then(async (message) =>
      message === undefined
        ? { kind: "ended", end: await ended }
        : { kind: "ready", problem: message[1] },
    ),
    isOver: () => state.isOver,
    fork(job) {
      const streams = job.onOutput === undefined ? [2] : [1, 2];
      const open: Socket[] = [];
      let left = streams.length;
      const closed = new Promise<void>((settle) => {
        onStream = (descriptor, stream) => {
          open.push(stream);
          const onData = descriptor === 1 ? job.onOutput : job.onErrors;
          stream.on("data", (chunk: Buffer) => onData?.(chunk));
          stream.once("close", () => {
            if (--left === 0) settle();
          });
        };
      });
      let pid: number | undefined;
      let asked: Signal | undefined;
      const kill = (signal: Signal): void => {
        if (pid === undefined) asked = signal;
        else sendTo(pid, signal);
      };
      const begun = said("begun").then((message) => {
        pid = message?.[1];
        if (asked !== undefined) kill(asked);
      });
      const over = said("ended");
      hold(true);
      send({ ...told(job), streams } satisfies ForkedJob);
      const end = async (): Promise<ProgramEnd | undefined> => {
        await begun;
        const message = await over;
        if (message === undefined) {
          if (pid === undefined && asked === undefined) return undefined;
          // Nobody else would end it.
          kill("SIGKILL");
          return ended;
        }
        await lastWords(open, closed);
        pid = undefined;
        send(null);
        hold(false);
        const [, how] = message;
        return typeof how === "number" ? { code: how, signal: null } : { code: null, signal: how };
      };
      return { kill, ended: end() };
    },
  };
}

/** Reads the first line of a connection, which says what it is. */
function greeted(socket: Socket, then: (words: readonly [string, number]) => void): void {
  let head = Buffer.alloc(0);
  // The other side may end at any time.
  socket.on("error", () => {});
  socket.on("data", function onData(chunk: Buffer) {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\n");
    if (end === -1) return;
    socket.off("data", onData);
    const rest = head.subarray(end + 1);
    then(JSON.parse(head.toString("utf8", 0, end)));
    if (rest.length > 0) socket.emit("data", rest);
  });
}

const sendTo = (pid: number, signal: Signal): void => {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
};
