/** The timeline: rows of threads and streams on a canvas, which can be zoomed and moved with wheel, keys and touch. */
import { lowerBound } from "../../foundation/system/lower-bound.ts";
import { plural } from "../../foundation/text/plural.ts";
import { h, on } from "../../pages/client/dom.ts";
import { hueOf } from "../../pages/client/plot.ts";
import { formatDuration, formatNumber } from "../../pages/numbers.ts";
import type { PageData } from "../view/page-data.ts";
import type { Store } from "./state.ts";
import { type Lane, openTimeline, type TimelineEvents, visible } from "./timeline-events.ts";

const LANE = 16;
const ROW_GAP = 6;
const TITLE = 15;
const AXIS = 20;
const LEAST_NS = 100;
/** The canvas's height in a box that has none yet. */
const HIDDEN_HEIGHT = 400;
/** The resolution of counter rows: see `TimelineRow.counter`. */
const STEPS = 1000;

interface Window {
  readonly fromNs: number;
  readonly toNs: number;
}

/** The event under the pointer. */
interface Hit {
  readonly row: number;
  readonly lane: number;
  readonly event: number;
}

/**
 * Null if the page has no timeline.
 * @param store null for a page without regions
 */
export function createTimeline(page: PageData, store: Store | null): HTMLElement | null {
  const { timeline } = page;
  const text = document.getElementById("timeline")?.textContent ?? "";
  if (timeline === undefined || text === "") return null;
  const { names, endNs, dropped } = timeline;
  let events: TimelineEvents | null = null;
  const opened = (): TimelineEvents => {
    events ??= openTimeline(
      timeline,
      Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0)),
    );
    return events;
  };
  const tops: number[] = [];
  let allRows = AXIS;
  for (const row of timeline.rows) {
    tops.push(allRows);
    allRows += TITLE + row.lanes * LANE + ROW_GAP;
  }
  const canvas = h("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": `Timeline of ${plural(timeline.rows.length, "row")}; arrow keys move and zoom, Page Up and Page Down scroll, Home shows all; the tables hold the same numbers`,
  });
  // Browsers limit the size of a canvas: it has the height of the box, in which the rows scroll.
  const rows = h("div", {}, canvas);
  rows.style.height = `${allRows}px`;
  const box = h("div", { class: "timeline" }, rows);
  const reading = h("p", { class: "reading", role: "status" });
  let window: Window = { fromNs: 0, toNs: Math.max(endNs, LEAST_NS) };
  let chosen: Hit | null = null;
  let pending = false;

  const redraw = () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      draw();
    });
  };
  const move = (next: Window) => {
    const length = Math.min(Math.max(next.toNs - next.fromNs, LEAST_NS), Math.max(endNs, LEAST_NS));
    const fromNs = Math.min(Math.max(0, next.fromNs), Math.max(0, endNs - length));
    window = { fromNs, toNs: fromNs + length };
    redraw();
  };
  const zoom = (factor: number, around: number) => {
    const { fromNs, toNs } = window;
    const length = (toNs - fromNs) * factor;
    const centerNs = fromNs + (toNs - fromNs) * around;
    move({ fromNs: centerNs - length * around, toNs: centerNs + length * (1 - around) });
  };
  const pan = (part: number) => {
    const by = (window.toNs - window.fromNs) * part;
    move({ fromNs: window.fromNs + by, toNs: window.toNs + by });
  };

  function draw(): void {
    const width = canvas.clientWidth;
    const height = Math.min(allRows, box.clientHeight || HIDDEN_HEIGHT);
    const scale = devicePixelRatio;
    if (canvas.width !== Math.round(width * scale)) canvas.width = Math.round(width * scale);
    if (canvas.height !== Math.round(height * scale)) canvas.height = Math.round(height * scale);
    canvas.style.height = `${height}px`;
    const context = canvas.getContext("2d");
    if (context === null || width === 0) return;
    const style = getComputedStyle(canvas);
    const ink = style.color;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    const { fromNs, toNs } = window;
    const nsPerPixel = (toNs - fromNs) / width;
    const xOf = (ns: number) => (ns - fromNs) / nsPerPixel;
    drawAxis(context, { window, width, height, ink });
    const wanted = store?.get().selected ?? null;
    const span = chosenSpan();
    context.save();
    context.beginPath();
    context.rect(0, AXIS, width, height - AXIS);
    context.clip();
    const scrolled = box.scrollTop;
    for (let index = Math.max(0, rowAt(scrolled + AXIS)); index < tops.length; index++) {
      const row = timeline?.rows[index];
      const top = (tops[index] ?? 0) - scrolled;
      if (row === undefined || top >= height) break;
      context.fillStyle = ink;
      context.fillText(`${row.process === "" ? "" : `${row.process} · `}${row.label}`, 4, top + 7);
      for (const [depth, lane] of opened().lanesOf(index).entries()) {
        const y = top + TITLE + depth * LANE;
        for (const { event, next, folded, endNs: end } of visible(lane, fromNs, toNs, nsPerPixel)) {
          const start = lane.starts[event] ?? 0;
          const x = Math.max(0, xOf(start));
          const right = Math.min(width, xOf(end));
          if (row.counter !== undefined) {
            // Of several values in one pixel, the largest is drawn, so that no peak is missed.
            let most = 0;
            for (let each = event; each < next; each++)
              most = Math.max(most, lane.names[each] ?? 0);
            const tall = Math.max(1, ((LANE - 2) * most) / STEPS);
            context.fillStyle = `hsl(${hueOf(row.label)} 55% 60%)`;
            context.fillRect(x, y + LANE - 2 - tall, Math.max(1, right - x), tall);
            continue;
          }
          const name = names[lane.names[event] ?? 0] ?? "";
          const isMarked =
            (wanted !== null && depth === wanted.level && name === wanted.label) ||
            (span !== null && isLaunchedIn(lane, event, span));
          context.fillStyle = `hsl(${hueOf(name)} ${folded ? 25 : 55}% ${isMarked ? 48 : 68}%)`;
          context.fillRect(x, y, Math.max(1, right - x), LANE - 2);
          if (isMarked) {
            context.strokeStyle = ink;
            context.strokeRect(x + 0.5, y + 0.5, Math.max(1, right - x - 1), LANE - 3);
          }
          if (right - x > 28) label(context, name, { x, y, width: right - x });
        }
      }
    }
    context.restore();
  }

  /** The row and time span of the chosen range, in which launched kernels are marked. */
  const chosenSpan = () => {
    if (chosen === null || timeline?.rows[chosen.row]?.kind !== "thread") return null;
    const lane = opened().lanesOf(chosen.row)[chosen.lane];
    if (lane === undefined) return null;
    return {
      row: chosen.row,
      fromNs: lane.starts[chosen.event] ?? 0,
      toNs: lane.ends[chosen.event] ?? 0,
    };
  };

  /** The row at a height of all rows; -1 above the first. */
  const rowAt = (y: number): number => lowerBound(tops, y + 1) - 1;
  const hitAt = (x: number, shownAt: number): Hit | null => {
    if (shownAt < AXIS) return null;
    const y = shownAt + box.scrollTop;
    const row = rowAt(y);
    const lane = Math.floor((y - (tops[row] ?? 0) - TITLE) / LANE);
    const found = row < 0 ? undefined : opened().lanesOf(row)[lane];
    if (found === undefined) return null;
    const nsPerPixel = (window.toNs - window.fromNs) / canvas.clientWidth;
    const ns = window.fromNs + x * nsPerPixel;
    const event = lowerBound(found.ends, ns - nsPerPixel);
    return (found.starts[event] ?? Number.POSITIVE_INFINITY) <= ns + nsPerPixel
      ? { row, lane, event }
      : null;
  };
  const describe = (hit: Hit | null) => {
    const lane = hit === null ? undefined : opened().lanesOf(hit.row)[hit.lane];
    if (hit === null || lane === undefined) {
      reading.textContent = "";
      return;
    }
    const [start = 0, end = 0] = [lane.starts[hit.event], lane.ends[hit.event]];
    const row = timeline.rows[hit.row];
    if (row?.counter !== undefined) {
      const { min, max, unit } = row.counter;
      const value = min + ((max - min) * (lane.names[hit.event] ?? 0)) / STEPS;
      reading.textContent = `${row.label}: ${formatNumber(value)}${unit === "" ? "" : ` ${unit}`} at ${formatDuration(start / 1e6)} (from ${formatNumber(min)} to ${formatNumber(max)})`;
      return;
    }
    const name = names[lane.names[hit.event] ?? 0] ?? "";
    reading.textContent = `${name}: ${formatDuration((end - start) / 1e6)} from ${formatDuration(start / 1e6)} on ${timeline.rows[hit.row]?.label ?? ""}`;
  };
  const choose = (hit: Hit | null) => {
    chosen = hit;
    describe(hit);
    if (hit !== null && store !== null && timeline.rows[hit.row]?.kind === "thread") {
      const path = pathOf(opened().lanesOf(hit.row), hit, names);
      const region = store.get().scope.regions.find((each) => each.path === path);
      if (region !== undefined) store.set({ selected: region });
    }
    redraw();
  };

  on(canvas, "wheel", (event) => {
    event.preventDefault();
    const box = canvas.getBoundingClientRect();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      pan((event.deltaX + event.deltaY) / box.width);
    else zoom(1.0015 ** event.deltaY, (event.clientX - box.left) / box.width);
  });
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => pan(-0.2),
    ArrowRight: () => pan(0.2),
    ArrowUp: () => zoom(0.6, 0.5),
    ArrowDown: () => zoom(1 / 0.6, 0.5),
    "+": () => zoom(0.6, 0.5),
    "-": () => zoom(1 / 0.6, 0.5),
    PageUp: () => box.scrollBy({ top: -0.8 * box.clientHeight }),
    PageDown: () => box.scrollBy({ top: 0.8 * box.clientHeight }),
    Home: () => move({ fromNs: 0, toNs: endNs }),
    Escape: () => choose(null),
  };
  on(canvas, "keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Page") && box.scrollHeight <= box.clientHeight) return;
    event.preventDefault();
    act();
  });
  usePointers(canvas, {
    pan: (pixels, rowPixels) => {
      box.scrollTop -= rowPixels;
      pan(-pixels / canvas.clientWidth);
    },
    pinch: (factor, x) => zoom(factor, x / canvas.clientWidth),
    click: (x, y) => choose(hitAt(x, y)),
    point: (x, y) => describe(hitAt(x, y) ?? chosen),
  });
  on(box, "scroll", redraw);
  new ResizeObserver(redraw).observe(box);
  store?.watch((state, previous) => {
    if (previous === null || previous.selected !== state.selected) redraw();
  });
  const button = (name: string, act: () => void) =>
    on(h("button", { type: "button" }, name), "click", act);
  return h(
    "section",
    { id: "when", "aria-labelledby": "timeline-heading" },
    h("h2", { id: "timeline-heading" }, "When it happened"),
    h(
      "div",
      { class: "table-bar" },
      button("Zoom in", () => zoom(0.5, 0.5)),
      button("Zoom out", () => zoom(2, 0.5)),
      button("All", () => move({ fromNs: 0, toNs: endNs })),
    ),
    box,
    reading,
    h(
      "p",
      { class: "hint" },
      `Wheel or pinch zooms, dragging or arrow keys move; dragging, the scroll bar or Page Down shows further rows; a click on a range selects its region and marks the kernels launched in it.${dropped > 0 ? ` ${plural(dropped, "event is", "events are")} left out.` : ""}`,
    ),
  );
}

