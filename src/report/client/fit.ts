/** Charts that are as wide as there is room, so that their text keeps its size on every screen. */
import { h } from "./dom.ts";

/** Wider than this the eye loses the line. */
const WIDEST = 1100;
/** What is drawn before the page knows its room. */
const USUAL = 900;
/** Below it a chart has no room beside its labels. */
export const NARROW = 560;
/** Average width of a character of a chart's text, in pixels. */
export const CHARACTER = 7;

/** East Asian scripts and emoji, about twice as wide. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f300}-\u{3fffd}]/u;

const widthOf = (characters: readonly string[]): number =>
  characters.reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);

/**
 * A path in so many characters of usual width. The end tells regions of one name apart, as long as there
 * is room for the whole label.
 */
export function shortenPath(
  { label, path }: { readonly label: string; readonly path: string },
  most: number,
): string {
  if (widthOf([...path]) <= most) return path;
  const name = [...label];
  if (widthOf(name) >= most) return `${longestStart(name, most - 1).join("")}…`;
  return `…${longestStart([...path].reverse(), most - 1)
    .reverse()
    .join("")}`;
}

function longestStart(characters: readonly string[], most: number): string[] {
  let used = 0;
  const end = characters.findIndex((character) => {
    used += widthOf([character]);
    return used > most;
  });
  return characters.slice(0, end < 0 ? characters.length : end);
}

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
    // A hidden chart has no width; one that is being used keeps its place.
    if (room === 0 || room === width) return;
    width = room;
    redraw();
  }).observe(element);
  return {
    element,
    show(next) {
      draw = next;
      redraw();
    },
  };
}
