import { ConfigError } from "../../values/errors.ts";
import {
  interruptOf,
  listenForInterrupt,
  signalExitCode,
  type WithTool,
} from "../machine/interrupt.ts";
import type { SubcommandIo } from "./subcommand.ts";

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
    console.stderr(`stopped by ${stoppedBy}; no reports were written\n`);
    return signalExitCode(stoppedBy);
  }
}
