/** Runs Slurm's queries, and reads their answers. */
import { askProgram } from "../../../foundation/system/ask-program.ts";
import type { Answer } from "../../../foundation/system/ask-program-sync.ts";
import { missing } from "./slurm-errors.ts";
import type { TaskReport } from "./task-state.ts";

/** Queries Slurm's queue for these arrays; undefined while it does not answer. */
export type Queue = (
  arrays: readonly string[],
  signal?: AbortSignal,
) => Promise<readonly TaskReport[] | undefined>;

/** A longer answer that is mostly about other jobs is not requested again. */
const LONG_ANSWER = 1 << 20;

/** Asks squeue for JSON, and for lines once it is known that JSON is unsupported or too long. */
export function createQueue(call: CallSlurm): Queue {
  let hasJson = true;

  const askForJson: Queue = async (arrays, signal) => {
    const answer = await call("squeue", ["--json", `--jobs=${arrays.join(",")}`], signal);
    const read = answer.failed ? undefined : readQueueJson(answer.stdout);
    if (read !== undefined) {
      const asked = read.filter(({ array }) => arrays.includes(array));
      // Older versions answer with the whole queue whatever is requested: not again if that is long.
      hasJson = asked.length === read.length || answer.stdout.length < LONG_ANSWER;
      return asked;
    }
    // It would not answer in the other format either.
    if (answer.isGivenUp) return undefined;
    hasJson = !/unrecognized|invalid|unknown|plugin|serializer/i.test(answer.stderr);
    return askForLines(arrays, signal);
  };

  const askForLines: Queue = async (arrays, signal) => {
    const options = ["--array", "--noheader", "--states=all", `--format=${QUEUE_FORMAT}`];
    const args = [...options, `--jobs=${arrays.join(",")}`];
    const { failed, stderr, stdout } = await call("squeue", args, signal);
    if (!failed) return readQueueLines(stdout);
    // If the only job has left the queue, squeue reports an error; here that is a normal answer.
    return isForgotten(stderr) ? [] : undefined;
  };

  return (arrays, signal) => (hasJson ? askForJson : askForLines)(arrays, signal);
}

/** Slurm's message for a job that it no longer knows. */
export const isForgotten = (stderr: string): boolean => /invalid job id/i.test(stderr);

/** Runs one of Slurm's commands, which is abandoned when the signal aborts. */
type CallSlurm = (
  command: string,
  args: readonly string[],
  signal?: AbortSignal,
) => Promise<Answer>;

/** The time limit for queries. A busy controller may need a minute. */
const ANSWER_MS = 90_000;
/** sbatch itself retries for two minutes while the queue is full. */
const SUBMIT_MS = 300_000;
const limitOf = (command: string): number => (command === "sbatch" ? SUBMIT_MS : ANSWER_MS);

/** With many jobs in the queue, an answer is long. */
const MAX_BYTES = 1 << 30;

/**
 * Runs Slurm's commands in an environment.
 *
 * @throws ConfigError `slurm/missing` when a command does not exist
 */
export const slurmCommands =
  (env: Readonly<Record<string, string | undefined>>): CallSlurm =>
  async (command, args, signal) => {
    const answer = await askProgram({
      argv: [command, ...args],
      env: outsideOfJobs(env),
      limitMs: limitOf(command),
      maxBytes: MAX_BYTES,
      ...(signal !== undefined && { abort: signal }),
    });
    if (answer.code === "ENOENT") throw missing(command);
    return { ...answer, ...(answer.failed && { why: `${command}: ${answer.why}` }) };
  };

/**
 * The environment without the variables that Slurm set for a job that this process itself runs in: sbatch would take
 * them for options. The variable for Slurm's configuration stays. Lists of indices must not be truncated.
 */
function outsideOfJobs(env: Readonly<Record<string, string | undefined>>) {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(SLURM|SLURMD|SRUN)_/.test(name) || name === "SLURM_CONF",
  );
  return { ...Object.fromEntries(kept), SLURM_BITSTR_LEN: "0", SLURM_TIME_FORMAT: "standard" };
}

