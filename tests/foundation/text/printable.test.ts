import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  forTerminal,
  printable,
  printableLabel,
  visibleControls,
  writerTo,
} from "../../../src/foundation/text/printable.ts";
import { anyName } from "../../report/bundles.ts";

describe("printable text", () => {
  it("shows what would act instead of being read", () => {
    expect(printable("a\nb\t\u001b[0m\u202e")).toBe("a\\nb\\t\\u{1b}[0m\\u{202e}");
    expect(printableLabel("")).toBe("(no name)");
    expect(printableLabel("  x")).toBe('"  x"');
  });

  it("keeps breaks of lines and tabs where text has several lines", () => {
    expect(visibleControls("a\n\tb\r\u001b")).toBe("a\n\tb\\r\\u{1b}");
  });

  it("keeps both ends of a long name, and is never longer than it", () => {
    const kernel = (last: string) => `void elementwise_kernel<128, ${"x".repeat(200)}, ${last}>`;
    expect(printableLabel(kernel("float"))).not.toBe(printableLabel(kernel("double")));
    expect(printableLabel("abcdefghij", 10)).toBe("abcdefghij");
    expect(printableLabel("abcdefghijk", 10)).toBe("abcdef…ijk");
  });

  it("never holds a control character or half a character", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        expect(printableLabel(name)).toMatch(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+$/u);
      }),
    );
  });
});

describe("text for a terminal", () => {
  const aControl = fc.constantFrom(
    ...[
      "\u001b[2J",
      "\u001b]0;title\u0007",
      "\u001b",
      "\u0007",
      "\r",
      "\b",
      "\u009b31m",
      "\u202e",
      "\u001b[31m",
    ],
    ...["\u001b[1;", "[31m", "\u001bc", "\n", "\t", "\u001b[?25l", "\u001b[6n"],
  );

  it("holds no control character but line breaks, tabs and those of colours", () => {
    const aText = fc.array(fc.oneof(aControl, fc.string({ unit: "binary", maxLength: 5 })));
    fc.assert(
      fc.property(aText, (parts) => {
        const shown = forTerminal(parts.join(""));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what may stay
        expect(shown.replaceAll(/\u001b\[[\d;]*m|[\n\t]/g, "")).not.toMatch(/[\p{Cc}\u202e]/u);
      }),
    );
  });

  it("is otherwise as it was", () => {
    const text = "\u001b[31mred\u001b[0m\n\tä👩‍👧";
    expect(forTerminal(text)).toBe(text);
  });

  it("is what a terminal gets, and nothing else", () => {
    const written = (isTTY: boolean): string => {
      let all = "";
      writerTo({ isTTY, write: (text) => (all += text) })("a\u0007");
      return all;
    };
    expect([written(true), written(false)]).toEqual(["a\\u{7}", "a\u0007"]);
  });
});
