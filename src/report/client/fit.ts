/** Charts that are as wide as there is room, so that their text keeps its size on every screen. */
import { keepingStop } from "./choosable.ts";
import { h } from "./dom.ts";

/** Wider than this the eye loses the line. */
const WIDEST = 1100;
/** Narrower than any screen. */
const LEAST = 100;
/** What is drawn before the page knows its room. */
const USUAL = 900;
/** Below it a chart has no room beside its labels. */
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
    // A hidden chart has no width, one that is being laid out hardly any; one in use keeps its place.
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
