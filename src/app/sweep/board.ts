/** The display of a sweep's progress on a terminal. */
import { stripVTControlCharacters } from "node:util";
import { createColors } from "picocolors";
import type { Suspension } from "../../foundation/system/process-signals.ts";
import { printable } from "../../foundation/text/printable.ts";
import { fitText, padText, textWidth } from "../../foundation/text/text-width.ts";
import type { SweepJobStatus } from "../job/job.ts";
import type { ProgramDeclaration } from "../job/options.ts";
import type { Console, Terminal } from "../job/process/invocation.ts";
import type { LaunchEvent } from "../launch/launcher.ts";
import type { BatchJob } from "./run-sweep.ts";
import {
  type Card,
  durationText,
  eventLine,
  heldLine,
  openTally,
  roughDuration,
  type Tally,
  totalsLine,
} from "./tally.ts";

/**
 * `none`: only Hydra's own output. `ends`: a line for each job that ends. `jobs`: on a terminal a table that is kept up
 * to date; elsewhere a line for each event.
 */
export type BoardKind = "none" | "ends" | "jobs";

/** Shows the progress of a sweep on standard error. */
export interface Board {
  /** The console for all other output of the sweep, which does not collide with the display. */
  readonly console: Console;
  /** Shows nothing before this call. */
  start(kind: BoardKind): void;
  readonly batch: (jobs: readonly BatchJob[]) => void;
  readonly event: (event: LaunchEvent) => void;
  /** Shows the final state of the sweep. */
  close(): void;
}

/** A way to display a sweep. */
interface View {
  /** Called with the updated tally after a batch is known, or an event of a job. */
  update(tally: Tally, line?: string): void;
  /** Called around any other output. */
  around(write: () => void, endsLine: boolean): void;
  close(tally: Tally): void;
}

/** @param suspension tells when this process was suspended: a shell has then written below the table */
export function openBoard(
  console: Console,
  suspension?: Suspension,
  progress?: ProgramDeclaration["progress"],
): Board {
  const tally = openTally(console.redact);
  const directories = new Map<number, string>();
  const progressOf = (number: number): string | undefined => {
    const directory = directories.get(number);
    return directory === undefined ? undefined : progress?.(directory);
  };
  let view: View | undefined;
  let onlyEnds = false;
  let hasBatch = false;
  let goesOn = false;
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
        // Written in full above the table, whose rows are short, because it asks for an action.
        if (event.pendingReason !== null) stderr(`${heldLine(cards, event.pendingReason)}\n`);
        view.update(tally);
        return;
      }
      if (event.kind === "stopped") {
        goesOn = event.goesOn === true;
        return;
      }
      const card = tally.event(event, performance.now());
      if (!onlyEnds || event.kind !== "started") view.update(tally, eventLine(event, card, tally));
    },
    close() {
      if (!goesOn) tally.conclude();
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

/** The interval between redraws: ten per second is as fast as anybody reads. */
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
  const { redact = (text: string) => text, stderr } = console;
  const { control = stderr } = terminal;
  const region: LiveRegion = openLiveRegion((text) => control(redact(text)), terminal);
  const color = console.color === true;
  let timer: NodeJS.Timeout | undefined;
  let shown = "";
  let isOver = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  /** Whether the last other output ended with a line break. */
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

interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** The order in which jobs are shown if not all fit: running ones first, then failures. */
const RANK: Readonly<Record<SweepJobStatus, number>> = {
  running: 0,
  failed: 1,
  timed_out: 2,
  stopped: 3,
  completed: 4,
  pruned: 5,
  queued: 6,
  missing: 7,
  damaged: 8,
};

const COLOR = {
  queued: "dim",
  running: "cyan",
  completed: "green",
  pruned: "dim",
  failed: "red",
  timed_out: "red",
  stopped: "yellow",
  missing: "yellow",
  damaged: "red",
} as const;

const STATE_WIDTH = 9;
const TIME_WIDTH = 11;
/** A narrower table would not help. */
const NARROWEST = 30;

interface FrameContext {
  readonly color: boolean;
  /** A value of `performance.now()`. */
  readonly now: number;
  readonly size: FrameSize;
  /** Whether no job runs or will start any more. */
  readonly isOver: boolean;
  /** The latest progress of a running job. */
  readonly progressOf: (number: number) => string | undefined;
}

/**
 * The table of jobs as lines that fit the terminal, with a free line below and the totals last. On a terminal too small
 * for a table, only the totals.
 */
function frameLines(
  tally: Tally,
  { color, isOver, now, progressOf, size }: FrameContext,
): readonly string[] {
  const columns = Math.max(1, size.columns - 1);
  const totals = fitText(totalsLine(tally, { isOver, now }), columns);
  // The totals line, and the line of the cursor.
  const room = size.rows - 2;
  if (room < 1 || columns < NARROWEST) return [totals];
  const colors = createColors(color);
  const cards = chosen([...tally.cards()], room);
  const numberWidth = Math.max(...cards.map(({ number }) => String(number).length), 1);
  const textRoom = columns - numberWidth - STATE_WIDTH - TIME_WIDTH - 7;
  const isNarrow = cards.some(({ overrides }) => textWidth(overrides) > textRoom);
  const rows = cards.map((card) => {
    const { brief, error, number, overrides, state } = card;
    const shown = fitText(isNarrow ? brief : overrides, textRoom);
    const left = textRoom - textWidth(shown) - 2;
    const measured = state === "running" && left >= 8 ? progressOf(number) : undefined;
    const why =
      measured !== undefined
        ? `  ${colors.cyan(fitText(printable(measured), left))}`
        : error === undefined || left < 8
          ? ""
          : `  ${colors.red(fitText(error, left))}`;
    return [
      colors.dim(`#${String(number).padStart(numberWidth)}`),
      colors[COLOR[state]](padText(state, STATE_WIDTH, "left")),
      padText(timeOf(card, now), TIME_WIDTH, "right"),
      `${shown}${why}`,
    ].join("  ");
  });
  return [...rows, totals];
}

/** As many jobs as fit, in the order of their numbers. */
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
 * The last lines on a terminal, redrawn in place. The cursor stays at the beginning of the line below them and is never
 * hidden, so that any end of this process, even a kill, leaves the terminal usable for a shell.
 */
interface LiveRegion {
  /** Replaces the lines. */
  draw(lines: readonly string[]): void;
  /** Removes the lines, so that other output can be written. */
  erase(): void;
  /** Leaves the lines in place: other output follows below. */
  leave(): void;
}

function openLiveRegion(write: (text: string) => void, terminal: Terminal): LiveRegion {
  let drawn: readonly string[] = [];
  /** A terminal wraps lines again when it gets narrower. */
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
