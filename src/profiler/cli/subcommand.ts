/** The form of a subcommand: `deep-profile NAME ARG...`. */

import { type CommandLine, commandHelp } from "../../app/command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../app/command-line/parse.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { Signal } from "../../foundation/system/platform-types.ts";
import { terminalWidth } from "../../foundation/system/standard-streams.ts";
import {
  interruptOf,
  listenForInterrupt,
  signalExitCode,
  type WithTool,
} from "../machine/stop-signals.ts";
import type { Terminal } from "./terminal-report.ts";

/** The surroundings of a call of a subcommand. */
export interface SubcommandIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: Date;
  /** The command that starts this program again. */
  readonly command?: readonly string[];
  readonly console: {
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
    /** Whether `stderr` and `stdout` may be coloured. */
    readonly color?: boolean;
    readonly stdoutColor?: boolean;
  };
}

/** One subcommand; `run` loads its implementation. */
export interface Subcommand {
  readonly name: string;
  /** A line for `deep-profile --help`. */
  readonly summary: string;
  /** Its options, for shell completion. */
  readonly commandLine: () => Promise<CommandLine>;
  /**
   * @param args the arguments after the name
   * @returns the exit code: 0, or 1 for errors
   * @throws ConfigError, `app.usage` for wrong arguments
   */
  readonly run: (args: readonly string[], io: SubcommandIo) => Promise<number>;
}

/** A `run` function with this command line, which also handles `--help`. */
export const subcommand =
  (
    line: CommandLine,
    run: (command: ParsedCommand, io: SubcommandIo) => number | Promise<number>,
  ): Subcommand["run"] =>
  async (args, io) => {
    const command = parseCommandLine(line, args);
    if (!command.has("help")) return run(command, io);
    io.console.stdout(commandHelp(line));
    return 0;
  };

export const terminalOf = ({ console, env }: SubcommandIo): Terminal => ({
  write: console.stdout,
  writeError: console.stderr,
  width: terminalWidth(env),
  color: console.stdoutColor === true,
});

/** The message after a stop that left no reports. */
export const NO_REPORTS = "no reports were written: the same command makes them";

/**
 * Runs a subcommand that uses tools. A signal ends the tool and then the command, which removes what is incomplete.
 * Signals are handled only during that time: while this process itself reads files without a break, a signal ends it as
 * usual.
 *
 * @returns the exit code: 128 plus the signal's number if one arrived
 */
export async function stoppable(
  { console }: SubcommandIo,
  run: (withTool: WithTool) => Promise<number>,
): Promise<number> {
  let stoppedBy: Signal | null = null;
  const withTool: WithTool = async (work) => {
    const { stop, dispose } = listenForInterrupt();
    try {
      const result = await work(stop);
      if (!stop.aborted) return result;
    } catch (error) {
      if (!stop.aborted) throw error;
    } finally {
      dispose();
    }
    stoppedBy = interruptOf(stop);
    throw new ConfigError({ code: "profile.stopped", message: `stopped by ${stoppedBy}` });
  };
  try {
    return await run(withTool);
  } catch (error) {
    if (stoppedBy === null) throw error;
    console.stderr(`stopped by ${stoppedBy}; ${NO_REPORTS}\n`);
    return signalExitCode(stoppedBy);
  }
}
