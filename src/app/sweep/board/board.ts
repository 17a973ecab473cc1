import type { Suspension } from "../../../system/process-signals.ts";
import type { LaunchEvent } from "../../launchers/launcher.ts";
import type { Console, Terminal } from "../../process/console.ts";
import type { BatchJob } from "../run-sweep.ts";
import { eventLine, heldLine } from "./event-line.ts";
import { frameLines } from "./frame.ts";
import { type LiveRegion, openLiveRegion } from "./live-region.ts";
import { openTally, type Tally } from "./tally.ts";
import { totalsLine } from "./totals.ts";

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
export function openBoard(console: Console, suspension?: Suspension): Board {
  const tally = openTally();
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
          ? tableView(console, terminal, { tally, suspension })
          : lineView(console);
    },
    batch(jobs) {
      if (view === undefined) return;
      hasBatch = true;
      tally.batch(jobs);
      view.update(tally);
    },
    event(event) {
      if (view === undefined) return;
      if (event.kind === "held") {
        const cards = tally.held(event);
        // In full, above a table, whose rows are short: it is for somebody to act on.
        if (event.obstacle !== null) stderr(`${heldLine(cards, event.obstacle)}\n`);
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
  { suspension, tally }: { readonly tally: Tally; readonly suspension: Suspension | undefined },
): View {
  const region: LiveRegion = openLiveRegion(console.stderr, terminal);
  const color = console.color === true;
  let timer: NodeJS.Timeout | undefined;
  let shown = "";
  let isOver = false;
  let drawnAt = Number.NEGATIVE_INFINITY;
  /** Whether the last thing that somebody else wrote has ended its line. */
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
    const lines = frameLines(tally, { color, isOver, now, size: { columns, rows } });
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
