import type { ConfigNode, ScalarValue } from "../values/node.ts";
import { floatRepr } from "../values/python-number.ts";
import { keyText } from "./json-document.ts";

const LONGEST_VALUE = 120;

/** A value on one line, as one would write it in YAML's flow style; long ones are cut. */
export function showValue(node: ConfigNode): string {
  const text = flow(node);
  return text.length <= LONGEST_VALUE ? text : `${text.slice(0, LONGEST_VALUE - 3)}...`;
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
