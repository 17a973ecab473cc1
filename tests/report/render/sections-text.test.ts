import { describe, expect, it } from "vitest";
import type { NCUProfileRegion } from "../../../src/report/model/document.ts";
import { renderSectionsText } from "../../../src/report/render/sections-text.ts";
import { bundleOf, regionNamed, resnet } from "../bundles.ts";

const region = regionNamed(bundleOf([resnet]), "stem");
const textOf = (sections: NCUProfileRegion["sections"], kernel_count = 0) =>
  renderSectionsText({ ...region, sections, kernel_count }, "forward / stem");
const message = {
  rule: "r",
  type: "OPT",
  text: "Do less.",
  speedup: null,
  results: 1,
};
const saying = (change: {
  text?: string;
  speedup?: number;
  speedup_type?: string;
  results?: number;
}) =>
  textOf({ S: { metrics: {}, messages: [{ ...message, ...change }] } })
    ?.split("\n")
    .slice(3, -1);

describe("sections.txt", () => {
  it("lists metrics in columns, then what the rules say", () => {
    const metrics = {
      Duration: { value: 1234.5, unit: "ns" },
      "L2 Hit Rate": { value: null, unit: "%" },
    };
    expect(textOf({ Speed: { metrics, messages: [message] } })).toBe(
      [
        "forward / stem",
        "",
        "  Speed",
        "    Duration     ns  1,234.5",
        "    L2 Hit Rate  %       n/a",
        "    OPT  Do less.",
        "",
      ].join("\n"),
    );
  });

  it("says of how many kernels", () => {
    const heads = [0, 1, 2].map((count) =>
      textOf({ S: { metrics: {}, messages: [] } }, count)
        ?.split("\n")
        .at(0),
    );
    expect(heads).toEqual([
      "forward / stem",
      "forward / stem (1 kernel)",
      "forward / stem (2 kernels)",
    ]);
  });

  it("says how much an advice may gain, and of how many kernels it is", () => {
    expect(saying({})).toEqual(["    OPT  Do less."]);
    expect(saying({ speedup: 12.5, results: 3 })).toEqual([
      "    OPT  Do less. (est. speedup 12.5 %) [3 kernels]",
    ]);
    expect(saying({ speedup: 12.5, speedup_type: "global" })).toEqual(saying({ speedup: 12.5 }));
    expect(saying({ speedup: 12.5, speedup_type: "local" })).toEqual([
      "    OPT  Do less. (est. local speedup 12.5 %)",
    ]);
  });

  it("breaks what is longer than 100 columns at blanks, and loses nothing", () => {
    const words = Array.from({ length: 60 }, (_, at) => "x".repeat((at % 12) + 1));
    const lines = saying({ text: words.join(" ") }) ?? [];
    expect(lines.length).toBeGreaterThan(1);
    for (const [at, line] of lines.entries()) {
      expect(line.length).toBeLessThanOrEqual(100);
      expect(line).toMatch(at === 0 ? /^ {4}OPT {2}x/ : /^ {9}x/);
      const next = lines[at + 1]?.trim().split(" ")[0];
      if (next !== undefined) expect(`${line} ${next}`.length).toBeGreaterThan(100);
    }
    expect(lines.join(" ").split(/ +/).slice(2)).toEqual(words);
  });

  it("is none where there are no sections, or none of this shape", () => {
    expect(textOf({})).toBeNull();
    for (const other of [null, 3, "text", {}, { metrics: {} }, { messages: [] }])
      expect(textOf({ other })).toBeNull();
  });

  it("leaves sections that only look like one to the JSON report", () => {
    const almost = [
      { metrics: {}, messages: "none" },
      { metrics: null, messages: [] },
      { metrics: { Duration: 12 }, messages: [] },
      { metrics: { Duration: { value: "12", unit: "ns" } }, messages: [] },
      { metrics: {}, messages: ["Do less."] },
      { metrics: {}, messages: [{ ...message, text: undefined }] },
    ];
    for (const other of almost) expect(textOf({ other })).toBeNull();
    const whole = { metrics: {}, messages: [{ ...message, more: 1 }], more: 2 };
    expect(textOf({ almost: almost[0], whole })?.split("\n")[2]).toBe("  whole");
  });
});
