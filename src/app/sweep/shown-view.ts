import { plural } from "../../text/plural.ts";
import { printable } from "../../text/printable.ts";
import { shellQuote } from "../../text/shell-words.ts";
import { drawTable } from "../info/table.ts";
import { durationText } from "./board/duration.ts";
import { heldLine } from "./board/event-line.ts";
import { distinctOverrides } from "./board/tally.ts";
import type { JobView, SweepView } from "./look.ts";
import { tookMs } from "./record/attempt-time.ts";
import type { JobState } from "./record/job-state.ts";
import type { ManifestJob } from "./record/manifest.ts";

/** `hydraconf sweep status`: a line per job, and what they come to. */
export function shownView(view: SweepView): string {
  const { jobs } = view;
  if (jobs.length === 0) return summary(view);
  const hasScheduler = jobs.some(({ scheduler }) => scheduler !== null);
  const overrides = distinctOverrides(
    jobs.map(({ swept }) => ({
      overrides: Object.entries(swept).map(([key, value]) => `${key}=${value}`),
    })),
  );
  const rows = jobs.map((job, index) => [
    String(job.number),
    overrides[index] ?? "",
    job.status,
    ...(hasScheduler ? [scheduled(job)] : []),
    String(job.attempts),
    job.seconds === null ? "" : job.seconds.toFixed(1),
    printable(job.error ?? ""),
  ]);
  const waiting = obstacleLines(jobs.map((job, index) => ({ job, text: overrides[index] ?? "" })));
  const head = ["#", "Overrides", "Status", "Attempts", "Seconds", "Error"];
  if (hasScheduler) head.splice(3, 0, "Scheduler");
  return `${drawTable([head, ...rows])}${waiting}${summary(view)}`;
}

/** A line for all jobs that wait for the same thing to be done. */
function obstacleLines(jobs: readonly { readonly job: JobView; readonly text: string }[]): string {
  const waiting = new Map<string, { number: number; overrides: string }[]>();
  for (const { job, text } of jobs) {
    const obstacle = job.scheduler?.obstacle;
    if (obstacle == null) continue;
    const same = waiting.get(obstacle) ?? [];
    same.push({ number: job.number, overrides: text });
    waiting.set(obstacle, same);
  }
  return [...waiting]
    .map(([obstacle, held]) => `${printable(heldLine(held, obstacle))}\n`)
    .join("");
}

const scheduled = ({ scheduler }: JobView): string =>
  scheduler === null ? "" : `${scheduler.id} ${scheduler.state}`;

/** What makes each job different, worked out once for a list of jobs that may be long. */
export function createShownOverrides(): (job: ManifestJob, jobs: readonly ManifestJob[]) => string {
  let known: readonly ManifestJob[] = [];
  let shown: ReadonlyMap<number, string> = new Map();
  return ({ number }, jobs) => {
    if (jobs !== known) {
      const texts = distinctOverrides(jobs.map((job) => ({ overrides: job.task_overrides })));
      shown = new Map(jobs.map((job, index) => [job.number, texts[index] ?? ""]));
      known = jobs;
    }
    return shown.get(number) ?? "";
  };
}

/** How a job of the sweep ended, in a line, as progress tells it where there is no terminal. */
export function endLine(overrides: string, { attempts, number, status }: JobState): string {
  const last = attempts.at(-1);
  const time =
    last === undefined || last.ended === null
      ? ""
      : ` ${status === "completed" ? "in" : "after"} ${durationText(tookMs(last))}`;
  const { error } = last ?? {};
  const why = error == null || status === "completed" ? "" : `: ${printable(error)}`;
  return `#${number}${overrides === "" ? "" : ` ${overrides}`}: ${status.replace("_", " ")}${time}${why}`;
}

/** One line on all jobs and on who runs them, and how to go on where nobody does. */
export function summary(view: SweepView): string {
  const { counts, directory, driver, jobs, more_to_come, program, scheduler_problem } = view;
  const completed = counts.completed ?? 0;
  const others = Object.entries(counts)
    .filter(([status]) => status !== "completed")
    .map(([status, count]) => `${count} ${status.replace("_", " ")}`);
  const first = [`${completed} of ${plural(jobs.length, "job")} completed`, ...others].join(", ");
  const inScheduler = jobs.filter(({ scheduler }) => scheduler !== null).length;
  const toDo = (counts.missing ?? 0) + (counts.stopped ?? 0);
  const failed = (counts.failed ?? 0) + (counts.timed_out ?? 0);
  const isLeft =
    driver === null &&
    inScheduler === 0 &&
    scheduler_problem === null &&
    (counts.running ?? 0) === 0;
  const who =
    driver !== null
      ? `; process ${driver.pid} on ${driver.host} runs it`
      : inScheduler > 0 || scheduler_problem !== null
        ? [
            inScheduler > 0 ? `; the scheduler has ${inScheduler} of them` : "",
            scheduler_problem === null ? "" : `; ${printable(scheduler_problem)}`,
          ].join("")
        : toDo > 0
          ? "; no launcher runs it"
          : more_to_come
            ? "; no launcher runs it, and more jobs were to come"
            : "";
  const command = (flag: string, what: string) =>
    `  ${program} ${flag} ${shellQuote(directory)}   ${what}\n`;
  const isCutOff = toDo > 0 || (more_to_come && failed === 0);
  const next =
    !isLeft || (!isCutOff && failed === 0)
      ? ""
      : isCutOff
        ? command("--resume", "runs the missing jobs")
        : command("--retry-failed", "runs the failed jobs again");
  return `${first}${who}\n${next}`;
}
