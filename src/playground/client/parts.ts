/** Parts of the page that are made of data: places, histories of values, problems, differences. */
import { plural } from "../../foundation/text/plural.ts";
import { h, on } from "../../pages/client/dom.ts";
import type { HistoryStep, ValueHistory } from "../model/config-lines.ts";
import type { ShownDifference, ShownValue } from "../model/differences.ts";
import type { Problem, ShownPlace } from "../model/problems.ts";

/** Shows a file at a line. */
export type OpenFile = (path: string, line?: number) => void;

/** A place; a button if it is a line of a file that is there. */
function placeElement(place: ShownPlace, openFile: OpenFile): HTMLElement {
  if (place.kind !== "file") return h("code", {}, place.text);
  const { line, path, text } = place;
  return on(h("button", { type: "button", class: "place" }, text), "click", () =>
    openFile(path, line),
  );
}

/** Where a value comes from, and what it replaced. */
export function historyElement(history: ValueHistory, openFile: OpenFile): HTMLElement {
  const { key, note, replaced, resolved, setBy, value } = history;
  const step = (label: string, { broughtInBy, place }: HistoryStep) =>
    h(
      "div",
      { class: "step" },
      h("p", {}, `${label} `, placeElement(place, openFile)),
      ...broughtInBy.map((source) =>
        h(
          "p",
          { class: "through" },
          source.text,
          ...(source.place === undefined ? [] : [" ", placeElement(source.place, openFile)]),
        ),
      ),
    );
  return h(
    "div",
    { class: "history" },
    h("p", { class: "value" }, h("code", {}, `${key} = ${value}`)),
    ...(resolved === undefined
      ? []
      : [
          resolved.isProblem
            ? h("p", { class: "hint" }, `not resolved here: ${resolved.text}`)
            : h("p", {}, "resolves to ", h("code", {}, resolved.text)),
        ]),
    step("set by", setBy),
    ...replaced.map((entry) => step(`replaced ${entry.value} of`, entry)),
    ...(note === undefined ? [] : [h("p", { class: "hint" }, note)]),
  );
}

export function problemElement(problem: Problem, openFile: OpenFile): HTMLElement {
  const { available, code, hint, message, nearest, place } = problem;
  return h(
    "li",
    {},
    ...message.map((line, index) => h("p", { class: index === 0 ? "message" : "" }, line)),
    ...(place === undefined || place.kind === "override"
      ? []
      : [h("p", {}, "at ", placeElement(place, openFile))]),
    ...(nearest === undefined ? [] : [h("p", {}, "Did you mean ", h("code", {}, nearest), "?")]),
    ...(available.length === 0
      ? []
      : [
          h(
            "p",
            { class: "hint" },
            `There is: ${available.slice(0, MOST_NAMES).join(", ")}${available.length > MOST_NAMES ? `, and ${available.length - MOST_NAMES} more` : ""}`,
          ),
        ]),
    ...(hint === undefined ? [] : [h("p", { class: "hint" }, hint)]),
    h("p", { class: "code" }, code),
  );
}

const MOST_NAMES = 20;

/** The differences as a table. */
export function differenceElement(
  differences: readonly ShownDifference[],
  openFile: OpenFile,
): HTMLElement {
  const titles = ["Key", "Compared", "Config"] as const;
  const cell = (title: string, shown: ShownValue | undefined) =>
    h(
      "td",
      { "data-title": title },
      ...(shown === undefined
        ? [h("span", { class: "hint" }, "not there")]
        : [h("div", {}, h("code", {}, shown.text), " ", placeElement(shown.place, openFile))]),
    );
  const rows = differences.map(({ key, kind, newer, older }) =>
    h(
      "tr",
      { class: kind },
      h("th", { scope: "row" }, h("code", {}, key)),
      cell(titles[1], older),
      cell(titles[2], newer),
    ),
  );
  return h(
    "div",
    { class: "scroll" },
    h(
      "p",
      { class: "count" },
      differences.length === 0
        ? "The configs are equal."
        : `${plural(differences.length, "key")} differ${differences.length === 1 ? "s" : ""}`,
    ),
    ...(rows.length === 0
      ? []
      : [
          h(
            "table",
            { class: "differences", "aria-label": "Differences" },
            h("thead", {}, h("tr", {}, ...titles.map((title) => h("th", { scope: "col" }, title)))),
            h("tbody", {}, ...rows),
          ),
        ]),
  );
}
