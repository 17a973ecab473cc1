/** Sections have the shape their collector gives them: arbitrary objects and lists. */
import { h } from "./dom.ts";
import { formatNumber } from "./format.ts";

/** Nested values go below their name, since a phone has no space beside it. */
export function drawValue(value: unknown): HTMLElement {
  const text = textOf(value);
  if (text !== null) return h("span", {}, text);
  const entries = Object.entries(value as object);
  if (entries.length === 0) return h("span", {}, "none");
  if (Array.isArray(value))
    return h("ol", {}, ...value.map((item) => h("li", {}, drawValue(item))));
  const simple = entries.flatMap(([name, item]) => {
    const own = textOf(item);
    return own === null ? [] : [[name, own] as const];
  });
  return h(
    "div",
    {},
    ...(simple.length === 0 ? [] : [pairs(simple)]),
    ...entries.flatMap(([name, item]) =>
      textOf(item) === null ? [h("h4", {}, name), drawValue(item)] : [],
    ),
  );
}

/** Rows of names and values. */
const pairs = (rows: readonly (readonly [string, string])[]): HTMLElement =>
  h(
    "table",
    { class: "facts pairs" },
    h(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)),
      ),
    ),
  );

/** Null if it does not fit on one line. */
function textOf(value: unknown): string | null {
  if (typeof value === "number") return formatNumber(value);
  if (typeof value !== "object" || value === null) return String(value);
  return isMetric(value) ? `${formatNumber(value.value)} ${value.unit}` : null;
}

const isMetric = (value: object): value is { value: number | null; unit: string } =>
  "unit" in value &&
  typeof value.unit === "string" &&
  "value" in value &&
  (value.value === null || typeof value.value === "number");