const isLaunchedIn = (
  { launches, launchRows }: Lane,
  event: number,
  { row, fromNs, toNs }: { readonly row: number } & Window,
): boolean =>
  launches !== null &&
  launchRows?.[event] === row &&
  (launches[event] ?? -1) >= fromNs &&
  (launches[event] ?? -1) < toNs;

/** Names of the enclosing ranges of an event, followed by its own. */
function pathOf(lanes: readonly Lane[], { lane, event }: Hit, names: readonly string[]): string {
  const start = lanes[lane]?.starts[event] ?? 0;
  return lanes
    .slice(0, lane + 1)
    .map((each, depth) => {
      const place = depth === lane ? event : lowerBound(each.ends, start + 1);
      return names[each.names[place] ?? 0] ?? "";
    })
    .join(" / ");
}

function label(
  context: CanvasRenderingContext2D,
  name: string,
  { x, y, width }: { readonly x: number; readonly y: number; readonly width: number },
): void {
  const most = Math.floor((width - 6) / 6.2);
  if (most < 3) return;
  context.fillStyle = "#14181d";
  context.fillText(name.length > most ? `${name.slice(0, most - 1)}…` : name, x + 3, y + 7.5);
}

function drawAxis(
  context: CanvasRenderingContext2D,
  {
    window: { fromNs, toNs },
    width,
    height,
    ink,
  }: {
    readonly window: Window;
    readonly width: number;
    readonly height: number;
    readonly ink: string;
  },
): void {
  const wanted = (toNs - fromNs) / Math.max(2, width / 110);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= wanted) ?? wanted;
  for (let ns = Math.ceil(fromNs / step) * step; ns <= toNs; ns += step) {
    const x = ((ns - fromNs) / (toNs - fromNs)) * width;
    context.globalAlpha = 0.15;
    context.fillStyle = ink;
    context.fillRect(x, AXIS - 4, 1, height);
    context.globalAlpha = 1;
    context.fillText(axisText(ns, step), x + 3, 8);
  }
}

