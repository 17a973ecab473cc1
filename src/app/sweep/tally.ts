/** Counts the jobs of a sweep for displays: states, times, errors. */
import { andOthers, plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { JOB_STATUSES, type SweepJobStatus, statusOf } from "../job/job.ts";
import type { SweepJob } from "../job/plan-job.ts";
import {
  asWritten,
  briefOverrides,
  type OverridesForm,
  shownOverrides,
} from "../launch/job-overrides.ts";
import type { LaunchEvent } from "../launch/launcher.ts";
import { whyFailed } from "../record/recorded-job.ts";
import type { Redact } from "../record/written-record.ts";
import type { BatchJob } from "./run-sweep.ts";

/** The state of a job in the display. Times are milliseconds of `performance.now()`. */
export interface Card {
  readonly number: number;
  /** The overrides that distinguish it from the others of its batch. */
  readonly overrides: string;
  /** The same for narrow terminals. */
  readonly brief: string;
  readonly state: SweepJobStatus;
  readonly started?: number;
  readonly ended?: number;
  /** The first line of the last error. */
  readonly error?: string;
}

export type HeldEvent = Extract<LaunchEvent, { kind: "held" }>;
type JobEvent = Extract<LaunchEvent, { kind: "started" | "retried" | "ended" }>;

type Counts = Readonly<Record<SweepJobStatus, number>>;

/** The state of all jobs of a sweep that are known so far. */
export interface Tally {
  batch(jobs: readonly BatchJob[]): void;
  /** @returns the job's new state */
  event(event: JobEvent, now: number): Card;
  /** @returns the state of jobs that wait for an action of the user */
  held(event: HeldEvent): readonly Card[];
  /** Nothing starts the jobs that are queued any more. */
  conclude(): void;
  cards(): Iterable<Card>;
  counts(): Counts;
  pace(now: number): Pace;
}

/** The pace of a sweep. Times are milliseconds since the first job started. */
interface Pace {
  readonly elapsed: number;
  /** Jobs that have ended since then, and the time of the last end. */
  readonly ended: number;
  readonly lastEnd: number;
}

/** @param redact removes secrets before texts are cut: part of a secret would not be recognised */
export function openTally(redact: Redact = (text) => text): Tally {
  const show = (text: string): string => printable(redact(text));
  const cards = new Map<number, Card>();
  const counts = Object.fromEntries(JOB_STATUSES.map((status) => [status, 0])) as Record<
    SweepJobStatus,
    number
  >;
  let firstStart: number | undefined;
  let endedHere = 0;
  let lastEnd = 0;

  const put = (card: Card): Card => {
    const previous = cards.get(card.number);
    if (previous !== undefined) counts[previous.state]--;
    counts[card.state]++;
    cards.set(card.number, card);
    return card;
  };

  return {
    batch(jobs) {
      const planned = jobs.map(({ job }) => job);
      const shown = distinctOverrides(planned, show);
      const brief = distinctOverrides(planned, show, briefOverrides);
      for (const [index, { job, result }] of jobs.entries())
        put({
          number: job.number,
          overrides: shown[index] ?? "",
          brief: brief[index] ?? "",
          state: result === undefined ? "queued" : statusOf(result),
        });
    },
    event(event, now) {
      if (event.kind === "started") firstStart ??= now;
      if (event.kind === "ended") {
        endedHere++;
        lastEnd = now;
      }
      return put(cardAfter(event, cards.get(event.job.number), { now, show, redact }));
    },
    held: ({ jobs, pendingReason }) =>
      jobs.map(({ number, ...job }) => {
        const previous = cards.get(number);
        // A scheduler is polled only at intervals; a released job may have reported its start itself already.
        if (pendingReason === null && previous !== undefined && previous.state !== "queued")
          return previous;
        const why = pendingReason === null ? {} : { error: show(pendingReason) };
        return put({
          number,
          ...overridesOn(previous, job, show),
          state: "queued",
          ...why,
        });
      }),
    conclude() {
      for (const card of [...cards.values()])
        if (card.state === "queued") put({ ...card, state: "missing" });
    },
    cards: () => cards.values(),
    counts: () => counts,
    pace(now) {
      const since = (time: number) => Math.max(0, time - (firstStart ?? time));
      return { elapsed: since(now), ended: endedHere, lastEnd: since(lastEnd) };
    },
  };
}

/** The state of a job after an event. */
function cardAfter(
  event: JobEvent,
  previous: Card | undefined,
  { now, redact, show }: { readonly now: number; readonly redact: Redact; readonly show: Redact },
): Card {
  const card = {
    number: event.job.number,
    ...overridesOn(previous, event.job, show),
    ...(previous?.started !== undefined && { started: previous.started }),
  };
  switch (event.kind) {
    case "started":
      return { ...card, state: "running", started: now };
    case "retried":
      return { ...card, state: "queued", error: show(event.reason) };
    case "ended": {
      const { result, took } = event;
      return {
        ...card,
        ...(took !== undefined && { started: now - took }),
        state: statusOf(result),
        ended: now,
        ...(statusOf(result) !== "completed" && { error: errorLine(result, redact) }),
      };
    }
  }
}

/** The overrides that differ within the job's batch, if known. */
const overridesOn = (
  card: Card | undefined,
  job: Parameters<typeof shownOverrides>[0],
  show: Redact,
): Pick<Card, "overrides" | "brief"> => ({
  overrides: card?.overrides ?? show(shownOverrides(job)),
  brief: card?.brief ?? show(shownOverrides(job, briefOverrides)),
});

type Result = Extract<LaunchEvent, { kind: "ended" }>["result"];

/** The error of a job, in one line. */
export const errorLine = (result: Result, redact?: (text: string) => string): string =>
  printable(whyFailed(result, redact));

/** The overrides of each job, without those that all jobs share. */
export function distinctOverrides(
  jobs: readonly Pick<SweepJob, "overrides">[],
  show: (text: string) => string = printable,
  form: OverridesForm = asWritten,
): readonly string[] {
  const uses = new Map<string, number>();
  for (const { overrides } of jobs)
    for (const text of new Set(overrides)) uses.set(text, (uses.get(text) ?? 0) + 1);
  return jobs.map((job) => {
    const distinct = job.overrides.filter((text) => uses.get(text) !== jobs.length);
    if (distinct.length > 0) return show(form(distinct).join(" "));
    return show(shownOverrides(job, form));
  });
}

/**
 * `3 of 12 jobs completed, 1 failed, 2 running; 34 s, about 40 s left (5.3 jobs/min)`. Once the sweep is over, no time
 * is left even if jobs have not started.
 */
export function totalsLine(
  tally: Tally,
  { isOver, now }: { readonly isOver: boolean; readonly now: number },
): string {
  const counts = tally.counts();
  const pace = tally.pace(now);
  const open = counts.running + counts.queued;
  const hasPace = !isOver && open > 0 && pace.ended > 0 && pace.lastEnd > 0;
  const left = hasPace ? `${leftText(pace, open)} (${rate(pace.ended, pace.lastEnd)})` : "";
  return `${countsText(counts)}; ${roughDuration(pace.elapsed)}${left}`;
}

/** `3 of 12 jobs completed, 1 failed, 2 running` */
export function countsText(counts: Readonly<Partial<Record<SweepJobStatus, number>>>): string {
  const { completed = 0, ...others } = counts;
  const jobs = Object.values(others).reduce((sum, count) => sum + count, completed);
  return [
    `${completed} of ${plural(jobs, "job")} completed`,
    ...JOB_STATUSES.flatMap((status) => {
      const count = status === "completed" ? 0 : (others[status] ?? 0);
      return count === 0 ? [] : [`${count} ${status}`];
    }),
  ].join(", ");
}

/** Estimated from the jobs that have ended; the estimate changes only when the next one ends. */
function leftText({ elapsed, ended, lastEnd }: Pace, open: number): string {
  if (open === 0 || ended === 0) return "";
  const left = (open * lastEnd) / ended - (elapsed - lastEnd);
  return left < 500 ? "" : `, about ${roughDuration(left)} left`;
}

const all = (counts: Counts): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/** Jobs per unit of time, in a unit that gives a readable number. */
function rate(ended: number, elapsed: number): string {
  const units = [
    ["s", 1000],
    ["min", 60_000],
    ["h", 3_600_000],
  ] as const;
  const [unit, length] = units.find(([, unitMs]) => (ended * unitMs) / elapsed >= 1) ?? units[2];
  return `${((ended * length) / elapsed).toFixed(1)} jobs/${unit}`;
}

/** An event of a job as a line: for logs and other output than terminals. */
export function eventLine(event: JobEvent, card: Card, tally: Tally): string {
  const { ended, error, number, overrides, started, state } = card;
  const job = jobText({ number, overrides });
  if (event.kind === "started") return `${job}: started`;
  if (event.kind === "retried") {
    const state = event.status === undefined ? "" : `${event.status}, `;
    return `${job}: ${state}starts again: ${error ?? ""}`;
  }
  const counts = tally.counts();
  const open = counts.queued + counts.running;
  const left = ended === undefined ? "" : leftText(tally.pace(ended), open);
  const time =
    started === undefined || ended === undefined
      ? ""
      : ` ${state === "completed" ? "in" : "after"} ${durationText(ended - started)}`;
  const why = error === undefined || state === "completed" ? "" : `: ${error}`;
  return `${job}: ${state}${time} (${all(counts) - open} of ${all(counts)}${left})${why}`;
}

/**
 * The line for jobs that wait for an action of the user:
 * `#3 lr=0.1 (and 4 more): waits: it is held (JobHeldUser): ...`.
 */
export function heldLine(
  [first, ...others]: readonly Pick<Card, "number" | "overrides">[],
  pendingReason: string,
): string {
  if (first === undefined) return "";
  return printable(`${jobText(first)}${andOthers(others.length)}: waits: ${pendingReason}`);
}

const jobText = ({ number, overrides }: Pick<Card, "number" | "overrides">): string =>
  `#${number}${overrides === "" ? "" : ` ${overrides}`}`;

/** A duration for people: `0.4 s`, `34 s`, `2 min 5 s`, `3 h 10 min`. */
export function durationText(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  return longText(Math.round(seconds));
}

/** A duration without tenths: for an unfinished or estimated one. */
export const roughDuration = (milliseconds: number): string =>
  longText(Math.round(milliseconds / 1000));

function longText(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
