import { printable } from "../../../text/printable.ts";
import { isUndone } from "../../job/job.ts";
import { shownOverrides } from "../../launchers/basic-launcher.ts";
import type { LaunchEvent, SweepJob } from "../../launchers/launcher.ts";
import { whyFailed } from "../../worker/recorded-job.ts";
import { hasFailed } from "../failure-policy.ts";
import type { BatchJob } from "../run-sweep.ts";

export type CardState = "queued" | "running" | "completed" | "failed" | "stopped";

/** How a job of a sweep stands. Times are milliseconds of `performance.now()`. */
export interface Card {
  readonly number: number;
  /** What makes it different from the others of its batch. */
  readonly overrides: string;
  readonly state: CardState;
  readonly started?: number;
  readonly ended?: number;
  /** The first line of what went wrong last. */
  readonly error?: string;
}

export type HeldEvent = Extract<LaunchEvent, { kind: "held" }>;
export type JobEvent = Exclude<LaunchEvent, HeldEvent>;

export type Counts = Readonly<Record<CardState, number>>;

/** All jobs of a sweep that are known so far, and how they stand. */
export interface Tally {
  batch(jobs: readonly BatchJob[]): void;
  /** @returns how the job stands now */
  event(event: JobEvent, now: number): Card;
  /** @returns how the jobs stand that wait for somebody to do something */
  held(event: HeldEvent): readonly Card[];
  cards(): Iterable<Card>;
  counts(): Counts;
  pace(now: number): Pace;
}

/** How fast the sweep goes. Times are milliseconds since the first job started. */
export interface Pace {
  readonly elapsed: number;
  /** Jobs that have ended since, and when the last of them did. */
  readonly ended: number;
  readonly lastEnd: number;
}

export function openTally(): Tally {
  const cards = new Map<number, Card>();
  const counts = { queued: 0, running: 0, completed: 0, failed: 0, stopped: 0 };
  let firstStart: number | undefined;
  let endedHere = 0;
  let lastEnd = 0;

  const put = (card: Card): Card => {
    const before = cards.get(card.number);
    if (before !== undefined) counts[before.state]--;
    counts[card.state]++;
    cards.set(card.number, card);
    return card;
  };

  return {
    batch(jobs) {
      const shown = distinctOverrides(jobs.map(({ job }) => job));
      for (const [index, { job, result }] of jobs.entries())
        put({
          number: job.number,
          overrides: shown[index] ?? "",
          state: result === undefined ? "queued" : stateOf(result),
        });
    },
    event(event, now) {
      if (event.kind === "started") firstStart ??= now;
      if (event.kind === "ended") {
        endedHere++;
        lastEnd = now;
      }
      return put(cardAfter(event, cards.get(event.job.number), now));
    },
    held: ({ jobs, obstacle }) =>
      jobs.map(({ number, ...job }) => {
        const before = cards.get(number);
        // Slurm is asked now and then; a job that was let go may have told by itself that it runs.
        if (obstacle === null && before !== undefined && before.state !== "queued") return before;
        const why = obstacle === null ? {} : { error: printable(obstacle) };
        return put({ number, overrides: overridesOn(before, job), state: "queued", ...why });
      }),
    cards: () => cards.values(),
    counts: () => counts,
    pace(now) {
      const since = (time: number) => Math.max(0, time - (firstStart ?? time));
      return { elapsed: since(now), ended: endedHere, lastEnd: since(lastEnd) };
    },
  };
}

/** How a job stands after something happened to it. */
function cardAfter(event: JobEvent, before: Card | undefined, now: number): Card {
  const card = {
    number: event.job.number,
    overrides: overridesOn(before, event.job),
    ...(before?.started !== undefined && { started: before.started }),
  };
  switch (event.kind) {
    case "started":
      return { ...card, state: "running", started: now };
    case "retried":
      return { ...card, state: "queued", error: printable(event.reason) };
    case "ended": {
      const { result, took } = event;
      return {
        ...card,
        ...(took !== undefined && { started: now - took }),
        state: stateOf(result),
        ended: now,
        ...(hasFailed(result) && { error: errorLine(result) }),
      };
    }
  }
}

/** Those that are different within its batch, where that is known. */
const overridesOn = (card: Card | undefined, job: Parameters<typeof shownOverrides>[0]): string =>
  card?.overrides ?? printable(shownOverrides(job));

type Result = Extract<LaunchEvent, { kind: "ended" }>["result"];

const stateOf = (result: Result): CardState =>
  isUndone(result) ? "stopped" : hasFailed(result) ? "failed" : "completed";

/** What went wrong with a job, in a line. */
export const errorLine = (result: Result, redact?: (text: string) => string): string =>
  printable(whyFailed(result, redact));

/** The overrides of each job, without those that all of them have. */
export function distinctOverrides(jobs: readonly Pick<SweepJob, "overrides">[]): readonly string[] {
  const uses = new Map<string, number>();
  for (const { overrides } of jobs)
    for (const one of new Set(overrides)) uses.set(one, (uses.get(one) ?? 0) + 1);
  return jobs.map((job) => {
    const own = job.overrides.filter((one) => uses.get(one) !== jobs.length);
    return printable(own.length === 0 ? shownOverrides(job) : own.join(" "));
  });
}
