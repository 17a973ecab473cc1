import type { JsonText } from "../../src/report/validation/json-text.ts";

/** A text that comes in pieces of so many characters, which cut anything in two. */
export const inPieces =
  (text: string, length: number): JsonText =>
  () =>
    Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
      text.slice(index * length, (index + 1) * length),
    );
