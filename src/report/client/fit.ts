/** Charts as wide as the space available, so that their text has the same size on every screen. */
import { keepingStop } from "./choosable.ts";
import { h } from "./dom.ts";

/** In wider charts the eye loses the line. */
const WIDEST = 1100;
/** Narrower than any screen. */
const LEAST = 100;
/** Width before the available space is known. */
const USUAL = 900;
/** In narrower charts only labels would fit. */
export const NARROW = 560;
/** Average width of a character of a chart's text, in pixels. */
export const CHARACTER = 7;

export interface FittedChart {
  readonly element: HTMLElement;
  /** @param draw makes the chart for a width in pixels; called again when the width changes */
  show(draw: (width: number) => Node): void;
}

export function createFitted(): FittedChart {
  const element = h("div", { class: "chart" });
  let width = USUAL;
  let draw: ((width: number) => Node) | null = null;
  const redraw = () => {
    if (draw !== null) element.replaceChildren(draw(width));
  };
  new ResizeObserver(([entry]) => {
    const room = Math.round(Math.min(entry?.contentRect.width ?? 0, WIDEST));
    // A hidden chart has no width, and one being laid out almost none; a visible one keeps its place.
    if (room < LEAST || room === width) return;
    width = room;
    keepingStop(element, redraw);
  }).observe(element);
  return {
    element,
    show(next) {
      draw = next;
      redraw();
    },
  };
}
