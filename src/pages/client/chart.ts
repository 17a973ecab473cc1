/**
 * Charts as wide as the space available, so that their text has the same size on every screen. Their marks can be
 * selected with the pointer or the keyboard.
 */
import { h } from "./dom.ts";

/** Maximum width, in pixels: in wider charts, readers lose track of a row. */
const WIDEST = 1100;
/** Narrower than any screen, in pixels. */
const LEAST = 100;
/** The width in pixels until the available space is known. */
const USUAL = 900;
/** Below this width in pixels, only labels would fit. */
export const NARROW = 560;
/** Average width of a character of a chart's text, in pixels. */
export const CHARACTER = 7;

export interface ResponsiveChart {
  readonly element: HTMLElement;
  /** @param draw makes the chart for a width in pixels; called again when the width changes */
  show(draw: (width: number) => Node): void;
}

export function createResponsiveChart(): ResponsiveChart {
  const element = h("div", { class: "chart" });
  let width = USUAL;
  let draw: ((width: number) => Node) | null = null;
  const redraw = () => {
    if (draw !== null) element.replaceChildren(draw(width));
  };
  new ResizeObserver(([entry]) => {
    const room = Math.round(Math.min(entry?.contentRect.width ?? 0, WIDEST));
    // A hidden chart has no width, and almost none during layout. The chart keeps its last drawing then.
    if (room < LEAST || room === width) return;
    width = room;
    redrawKeepingFocus(element, redraw);
  }).observe(element);
  return {
    element,
    show(next) {
      draw = next;
      redraw();
    },
  };
}

// Marks of a chart that can be chosen with the pointer, or with the keyboard as a single tab stop.

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
};

export interface SelectableMark {
  readonly element: SVGElement;
  readonly choose: () => void;
}

/** In the order of the arrow keys; Home and End go to the first and last mark, Enter and Space choose. */
export function makeSelectable(marks: readonly SelectableMark[]): void {
  for (const [index, { element, choose }] of marks.entries()) {
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", index === 0 ? "0" : "-1");
    element.addEventListener("click", choose);
    element.addEventListener("keydown", (event) => {
      if (isShortcut(event)) return;
      if (event.key === "Enter" || event.key === " ") choose();
      else {
        const next = marks[targetOf(event.key, index, marks.length)];
        if (next === undefined) return;
        element.setAttribute("tabindex", "-1");
        next.element.setAttribute("tabindex", "0");
        next.element.focus();
      }
      event.preventDefault();
    });
  }
}

/**
 * Redraws a chart whose marks are in other places. The tab stop and the focus stay on their marks; otherwise keyboard
 * users would start over whenever the page is zoomed or rotated.
 */
function redrawKeepingFocus(chart: Element, redraw: () => void): void {
  const marks = () => [...chart.querySelectorAll<SVGElement>("[role='button'][tabindex]")];
  const previous = marks();
  const index = previous.findIndex((mark) => mark.getAttribute("tabindex") === "0");
  const isFocused = index >= 0 && previous[index] === document.activeElement;
  redraw();
  const after = marks();
  const stop = after[index];
  if (stop === undefined) return;
  for (const mark of after) mark.setAttribute("tabindex", mark === stop ? "0" : "-1");
  if (isFocused) stop.focus({ preventScroll: true });
}

/** Whether a key is meant for the browser or the system, such as Alt with an arrow for going back. */
export const isShortcut = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  altKey || ctrlKey || metaKey;

function targetOf(key: string, index: number, count: number): number {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return index + (STEPS[key] ?? Number.NaN);
}
