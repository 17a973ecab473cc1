import type { PathValue, ScalarValue } from "../node.ts";
import { floatRepr, parsePythonFloat, parsePythonInt } from "../python-number.ts";
import { plainTag } from "../yaml/resolve-plain.ts";
import { TAG } from "../yaml/syntax-node.ts";

/** A scalar as text, before the style is chosen. */
export interface ScalarText {
  readonly text: string;
  /** The tag in short form; PyYAML counts it in the length of a key even where it is not written. */
  readonly tag: "!!str" | "!!null" | "!!bool" | "!!int" | "!!float" | "!!binary";
  /** `quoted` and `literal` were asked for; `plain` is free to be anything. */
  readonly style: "plain" | "quoted" | "literal";
}

/** Texts that YAML 1.1 tools may take for booleans; `y` and `n` among them. */
const BOOLEAN_WORDS: ReadonlySet<string> = new Set(
  ["y", "yes", "n", "no", "true", "false", "on", "off"].flatMap((word) => [
    word,
    word.toUpperCase(),
    word.charAt(0).toUpperCase() + word.slice(1),
  ]),
);

export function representScalar(value: Exclude<ScalarValue, PathValue>): ScalarText {
  if (value === null) return { text: "null", tag: "!!null", style: "plain" };
  switch (typeof value) {
    case "boolean":
      return { text: value ? "true" : "false", tag: "!!bool", style: "plain" };
    case "bigint":
      return { text: value.toString(), tag: "!!int", style: "plain" };
    case "number":
      return { text: floatText(value), tag: "!!float", style: "plain" };
    case "string":
      return { text: value, tag: "!!str", style: needsQuotes(value) ? "quoted" : "plain" };
    default:
      return { text: base64Lines(value), tag: "!!binary", style: "literal" };
  }
}

/** Whether the text, written plain, would be read as anything but a string. */
const needsQuotes = (text: string): boolean =>
  BOOLEAN_WORDS.has(text) || plainTag(text, "pyyaml") !== TAG.string || isPythonNumber(text);

/** What every text begins with that Python's int() or float() accepts, white space aside. */
const NUMBER_START = /^[\s\p{Cc}]*[-+.iInN\p{Nd}]/u;

/** OmegaConf quotes whatever Python takes for a number, be it one in YAML or not. */
const isPythonNumber = (text: string): boolean =>
  NUMBER_START.test(text) && (parsePythonInt(text) !== null || parsePythonFloat(text) !== null);

/** Python's repr with a `.0` in front of a bare exponent, so that it is a float in YAML 1.1. */
function floatText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  const text = floatRepr(value);
  return text.includes(".") ? text : text.replace("e", ".0e");
}

/** Lines of 76 characters, as Python's `base64.encodebytes` breaks them. */
function base64Lines(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString("base64");
  return text.replace(/.{1,76}/g, "$&\n");
}
