import type { PathValue, ScalarValue } from "../node.ts";
import { analyzeScalar, type ScalarAnalysis } from "./analyze-scalar.ts";
import { emitDoubleQuoted } from "./emit-double-quoted.ts";
import { emitLiteral } from "./emit-literal.ts";
import { emitPlain } from "./emit-plain.ts";
import { emitSingleQuoted } from "./emit-single-quoted.ts";
import { append, type Output, type ScalarRole } from "./output.ts";
import { representScalar, type ScalarText } from "./represent-scalar.ts";

export type PlainScalar = Exclude<ScalarValue, PathValue>;

type Style = "plain" | "single" | "double" | "literal";

/** PyYAML writes longer keys as `? key`. */
const MAX_KEY_LENGTH = 128;
/** `!!float`; a key that is this near to the limit is measured exactly. */
const LONGEST_TAG = 7;

/**
 * Words that only a closer look can tell from other types. Any other text of letters, digits and
 * `_/.-` that begins with a letter is a plain string: nearly every key and most values.
 */
const WORD = /^[A-Za-z_/][A-Za-z0-9_/.-]*$/;
const AMBIGUOUS = /^(?:[yn]|yes|no|true|false|on|off|null|inf|infinity|nan)$/i;

/** Writes a value. `indent` is where continuation lines go; the cursor stands where it begins. */
export function emitValue(out: Output, value: PlainScalar, indent: number): Style {
  const simple = simpleText(value);
  if (simple !== null) {
    append(out, simple);
    return "plain";
  }
  const represented = representScalar(value);
  const analysis = analyzeScalar(represented.text);
  return emit(out, represented, analysis, indent, "value");
}

/** Writes a key that fits in front of its `:`; returns false, writing nothing, for any other. */
export function emitSimpleKey(out: Output, key: PlainScalar, indent: number): boolean {
  const simple = simpleText(key);
  if (simple !== null && simple.length + LONGEST_TAG < MAX_KEY_LENGTH) {
    append(out, simple);
    return true;
  }
  const represented = representScalar(key);
  const analysis = analyzeScalar(represented.text);
  const tooLong = represented.tag.length + analysis.length >= MAX_KEY_LENGTH;
  if (tooLong || analysis.empty || analysis.multiline) return false;
  emit(out, represented, analysis, indent, "simple key");
  return true;
}

/** The text of a scalar that is written plain and never folded, whatever stands around it. */
function simpleText(value: PlainScalar): string | null {
  if (typeof value === "string") return isWord(value) ? value : null;
  return value instanceof Uint8Array ? null : representScalar(value).text;
}

const isWord = (text: string): boolean =>
  WORD.test(text) && !(text.length < 9 && AMBIGUOUS.test(text));

function emit(
  out: Output,
  { text, tag, style: wanted }: ScalarText,
  analysis: ScalarAnalysis,
  indent: number,
  role: ScalarRole,
): Style {
  const style = chooseStyle(wanted, analysis, role);
  if (tag === "!!binary") append(out, "!!binary ");
  if (style === "plain") emitPlain(out, text, analysis.length, indent, role);
  else if (style === "single") emitSingleQuoted(out, text, analysis.length, indent, role);
  else if (style === "double") emitDoubleQuoted(out, text, indent, role);
  else emitLiteral(out, text, indent);
  return style;
}

function chooseStyle(
  wanted: ScalarText["style"],
  analysis: ScalarAnalysis,
  role: ScalarRole,
): Style {
  if (wanted === "plain" && analysis.allowPlain) return "plain";
  // Where a block was asked for and cannot be (no bytes at all), PyYAML turns to double quotes.
  if (wanted === "literal") return analysis.allowBlock && role === "value" ? "literal" : "double";
  return analysis.allowSingleQuoted ? "single" : "double";
}