/**
 * Reads `squeue --json`, whose format differs between versions of Slurm: states are a text, or a list of texts; numbers
 * are numbers, or `{set, infinite, number}`.
 *
 * @returns undefined for any other text
 */
export function readQueueJson(text: string): readonly TaskReport[] | undefined {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return undefined;
  }
  const jobs = field(answer, "jobs");
  return Array.isArray(jobs) ? jobs.flatMap(tasksOf) : undefined;
}

/** One entry may stand for many pending tasks: `2-5,8%4`. */
function tasksOf(job: unknown): readonly TaskReport[] {
  const array = number(field(job, "array_job_id"));
  if (array === null || array === 0) return [];
  const states = field(job, "job_state");
  const state = String(Array.isArray(states) ? states[0] : states);
  // The description says more: for a job whose node failed, the reason is only that it is held.
  const reason = field(job, "state_description") || field(job, "state_reason");
  const report = {
    array: String(array),
    state,
    reason: meaning(typeof reason === "string" ? reason : ""),
    exitCode: exitCodeOf(field(job, "exit_code")),
  };
  const index = number(field(job, "array_task_id"));
  const indices =
    index === null ? readIndices(String(field(job, "array_task_string") ?? "")) : [index];
  return indices.map((number) => ({ ...report, index: number }));
}

/** The format of `squeue` lines without `--json`. */
const QUEUE_FORMAT = "%F|%K|%T|%r";

export function readQueueLines(text: string): readonly TaskReport[] {
  return text.split("\n").flatMap((line) => {
    const [array = "", indices = "", state = "", ...reason] = line.trim().split("|");
    if (!/^\d+$/.test(array)) return [];
    const report = { array, state, reason: meaning(reason.join("|")), exitCode: null };
    return readIndices(indices).map((index) => ({ ...report, index }));
  });
}

/** Reads `scontrol --oneliner show job`: a line of `Key=value` pairs per task. */
export function readShownJobs(text: string): readonly TaskReport[] {
  return text.split("\n").flatMap((line) => {
    const field = (key: string) => new RegExp(`(?:^| )${key}=(\\S*)`).exec(line)?.[1];
    const array = field("ArrayJobId");
    if (array === undefined) return [];
    const [code, signal] = field("ExitCode")?.split(":") ?? [];
    const report = {
      array,
      state: field("JobState") ?? "",
      reason: meaning(field("Reason") ?? ""),
      exitCode: code === undefined ? null : asShellsSay(Number(code), Number(signal ?? 0)),
    };
    return readIndices(field("ArrayTaskId") ?? "").map((index) => ({ ...report, index }));
  });
}

/** `2-5,8%4`: ranges, then how many run at a time; squeue may add brackets. */
function readIndices(text: string): readonly number[] {
  const [list = ""] = text.replaceAll(/[[\]]/g, "").split("%");
  return list.split(",").flatMap((part) => {
    const [, first, last, step] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
    if (first === undefined) return [];
    const [from, by] = [Number(first), Number(step ?? 1)];
    const to = last === undefined ? from : Number(last);
    return Array.from(
      { length: Math.floor((to - from) / by) + 1 },
      (_, index) => from + index * by,
    );
  });
}

const meaning = (reason: string): string | null =>
  ["", "None", "(null)"].includes(reason) ? null : reason;

/** A wait status, or the object that newer versions use. */
function exitCodeOf(value: unknown): number | null {
  if (typeof value === "number") return asShellsSay(value >> 8, value & 0x7f);
  const code = number(field(value, "return_code"));
  const signal = field(value, "signal");
  const by = number(field(signal, "id")) ?? number(field(signal, "signal_id")) ?? 0;
  return code === null && by === 0 ? null : asShellsSay(code ?? 0, by);
}

/** Shells add 128 to the number of a signal. Slurm also uses numbers that are no signals: 125 is a lack of memory. */
const asShellsSay = (code: number, signal: number): number =>
  signal > 0 && signal <= LAST_SIGNAL ? 128 + signal : code;

const LAST_SIGNAL = 64;

function number(value: unknown): number | null {
  if (typeof value === "number") return value;
  return field(value, "set") === true ? number(field(value, "number")) : null;
}

const field = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[key]
    : undefined;
