import { andOthers } from "../../../text/plural.ts";
import { durationText } from "./duration.ts";
import type { Card, JobEvent, Tally } from "./tally.ts";
import { all } from "./totals.ts";

/** What happened to a job, as a line: for logs, and for whatever is no terminal. */
export function eventLine(kind: JobEvent["kind"], card: Card, tally: Tally): string {
  const { ended, error, number, overrides, started, state } = card;
  const job = jobText({ number, overrides });
  if (kind === "started") return `${job}: started`;
  if (kind === "retried") return `${job}: failed, starts again: ${error ?? ""}`;
  const counts = tally.counts();
  const done = all(counts) - counts.queued - counts.running;
  const time =
    started === undefined || ended === undefined
      ? ""
      : ` ${state === "completed" ? "in" : "after"} ${durationText(ended - started)}`;
  const why = error === undefined || state === "completed" ? "" : `: ${error}`;
  return `${job}: ${state}${time} (${done} of ${all(counts)})${why}`;
}

/** That jobs wait for somebody to do something: `#3 lr=0.1 (and 4 more): waits: it is held (JobHeldUser): ...`. */
export function heldLine(
  [first, ...others]: readonly Pick<Card, "number" | "overrides">[],
  obstacle: string,
): string {
  if (first === undefined) return "";
  return `${jobText(first)}${andOthers(others.length)}: waits: ${obstacle}`;
}

const jobText = ({ number, overrides }: Pick<Card, "number" | "overrides">): string =>
  `#${number}${overrides === "" ? "" : ` ${overrides}`}`;
