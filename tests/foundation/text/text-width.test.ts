import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  columnWidths,
  fitText,
  padText,
  textWidth,
  wrapText,
} from "../../../src/foundation/text/text-width.ts";
import { anyName } from "../../report/bundles.ts";

describe("text width", () => {
  it("counts columns, not code units", () => {
    expect(textWidth("stem")).toBe(4);
    expect(textWidth("漢字")).toBe(4);
    expect(textWidth("e\u0301")).toBe(1);
    expect(textWidth("👩‍👩‍👧")).toBe(2);
    expect(textWidth("–…└")).toBe(3);
    expect(textWidth("\u0301")).toBe(0);
    // A text symbol is an emoji where a selector follows; zero-width characters take no column.
    expect([textWidth("©"), textWidth("©\ufe0f"), textWidth("a\u200bb")]).toEqual([1, 2, 2]);
  });

  it("of a column is that of its widest cell, also where a row is short", () => {
    expect(columnWidths([["a", "b"], ["漢字"], ["", "ccc"]])).toEqual([4, 3]);
    expect(columnWidths([])).toEqual([]);
  });

  it("cuts what somebody made a megabyte long in no time", () => {
    expect(fitText("é".repeat(1_000_000), 8)).toBe("ééééééé…");
  });

  it("shows as much of a text as fits", () => {
    expect(fitText("漢字漢字", 6)).toBe("漢字…");
    expect(fitText("abc", 3)).toBe("abc");
    expect(fitText("abcd", 3)).toBe("ab…");
  });

  it("fits and pads any text", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        fc.integer({ min: 1, max: 20 }),
        (text, width) => {
          expect(textWidth(fitText(text, width))).toBeLessThanOrEqual(width);
          expect(textWidth(padText(fitText(text, width), width, "right"))).toBe(width);
        },
      ),
    );
  });
});

describe("wrapped text", () => {
  it("breaks at blanks, keeps indentation, and leaves long words whole", () => {
    expect(wrapText("one two three", 8)).toEqual(["one two", "three"]);
    expect(wrapText("  key: some value", 11)).toEqual(["  key: some", "  value"]);
    expect(wrapText("a pneumonoultramicroscopic b", 6)).toEqual([
      "a",
      "pneumonoultramicroscopic",
      "b",
    ]);
    expect(wrapText("", 8)).toEqual([""]);
  });

  it("keeps a number and its unit in one line, where they fit", () => {
    expect(wrapText("it took 54.2 % of it", 13)).toEqual(["it took", "54.2 % of it"]);
    expect(wrapText("computes for 22.6 \u00b5s, waits", 18)).toEqual([
      "computes for",
      "22.6 \u00b5s, waits",
    ]);
    expect(wrapText("in 5 steps, 3 msgs", 10)).toEqual(["in 5", "steps, 3", "msgs"]);
    expect(wrapText("12345 ms", 6)).toEqual(["12345", "ms"]);
  });

  it("loses nothing, and is too wide only for want of blanks", () => {
    fc.assert(
      fc.property(anyName, fc.integer({ min: 1, max: 60 }), (text, width) => {
        const lines = wrapText(text, width);
        expect(lines.join(" ").replaceAll(" ", "")).toBe(text.replaceAll(" ", ""));
        for (const line of lines)
          if (line.trim().includes(" ")) expect(textWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });
});
