/** What `deep-profile` does beside profiling: `deep-profile NAME ARG...`. */
import { type CommandLine, commandHelp } from "../../command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../command-line/parse.ts";
import { terminalWidth } from "../../system/standard-streams.ts";
import { ConfigError } from "../../values/errors.ts";
import {
  interruptOf,
  listenForInterrupt,
  signalExitCode,
  type WithTool,
} from "../machine/interrupt.ts";
import type { Terminal } from "./terminal-report.ts";

/** Where a subcommand was called, and where it writes. */
export interface SubcommandIo {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: Date;
  /** What starts this program again. */
  readonly command?: readonly string[];
  readonly console: {
    readonly stdout: (text: string) => void;
    readonly stderr: (text: string) => void;
    /** Whether what goes to `stderr`, and to `stdout`, may be coloured. */
    readonly color?: boolean;
    readonly stdoutColor?: boolean;
  };
}

/** One subcommand; `run` loads what it needs. */
export interface Subcommand {
  readonly name: string;
  /** One line for `deep-profile --help`. */
  readonly summary: string;
  /** Its options, for shell completion. */
  readonly commandLine: () => Promise<CommandLine>;
  /**
   * @param args what stands behind the name
   * @returns the exit code: 0, 1 for errors
   * @throws ConfigError, `app.usage` for wrong arguments
   */
  readonly run: (args: readonly string[], io: SubcommandIo) => Promise<number>;
}

/** What a subcommand with this command line does, unless it is only asked for help. */
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

/** What is told of a stop: nothing of reports that were begun is left. */
export const NO_REPORTS = "no reports were written: the same command makes them";

/**
 * Runs a subcommand that works with tools. A signal ends the tool, and then the command, which has removed what was half
 * made by then. It is listened to only meanwhile: where we read ourselves, for seconds without a break, a signal ends
 * this process as it always does.
 *
 * @returns the exit code: 128 and the signal's number where one came
 */
export async function stoppable(
  { console }: SubcommandIo,
  run: (withTool: WithTool) => Promise<number>,
): Promise<number> {
  let stoppedBy: NodeJS.Signals | null = null;
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
