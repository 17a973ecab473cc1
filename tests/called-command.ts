/** The commands, called as functions in this process: what a process of its own shows as well, without its start. */
import { Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { Console, Invocation } from "../src/app/job/process/invocation.ts";
import { deepProfile } from "../src/bin/commands/deep-profile-command.ts";
import { hydraconf } from "../src/bin/commands/hydraconf-command.ts";
import { packageInfo } from "../src/engine/values/package-info.ts";
import { runValidateCommand } from "../src/profiler/cli/validate-command.ts";
import { capturedConsole } from "./captured-console.ts";

type CommandName = "deep-profile" | "hydraconf" | "validate-regions";

/** A command as a function of what it takes from its process. */
export const COMMANDS: Readonly<Record<CommandName, (invocation: Invocation) => Promise<number>>> =
  {
    hydraconf,
    "deep-profile": deepProfile,
    "validate-regions": ({ argv, console }) =>
      runValidateCommand(argv, {
        stdin: () => process.stdin,
        stdout: console.stdout,
        stderr: console.stderr,
        color: false,
      }),
  };

/** The command that starts this one again, for which other processes are started. */
export const restart = (name: string): readonly string[] => [
  process.execPath,
  `${packageInfo().root}/dist/bin/${name}.js`,
];

interface Called {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface CallOptions {
  readonly cwd: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Calls a command; texts are without their last line break, as those of processes are. Several calls run one after the other.
 * What other processes write to its streams directly, such as one that reads large files for it, is not in the texts.
 */
export function callCommand(
  name: CommandName,
  argv: readonly string[],
  { cwd, env: added = {} }: CallOptions,
): Promise<Called> {
  const call = lastCall.then(async () => {
    const { console, out } = capturedConsole();
    const env = { ...process.env, ...added };
    const invocation = { argv, env, cwd, console, command: restart(name), now: new Date() };
    const code = await inSurroundings({ cwd, env }, () =>
      withStreams(console, () => COMMANDS[name](invocation)),
    );
    return { code, stdout: withoutEnd(out.stdout), stderr: withoutEnd(out.stderr) };
  });
  lastCall = call.catch(() => {});
  return call;
}

/** Directory and environment belong to the process: one call at a time has them. */
let lastCall: Promise<unknown> = Promise.resolve();

/** What a workload prints is copied to the streams of this process. */
async function withStreams<Result>(
  to: Pick<Console, StreamName>,
  action: () => Promise<Result>,
): Promise<Result> {
  const before = STREAMS.map((name) => [name, Object.getOwnPropertyDescriptor(process, name)]);
  for (const name of STREAMS)
    Object.defineProperty(process, name, { configurable: true, value: textStream(to[name]) });
  try {
    return await action();
  } finally {
    Object.defineProperties(process, Object.fromEntries(before));
  }
}

type StreamName = "stdout" | "stderr";
const STREAMS: readonly StreamName[] = ["stdout", "stderr"];

function textStream(write: (text: string) => void): Writable {
  const decoder = new StringDecoder();
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      write(decoder.write(chunk));
      done();
    },
  });
}

const withoutEnd = (text: string): string => text.replace(/\n$/, "");

/** Runs an action as in a process with this directory and environment: programs are searched for and started there. */
export async function inSurroundings<Result>(
  { cwd, env }: Pick<Invocation, "cwd" | "env">,
  action: () => Promise<Result>,
): Promise<Result> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  enter({ cwd, env });
  try {
    return await action();
  } finally {
    enter(before);
  }
}

function enter({ cwd, env }: Pick<Invocation, "cwd" | "env">): void {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}
