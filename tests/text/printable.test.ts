import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable, printableLabel, visibleControls } from "../../src/text/printable.ts";
import { anyName } from "../report/bundles.ts";

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
