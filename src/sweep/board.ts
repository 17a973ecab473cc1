import { stripVTControlCharacters } from "node:util";
import { createColors } from "picocolors";
import type { ProgramDeclaration } from "../job/options.ts";
import type { Console, Terminal } from "../job/process/invocation.ts";
import type { LaunchEvent } from "../launch/launcher.ts";
import type { Suspension } from "../system/process-signals.ts";
import { fitText, padText, textWidth } from "../text/text-width.ts";
import type { BatchJob } from "./run-sweep.ts";
import {
  type Card,
  type CardState,
  durationText,
  eventLine,
  heldLine,
  openTally,
  roughDuration,
  type Tally,
  totalsLine,
} from "./tally.ts";

/**
 * `none`: Hydra's own output alone. `ends`: a line for each job that ends. `jobs`: a table that is
 * kept up to date on a terminal; elsewhere a line for each event.
 */
export type BoardKind = "none" | "ends" | "jobs";

/** Shows on standard error how a sweep goes, while it goes. */
export interface Board {
  /** What everything else of the sweep is written to: it makes room for itself. */
  readonly console: Console;
  /** Nothing is shown before. */
  start(kind: BoardKind): void;
  readonly batch: (jobs: readonly BatchJob[]) => void;
  readonly event: (event: LaunchEvent) => void;
  /** Leaves how the sweep ended. */
  close(): void;
}

/** One way to show a sweep. */
interface View {
  /** A batch is known, or something happened to a job; the tally knows of it. */
  update(tally: Tally, line?: string): void;
  /** Something else is written by this. */
  around(write: () => void, endsLine: boolean): void;
  close(tally: Tally): void;
}

/** @param suspension tells when this process has been suspended: a shell has written below the table then */
export function openBoard(
  console: Console,
  suspension?: Suspension,
  progress?: ProgramDeclaration["progress"],
): Board {
  const tally = openTally();
  const directories = new Map<number, string>();
  const progressOf = (number: number): string | undefined => {
    const directory = directories.get(number);
    return directory === undefined ? undefined : progress?.(directory);
  };
  let view: View | undefined;
  let onlyEnds = false;
  let hasBatch = false;
  const write = (to: (text: string) => void) => (text: string) =>
    view === undefined ? to(text) : view.around(() => to(text), text.endsWith("\n"));
  const stderr = write(console.stderr);
  return {
    console: { ...console, stdout: write(console.stdout), stderr },
    start(kind) {
      const { terminal } = console;
      onlyEnds = kind === "ends";
      if (kind === "none") return;
      view =
        kind === "jobs" && terminal !== undefined
          ? tableView(console, terminal, { tally, suspension, progressOf })
          : lineView(console);
    },
    batch(jobs) {
      if (view === undefined) return;
      hasBatch = true;
      if (progress !== undefined)
        for (const { job } of jobs) directories.set(job.number, job.outputDir);
      tally.batch(jobs);
      view.update(tally);
    },
    event(event) {
      if (view === undefined) return;
      if (event.kind === "held") {
        const cards = tally.held(event);
        // In full, above a table, whose rows are short: it asks for an action.
        if (event.pendingReason !== null) stderr(`${heldLine(cards, event.pendingReason)}\n`);
        view.update(tally);
        return;
      }
      const card = tally.event(event, performance.now());
      if (!onlyEnds || event.kind !== "started")
        view.update(tally, eventLine(event.kind, card, tally));
    },
    close() {
      if (hasBatch) view?.close(tally);
      view = undefined;
    },
  };
}

const lineView = ({ stderr }: Console): View => ({
  update: (_, line) => line !== undefined && stderr(`${line}\n`),
  around: (write) => write(),
  close: (tally) => stderr(`${totalsLine(tally, { isOver: true, now: performance.now() })}\n`),
});

/** Between looks at what is to be drawn: ten times a second is as fast as anybody reads. */
const REDRAW_MS = 100;

