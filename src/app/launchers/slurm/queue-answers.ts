import type { TaskReport } from "./task-state.ts";

/**
 * Reads `squeue --json`. Its form differs between versions of Slurm: states are a text, or a list of
 * texts; numbers are numbers, or `{set, infinite, number}`.
 *
 * @returns undefined for what is no such answer
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

/** One entry may stand for many tasks that still wait: `2-5,8%4`. */
function tasksOf(job: unknown): readonly TaskReport[] {
  const array = number(field(job, "array_job_id"));
  if (array === null || array === 0) return [];
  const states = field(job, "job_state");
  const state = String(Array.isArray(states) ? states[0] : states);
  // What Slurm says in words says more: of a job whose node failed, the reason is only that it is held.
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
  return indices.map((one) => ({ ...report, index: one }));
}

/** The form of `squeue` lines that is asked for where there is no `--json`. */
export const QUEUE_FORMAT = "%F|%K|%T|%r";

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
    const at = (key: string) => new RegExp(`(?:^| )${key}=(\\S*)`).exec(line)?.[1];
    const array = at("ArrayJobId");
    if (array === undefined) return [];
    const [code, signal] = at("ExitCode")?.split(":") ?? [];
    const report = {
      array,
      state: at("JobState") ?? "",
      reason: meaning(at("Reason") ?? ""),
      exitCode: code === undefined ? null : asShellsSay(Number(code), Number(signal ?? 0)),
    };
    return readIndices(at("ArrayTaskId") ?? "").map((index) => ({ ...report, index }));
  });
}

/** `2-5,8%4`: ranges, and behind `%` how many run at a time; squeue may put brackets around. */
function readIndices(text: string): readonly number[] {
  const [list = ""] = text.replaceAll(/[[\]]/g, "").split("%");
  return list.split(",").flatMap((part) => {
    const [, first, last, step] = /^(\d+)(?:-(\d+)(?::(\d+))?)?$/.exec(part) ?? [];
    if (first === undefined) return [];
    const [from, by] = [Number(first), Number(step ?? 1)];
    const to = last === undefined ? from : Number(last);
    return Array.from({ length: Math.floor((to - from) / by) + 1 }, (_, at) => from + at * by);
  });
}

const meaning = (reason: string): string | null =>
  ["", "None", "(null)"].includes(reason) ? null : reason;

/** A wait status, or what newer versions say in its place. */
function exitCodeOf(value: unknown): number | null {
  if (typeof value === "number") return asShellsSay(value >> 8, value & 0x7f);
  const code = number(field(value, "return_code"));
  const signal = field(value, "signal");
  const by = number(field(signal, "id")) ?? number(field(signal, "signal_id")) ?? 0;
  return code === null && by === 0 ? null : asShellsSay(code ?? 0, by);
}

/** Shells add 128 to the number of a signal. Slurm has numbers that are none: 125 is a lack of memory. */
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
