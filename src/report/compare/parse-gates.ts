/**
 * The language of `--fail-on`: `total_ms>5%,region:stem.kernel_count>0` says what may not have changed from A to
 * B. A condition is `[region:GLOB.|kernel:GLOB.]NAME OP NUMBER[%]`, and compares the change of that
 * number, absolute or in percent of A.
 */
import { usage } from "../../command-line/command-line.ts";

const OPERATORS = [">", ">=", "<", "<="] as const;

export interface Gate {
  /** As written. */
  readonly text: string;
  readonly subject: GateSubject;
  /** E.g. `total_ms` or `gpu__time_duration.sum`. */
  readonly name: string;
  readonly operator: (typeof OPERATORS)[number];
  readonly limit: number;
  readonly percent: boolean;
}

export type GateSubject =
  | { readonly kind: "totals" }
  | { readonly kind: "region" | "kernel"; readonly pattern: string };

/** How a condition ends. */
const LIMIT = /(>=|<=|>|<)\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(%?)$/i;
/** Whose number it is; ambiguous labels are written in quotes. */
const KIND = /^(region|kernel):/i;
const QUOTED = /^"(?:[^"\\]|\\.)*"\./s;

/** @throws ConfigError `app.usage` with the condition and the form it should have */
export function parseGates(text: string): readonly Gate[] {
  const gates = splitConditions(text).map(parseGate);
  if (gates.length === 0) throw usage("--fail-on needs a condition");
  return gates;
}

function parseGate(text: string): Gate {
  const limit = LIMIT.exec(text);
  const measure = limit === null ? null : parseMeasure(text.slice(0, limit.index).trimEnd());
  const operator = OPERATORS.find((one) => one === limit?.[1]);
  if (limit === null || measure === null || operator === undefined)
    throw usage(
      `--fail-on: '${text}' is not a condition`,
      "NAME>5%, region:GLOB.NAME>5% or kernel:GLOB.NAME>=0.1, with >, >=, < or <=",
    );
  const [, , number, percent] = limit;
  return { text, ...measure, operator, limit: Number(number), percent: percent === "%" };
}

/** `[region:GLOB.|kernel:GLOB.]NAME`; null if it has another form. */
function parseMeasure(text: string): Pick<Gate, "subject" | "name"> | null {
  const [prefix, kind] = KIND.exec(text) ?? [];
  if (prefix === undefined || kind === undefined)
    return isName(text) ? { subject: { kind: "totals" }, name: text } : null;
  const rest = text.slice(prefix.length);
  const start = rest.startsWith('"') ? (QUOTED.exec(rest)?.[0].length ?? 0) : nameStart(rest);
  if (start < 2 || !isName(rest.slice(start))) return null;
  const pattern = unquote(rest.slice(0, start - 1));
  const isKernel = kind.toLowerCase() === "kernel";
  return { subject: { kind: isKernel ? "kernel" : "region", pattern }, name: rest.slice(start) };
}

/**
 * Start of the longest name at the end of a text, after a dot. Labels may contain dots, and so may metrics,
 * which are recognized by the `__` in their first word. 0 without one.
 */
function nameStart(text: string): number {
  let found = 0;
  let end = text.length;
  while (end > 0) {
    const dot = text.lastIndexOf(".", end - 1);
    const word = text.slice(dot + 1, end);
    if (dot < 0 || !/^\w+$/.test(word)) return found;
    if (METRIC_WORD.test(word) || (end === text.length && /^[a-z]/i.test(word))) found = dot + 1;
    end = dot;
  }
  return found;
}

const METRIC_WORD = /^[a-z]\w*__\w/i;
const isName = (text: string): boolean =>
  /^[a-z]\w*$/i.test(text) || (METRIC_WORD.test(text) && /^\w+(?:\.\w+)*$/.test(text));

/** Splits at commas outside quotes; an unclosed quote extends to the end. */
function splitConditions(text: string): readonly string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/gs) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const unquote = (pattern: string): string =>
  pattern.startsWith('"') ? pattern.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : pattern;
