import { append, breakLine, type Output, startLine } from "./output.ts";

/** A literal block, used only for base64: lines that are not empty, each with its line break. */
export function emitLiteral(out: Output, text: string, indent: number): void {
  append(out, "|");
  breakLine(out);
  for (const line of text.split("\n")) {
    if (line === "") continue;
    startLine(out, indent);
    append(out, line);
    breakLine(out);
  }
}
