import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printableLabel } from "../../src/foundation/text/printable.ts";
import { escapeMarkdown, markdownCode, markdownLink } from "../../src/pages/markdown.ts";
import { formatDuration, formatMs, formatShare } from "../../src/pages/numbers.ts";
import { anyName } from "./bundles.ts";

describe("Markdown", () => {
  it("escapes markup, HTML, links and mentions", () => {
    expect(escapeMarkdown("<b>|`*_[x](y)&~#")).toBe("&lt;b&gt;\\|\\`\\*\\_\\[x\\](y)&amp;\\~\\#");
    expect(escapeMarkdown("@you https://x www.x.y")).toBe("&#64;you https&#58;//x www&#46;x.y");
    expect(escapeMarkdown("block.conv1 4x3x64")).toBe("block.conv1 4x3x64");
  });

  it("begins no list where a name begins an item", () => {
    const names = ["1. load", "2) sort", "- x", "+ y", "---", "-", "-5 °C", "1.5 GB", "3"];
    expect(names.map(escapeMarkdown)).toEqual([
      ...["1\\. load", "2\\) sort", "\\- x", "\\+ y", "\\---", "\\-", "-5 °C", "1.5 GB", "3"],
    ]);
  });

  it("leaves nothing that Markdown or HTML would act on, whatever the name", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const escaped = escapeMarkdown(printableLabel(name));
        expect(escaped).not.toMatch(/[<>\n]/);
        expect(escaped.replaceAll(/\\[\\`*_{}[\]|~#$!.)+-]/g, "")).not.toMatch(/[\\`*_[\]|~$]/);
      }),
    );
  });

  it("fences code so that no name can leave it", () => {
    fc.assert(
      fc.property(anyName, (name) => {
        const code = markdownCode(name);
        const fence = /^`+/.exec(code)?.[0];
        // What no code can hold is text.
        if (fence === undefined) {
          expect(code).toBe(escapeMarkdown(name));
          return;
        }
        expect(code.endsWith(fence)).toBe(true);
        const inside = code.slice(fence.length, -fence.length);
        expect(inside.match(/`+/g) ?? []).not.toContain(fence);
        expect(inside.replaceAll("\\|", "")).not.toMatch(/[|\n]/);
      }),
    );
  });

  it("fences code with any number of backticks", () => {
    const name = "` ".repeat(300_000);
    expect(markdownCode(name)).toBe(`\`\` ${name} \`\``);
  });

  it("ends no table cell, also for readers to which two backslashes are one", () => {
    expect(markdownCode("grep 'a|b'")).toBe("`grep 'a\\|b'`");
    expect(markdownCode("grep 'a\\|b'")).toBe("grep 'a\\\\\\|b'");
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("\\", "|", "`", "a") }), (text) => {
        expect(markdownCode(text).replaceAll(/\\./g, "")).not.toContain("|");
      }),
    );
  });

  it("encodes paths of links", () => {
    expect(markdownLink("x", "a b/(c)~1/漢.md")).toBe("[x](a%20b/%28c%29%7e1/%E6%BC%A2.md)");
  });
});

describe("numbers", () => {
  it("tell zero, little, and nothing apart", () => {
    expect([0, 0.0001, 0.0005, 1234.56789, null].map(formatMs)).toEqual([
      "0.000",
      "<0.001",
      "0.001",
      "1234.568",
      "–",
    ]);
    expect([
      formatShare(0, 10),
      formatShare(0.001, 10),
      formatShare(1, 3),
      formatShare(null, 3),
      formatShare(0, 0),
    ]).toEqual(["0.0", "<0.1", "33.3", "–", "–"]);
    expect([0.0123, 12.345, 1234.5].map(formatDuration)).toEqual(["12.3 µs", "12.35 ms", "1.23 s"]);
  });
});
