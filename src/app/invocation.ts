import { tolerateClosedPipes } from "./closed-pipes.ts";
import type { Console } from "./console.ts";

/** Everything a program takes from its surroundings, in one place, so that tests can be any. */
export interface Invocation {
  /** Without the interpreter and the script. */
  readonly argv: readonly string[];
  /** The file that was started, as it was called: `/usr/bin/deep-profile`, `/home/me/train.mjs`. */
  readonly script?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly console: Console;
  /** The time of the run: one for every `${now:...}` in it. */
  readonly now: Date;
}

/** This process's own. */
export function processInvocation(): Invocation {
  tolerateClosedPipes();
  return {
    argv: process.argv.slice(2),
    ...(process.argv[1] !== undefined && { script: process.argv[1] }),
    env: process.env,
    cwd: process.cwd(),
    console: {
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
      color: process.stderr.isTTY === true && process.env["NO_COLOR"] === undefined,
      stdoutColor: process.stdout.isTTY === true && process.env["NO_COLOR"] === undefined,
    },
    now: new Date(),
  };
}
