import { buildScalar } from "../construction.ts";
import { invalid, textOf, type ValueTag } from "./tag-constructor.ts";

/** Base64 as Python decodes it: other characters are passed over, padding ends the data. */
export const BINARY: ValueTag = {
  kind: "value",
  tag: "tag:yaml.org,2002:binary",
  construct(node, construction) {
    const text = textOf(node, construction);
    if (/[^\0-\x7f]/.test(text))
      throw invalid(node, construction, "failed to convert base64 data into ascii");
    const digits = dataDigits(text);
    if (digits === null)
      throw invalid(node, construction, "failed to decode base64 data: Incorrect padding");
    return buildScalar(node, new Uint8Array(Buffer.from(digits, "base64")), construction);
  },
};

/** The base64 digits that count, or null where they are no whole number of bytes. */
function dataDigits(text: string): string | null {
  let digits = "";
  let pads = 0;
  for (const c of text) {
    if (c === "=") {
      const position = digits.length % 4;
      if (position >= 2 && position + ++pads >= 4) return digits;
    } else if (/[A-Za-z0-9+/]/.test(c)) {
      digits += c;
      pads = 0;
    }
  }
  return digits.length % 4 === 0 ? digits : null;
}
