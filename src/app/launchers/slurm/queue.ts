import type { CallSlurm } from "./commands.ts";
import { QUEUE_FORMAT, readQueueJson, readQueueLines } from "./queue-answers.ts";
import type { TaskReport } from "./task-state.ts";

/** What is in Slurm's queue of these arrays; undefined while it does not answer. */
export type Queue = (
  arrays: readonly string[],
  signal?: AbortSignal,
) => Promise<readonly TaskReport[] | undefined>;

/** Longer answers are not asked for again, where most of them is about jobs of others. */
const LONG_ANSWER = 1 << 20;

/** Asks squeue for JSON, and for lines once it is known that it has none, or too much. */
export function createQueue(call: CallSlurm): Queue {
  let hasJson = true;

  const askForJson: Queue = async (arrays, signal) => {
    const answer = await call("squeue", ["--json", `--jobs=${arrays.join(",")}`], signal);
    const read = answer.failed ? undefined : readQueueJson(answer.stdout);
    if (read !== undefined) {
      const asked = read.filter(({ array }) => arrays.includes(array));
      // Older versions answer with the whole queue whatever is asked for: once, where it is long.
      hasJson = asked.length === read.length || answer.stdout.length < LONG_ANSWER;
      return asked;
    }
    // Nor would it answer in other words.
    if (answer.isGivenUp === true) return undefined;
    hasJson = !/unrecognized|invalid|unknown|plugin|serializer/i.test(answer.stderr);
    return askForLines(arrays, signal);
  };

  const askForLines: Queue = async (arrays, signal) => {
    const options = ["--array", "--noheader", "--states=all", `--format=${QUEUE_FORMAT}`];
    const args = [...options, `--jobs=${arrays.join(",")}`];
    const { failed, stderr, stdout } = await call("squeue", args, signal);
    if (!failed) return readQueueLines(stdout);
    // A single job that has left the queue is an error to squeue, and an answer to us.
    return isForgotten(stderr) ? [] : undefined;
  };

  return (arrays, signal) => (hasJson ? askForJson : askForLines)(arrays, signal);
}

/** Slurm's words for a job that it does not know any more. */
export const isForgotten = (stderr: string): boolean => /invalid job id/i.test(stderr);
