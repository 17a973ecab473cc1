/** Values in messages: on one line, cut where they are long. */

import { isBytes } from "../../foundation/system/builtin-types.ts";
import { toBase64 } from "../../foundation/text/bytes.ts";
import type { ConfigNode, ScalarValue } from "../values/node.ts";
import { floatRepr } from "../values/python-text.ts";
import { keyText } from "./json-document.ts";

const LONGEST_VALUE = 120;

/** Number of characters shown before the first difference of two long values. */
const CONTEXT = 24;

/** A value on one line, in YAML's flow style; a long one is cut. */
export const showValue = (node: ConfigNode): string => cut(flow(node));

/**
 * Two different values in the format of `showValue`. Long ones are shown from their first difference, which cutting
 * each alone could hide.
 */
export function showBoth(older: ConfigNode, after: ConfigNode): readonly [string, string] {
  const texts = [flow(older), flow(after)] as const;
  const isLong = texts.some((text) => text.length > LONGEST_VALUE);
  const start = isLong ? Math.max(0, commonStart(...texts) - CONTEXT) : 0;
  const from = (text: string) => cut(start === 0 ? text : `...${text.slice(start)}`);
  return [from(texts[0]), from(texts[1])];
}

const cut = (text: string): string =>
  text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 3)}...`;

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

function flow(node: ConfigNode): string {
  switch (node.kind) {
    case "scalar":
      return flowScalar(node.value);
    case "list":
      return `[${node.items.map(flow).join(", ")}]`;
    case "map":
      return `{${[...node.entries.values()]
        .map(({ key, value }) => `${keyText(key)}: ${flow(value)}`)
        .join(", ")}}`;
  }
}

function flowScalar(value: ScalarValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (isBytes(value)) return `!!binary ${toBase64(value)}`;
  if (typeof value === "object" && value !== null) return value.path;
  // Only a bigint is an integer: `1.0` must not be shown as one.
  return typeof value === "number" ? floatRepr(value) : String(value);
}
