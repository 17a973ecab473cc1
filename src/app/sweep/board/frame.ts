import { createColors } from "picocolors";
import { fitText, padText, textWidth } from "../../../text/text-width.ts";
import { durationText, roughDuration } from "./duration.ts";
import type { Card, CardState, Tally } from "./tally.ts";
import { totalsLine } from "./totals.ts";

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Which jobs are shown where not all have room: what happens first, then what went wrong. */
const RANK: Readonly<Record<CardState, number>> = {
  running: 0,
  failed: 1,
  stopped: 2,
  completed: 3,
  queued: 4,
};

const COLOR = {
  queued: "dim",
  running: "cyan",
  completed: "green",
  failed: "red",
  stopped: "yellow",
} as const;

const STATE_WIDTH = 9;
const TIME_WIDTH = 11;
/** Below it a table is no help. */
const NARROWEST = 30;

export interface FrameContext {
  readonly color: boolean;
  /** Of `performance.now()`. */
  readonly now: number;
  readonly size: FrameSize;
  /** Whether no job runs any more, nor will. */
  readonly isOver: boolean;
}

/**
 * A table of the jobs as lines that fit the size, a line below it left free; the totals last. On a
 * terminal too small for a table they stand alone.
 */
export function frameLines(
  tally: Tally,
  { color, isOver, now, size }: FrameContext,
): readonly string[] {
  const columns = Math.max(1, size.columns - 1);
  const totals = fitText(totalsLine(tally, { isOver, now }), columns);
  // The totals, and the line that the cursor rests on.
  const room = size.rows - 2;
  if (room < 1 || columns < NARROWEST) return [totals];
  const colors = createColors(color);
  const cards = chosen([...tally.cards()], room);
  const numberWidth = Math.max(...cards.map(({ number }) => String(number).length), 1);
  const textRoom = columns - numberWidth - STATE_WIDTH - TIME_WIDTH - 7;
  const rows = cards.map((card) => {
    const { error, number, overrides, state } = card;
    const shown = fitText(overrides, textRoom);
    const left = textRoom - textWidth(shown) - 2;
    const why = error === undefined || left < 8 ? "" : `  ${colors.red(fitText(error, left))}`;
    return [
      colors.dim(`#${String(number).padStart(numberWidth)}`),
      // One that was not started by now will not be: the totals say so.
      colors[COLOR[state]](padText(isOver && state === "queued" ? "" : state, STATE_WIDTH, "left")),
      padText(timeOf(card, now), TIME_WIDTH, "right"),
      `${shown}${why}`,
    ].join("  ");
  });
  return [...rows, totals];
}

/** As many as there is room for, in the order of their numbers. */
function chosen(cards: readonly Card[], room: number): readonly Card[] {
  if (cards.length <= room) return cards.toSorted((a, b) => a.number - b.number);
  return cards
    .toSorted(
      (a, b) => RANK[a.state] - RANK[b.state] || latest(b) - latest(a) || a.number - b.number,
    )
    .slice(0, room)
    .sort((a, b) => a.number - b.number);
}

const latest = ({ ended, started }: Card): number => ended ?? started ?? 0;

function timeOf({ ended, started, state }: Card, now: number): string {
  if (started === undefined || state === "queued") return "";
  return ended === undefined ? roughDuration(now - started) : durationText(ended - started);
}
