import type { ConfigNode, ScalarValue } from "../values/node.ts";
import { floatRepr } from "../values/python-text.ts";
import { keyText } from "./json-document.ts";

const LONGEST_VALUE = 120;

/** What stands before the first difference of two long values, so that one sees where it is. */
const CONTEXT = 24;

/** A value on one line, as one would write it in YAML's flow style; long ones are cut. */
export const showValue = (node: ConfigNode): string => cut(flow(node));

/**
 * Two values that differ, as `showValue` has them; of long ones, the part from where they begin to
 * differ, which cutting each alone would hide.
 */
export function showBoth(before: ConfigNode, after: ConfigNode): readonly [string, string] {
  const texts = [flow(before), flow(after)] as const;
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
  if (value instanceof Uint8Array) return `!!binary ${Buffer.from(value).toString("base64")}`;
  if (typeof value === "object" && value !== null) return value.path;
  // An integer is a bigint: `1.0` must not read like one.
  return typeof value === "number" ? floatRepr(value) : String(value);
}