const axisText = (ns: number, step: number): string => {
  const [unit, size] =
    step >= 1e8
      ? (["s", 1e9] as const)
      : step >= 1e5
        ? (["ms", 1e6] as const)
        : (["µs", 1e3] as const);
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return `${(ns / size).toFixed(digits)} ${unit}`;
};

interface PointerActions {
  /** Movement along the time, and across rows. */
  readonly pan: (pixels: number, rowPixels: number) => void;
  readonly pinch: (factor: number, x: number) => void;
  readonly click: (x: number, y: number) => void;
  readonly point: (x: number, y: number) => void;
}

/** One pointer moves, two zoom; a movement smaller than the tremor of a finger is a click. */
function usePointers(canvas: HTMLCanvasElement, actions: PointerActions): void {
  const down = new Map<number, { x: number; y: number }>();
  let moved = 0;
  const placeOf = (event: PointerEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  on(canvas, "pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    down.set(event.pointerId, placeOf(event));
    if (down.size === 1) moved = 0;
  });
  on(canvas, "pointermove", (event) => {
    const place = placeOf(event);
    const last = down.get(event.pointerId);
    if (last === undefined) return actions.point(place.x, place.y);
    const others = [...down].filter(([id]) => id !== event.pointerId);
    down.set(event.pointerId, place);
    const other = others[0]?.[1];
    moved += Math.abs(place.x - last.x) + Math.abs(place.y - last.y);
    if (other === undefined) actions.pan(place.x - last.x, place.y - last.y);
    else {
      const [was, is] = [last, place].map(({ x }) => Math.max(8, Math.abs(x - other.x)));
      actions.pinch((was ?? 1) / (is ?? 1), (place.x + other.x) / 2);
    }
  });
  for (const name of ["pointerup", "pointercancel"] as const)
    on(canvas, name, (event) => {
      const place = placeOf(event);
      if (name === "pointerup" && down.size === 1 && moved < 4) actions.click(place.x, place.y);
      down.delete(event.pointerId);
    });
}