function tableView(
  console: Console,
  terminal: Terminal,
  {
    progressOf,
    suspension,
    tally,
  }: Pick<FrameContext, "progressOf"> & {
    readonly tally: Tally;
    readonly suspension: Suspension | undefined;
  },
): View {
  const region: LiveRegion = openLiveRegion(console.stderr, terminal);
  const color = console.color === true;
  let timer: NodeJS.Timeout | undefined;
  let shown = "";
  let isOver = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  /** Whether the last other output has ended its line. */
  let atLineStart = true;

  const leave = (): void => {
    region.leave();
    shown = "";
  };

  const draw = (): void => {
    if (!atLineStart) return;
    if (terminal.isOthers === true) {
      leave();
      if (!isOver) return;
    }
    const now = performance.now();
    const { columns, rows } = terminal;
    const size = { columns, rows };
    const lines = frameLines(tally, { color, isOver, now, size, progressOf });
    const frame = `${columns} ${lines.join("\n")}`;
    if (frame === shown) return;
    region.draw(lines);
    shown = frame;
    drawnAt = now;
  };

  const separate = suspension?.join({ resume: leave });

  return {
    update() {
      timer ??= setInterval(draw, REDRAW_MS).unref();
    },
    around(write, endsLine) {
      region.erase();
      shown = "";
      write();
      atLineStart = endsLine;
      if (timer !== undefined && performance.now() - drawnAt >= REDRAW_MS) draw();
    },
    close() {
      clearInterval(timer);
      timer = undefined;
      separate?.();
      if (!atLineStart) console.stderr("\n");
      atLineStart = true;
      isOver = true;
      draw();
    },
  };
}

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
  /** What a running job has measured last. */
  readonly progressOf: (number: number) => string | undefined;
}

/**
 * A table of the jobs as lines that fit the size, a line below it left free; the totals last. On a
 * terminal too small for a table they stand alone.
 */
function frameLines(
  tally: Tally,
  { color, isOver, now, progressOf, size }: FrameContext,
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
    const measured = state === "running" && left >= 8 ? progressOf(number) : undefined;
    const why =
      measured !== undefined
        ? `  ${colors.cyan(fitText(measured, left))}`
        : error === undefined || left < 8
          ? ""
          : `  ${colors.red(fitText(error, left))}`;
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

const ESC = "\u001b[";
const ERASE_TO_END_OF_LINE = `${ESC}K`;
const ERASE_BELOW = `${ESC}J`;
const up = (lines: number): string => (lines === 0 ? "" : `${ESC}${lines}A`);

/**
 * The last lines on a terminal, written again and again in place. The cursor rests at the beginning
 * of the line below them and is never hidden, so that whatever ends this process, even a kill, leaves
 * the terminal as a shell wants it.
 */
interface LiveRegion {
  /** Puts these lines in the place of the last ones. */
  draw(lines: readonly string[]): void;
  /** Takes the lines away, so that something else can be written. */
  erase(): void;
  /** Leaves them where they are: other output stands below. */
  leave(): void;
}

function openLiveRegion(write: (text: string) => void, terminal: Terminal): LiveRegion {
  let drawn: readonly string[] = [];
  /** Terminals wrap lines anew when they get narrower. */
  const height = (): number =>
    drawn.reduce(
      (sum, line) =>
        sum + Math.max(1, Math.ceil(textWidth(stripVTControlCharacters(line)) / terminal.columns)),
      0,
    );
  return {
    draw(lines) {
      if (lines.length === 0) return;
      const body = lines.map((line) => `${line}${ERASE_TO_END_OF_LINE}\n`).join("");
      write(`\r${up(height())}${body}${ERASE_BELOW}`);
      drawn = lines;
    },
    erase() {
      if (drawn.length === 0) return;
      write(`\r${up(height())}${ERASE_BELOW}`);
      drawn = [];
    },
    leave() {
      drawn = [];
    },
  };
}
