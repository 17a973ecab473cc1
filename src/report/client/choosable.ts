/** Marks of a chart that can be chosen with the pointer, or with the keyboard as a single tab stop. */

const STEPS: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
};

export interface Choosable {
  readonly element: SVGElement;
  readonly choose: () => void;
}

/** In the order of the arrow keys; Home and End go to the first and last mark, Enter and Space choose. */
export function makeChoosable(marks: readonly Choosable[]): void {
  for (const [at, { element, choose }] of marks.entries()) {
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", at === 0 ? "0" : "-1");
    element.addEventListener("click", choose);
    element.addEventListener("keydown", (event) => {
      if (isShortcut(event)) return;
      if (event.key === "Enter" || event.key === " ") choose();
      else {
        const next = marks[targetOf(event.key, at, marks.length)];
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
 * Redraws a chart with the same marks in other places. The tab stop stays with its mark, and so does the
 * focus; otherwise keyboard users would start over whenever the page is zoomed or rotated.
 */
export function keepingStop(chart: Element, redraw: () => void): void {
  const marks = () => [...chart.querySelectorAll<SVGElement>("[role='button'][tabindex]")];
  const before = marks();
  const at = before.findIndex((mark) => mark.getAttribute("tabindex") === "0");
  const isFocused = at >= 0 && before[at] === document.activeElement;
  redraw();
  const after = marks();
  const stop = after[at];
  if (stop === undefined) return;
  for (const mark of after) mark.setAttribute("tabindex", mark === stop ? "0" : "-1");
  if (isFocused) stop.focus({ preventScroll: true });
}

/** Keys of the browser or the system, such as Alt and an arrow, which goes back. */
export const isShortcut = ({ altKey, ctrlKey, metaKey }: KeyboardEvent): boolean =>
  altKey || ctrlKey || metaKey;

function targetOf(key: string, at: number, count: number): number {
  if (key === "Home") return 0;
  if (key === "End") return count - 1;
  return at + (STEPS[key] ?? Number.NaN);
}
