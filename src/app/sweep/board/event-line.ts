import type { LaunchEvent } from "../../launchers/launcher.ts";
import { durationText } from "./duration.ts";
import type { Card, Tally } from "./tally.ts";
import { all } from "./totals.ts";

/** What happened to a job, as a line: for logs, and for whatever is no terminal. */
export function eventLine(kind: LaunchEvent["kind"], card: Card, tally: Tally): string {
  const { ended, error, number, overrides, started, state } = card;
  const job = `#${number}${overrides === "" ? "" : ` ${overrides}`}`;
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
