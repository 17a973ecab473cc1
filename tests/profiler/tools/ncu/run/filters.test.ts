import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NvtxLabel } from "../../../../../src/profiler/analysis/labels.ts";
import {
  includeExpressions,
  labelExpression,
  labelExpressions,
  matchedBeside,
  matchingLabels,
} from "../../../../../src/profiler/tools/ncu/run/filters.ts";
import { runs } from "../../../../runs.ts";
import { realNcuOrSkip } from "./real-ncu.ts";
import type { ResultSketch } from "./report-builder.ts";

const push = (name: string, domain = ""): NvtxLabel => ({ domain, name, kind: "push_pop" });
const start = (name: string, domain = ""): NvtxLabel => ({ domain, name, kind: "start_end" });

describe("labelExpression", () => {
  it.each([
    [push("A"), "A/"],
    [start("A"), "A"],
    [push("A::A1"), "A::A1/"],
    [push("br[0]"), "br\\[0\\]/"],
    [push("sl/ash"), "sl\\/ash/"],
    [start("at@x"), "at\\@x"],
    [push("R", "Domain-A"), "Domain-A@R/"],
    [push("back\\slash"), "regex:^back\\\\slash$/"],
    [push("regex:A"), "regex:^regex:A$/"],
    [push("@"), "regex:^\\x40$/"],
    [push(""), "regex:^$/"],
    [push("@@a"), "regex:^\\x40\\x40a$/"],
    [push("a\\b", "D"), "regex:^D$@^a\\\\b$/"],
    [start("a\\b", "D"), "regex:^D$@^a\\\\b$"],
  ])("of %o is %s", (label, expression) => {
    expect(labelExpression(label)).toBe(expression);
  });
});

describe("includeExpressions", () => {
  const labels = [push("decode_1"), start("decode_2"), push("A"), push("decode_3", "LLM")];

  it.each([
    [
      "decode*",
      ["regex:^(<default domain>|LLM)$@^decode.*$/", "regex:^<default domain>$@^decode.*$"],
    ],
    ["LLM@*", ["regex:^LLM$@^.*$/"]],
    ["@decode*", ["regex:^decode.*$/", "regex:^decode.*$"]],
    ["A", ["A/"]],
    [
      "decode_?",
      [
        "regex:^(<default domain>|LLM)$@^decode_..?.?.?$/",
        "regex:^<default domain>$@^decode_..?.?.?$",
      ],
    ],
    ["nothing*", []],
  ])("of %s", (pattern, expressions) => {
    expect(includeExpressions([pattern], labels)).toEqual(expressions);
  });

  it("are one per option, never joined", () => {
    const expressions = includeExpressions(["A", "decode_1"], labels);
    expect(expressions).toEqual(["A/", "decode_1/"]);
  });

  it("are a single one per kind of range as soon as one is a regular expression", () => {
    // "A/" beside regular expressions: ncu 2024.1 loses some ranges of such a list.
    expect(includeExpressions(["A", "@decode*"], labels)).toEqual([
      "regex:^(A|decode.*)$/",
      "regex:^decode.*$",
    ]);
  });

  it("mean every label where there is no pattern", () => {
    expect(matchingLabels([], labels)).toEqual(labels);
    expect(includeExpressions([], labels)).toEqual([
      "regex:^(<default domain>|LLM)$@^.*$/",
      "regex:^<default domain>$@^.*$",
    ]);
  });
});

/** Names that have a meaning in some grammar on the way to ncu, and letters around them. */
const hostile = fc
  .array(
    fc.constantFrom(
      ..."ab@,[]/*+\\.^$|?(){}:;'\"-= \t\n%&<>é漢",
      "regex:",
      "::",
      "<default domain>",
    ),
    { minLength: 1, maxLength: 6 },
  )
  .map((parts) => parts.join(""));
const maybeEmpty = fc.oneof({ arbitrary: hostile, weight: 12 }, fc.constant(""));
const hostileLabel = fc.record({
  domain: fc.oneof({ arbitrary: fc.constant(""), weight: 2 }, { arbitrary: hostile, weight: 1 }),
  name: maybeEmpty,
  kind: fc.constantFrom("push_pop" as const, "start_end" as const),
});

const real = realNcuOrSkip("NVTX filters against ncu's own matcher");

describe.skipIf(real === null)("against ncu's own matcher", () => {
  const resultsOf = (labels: readonly NvtxLabel[]): ResultSketch[] => [
    ...labels.map(({ domain, name, kind }, index) => ({
      kernel: `kernel${index}`,
      [kind === "push_pop" ? "pushPop" : "startEnd"]: [{ domain, name }],
    })),
    { kernel: `kernel${labels.length}` },
  ];
  const keyOf = (label: NvtxLabel) => JSON.stringify([label.domain, label.name, label.kind]);
  // Domains that ncu itself gives a meaning cannot be told from it.
  const distinct = (labels: readonly NvtxLabel[]) => [
    ...new Map(
      labels
        .filter(({ domain }) => domain !== "<default domain>")
        .map((label) => [keyOf(label), label]),
    ).values(),
  ];

  it("a label's expression matches its ranges and no others", () => {
    fc.assert(
      fc.property(fc.array(hostileLabel, { minLength: 2, maxLength: 40 }), (arbitrary) => {
        const labels = distinct(arbitrary);
        const matching = real?.matching(resultsOf(labels));
        const [label] = labels;
        if (label === undefined) return;
        const got = matching?.([labelExpression(label)]) ?? [];
        expect(got).toContain("kernel0");
        // Anchors of ncu's regular expressions also hold at line breaks inside of a name.
        const clear = labels.flatMap(({ name, domain }, index) =>
          /[\n\r]/.test(name + domain) ? [] : [`kernel${index}`],
        );
        expect(got.filter((kernel) => clear.includes(kernel) && kernel !== "kernel0")).toEqual([]);
        expect(got).not.toContain(`kernel${labels.length}`);
      }),
      { numRuns: runs(12) },
    );
  });

  it("the expressions of globs match at least what the globs match, and nothing outside ranges", () => {
    const pattern = fc.oneof(
      fc.constant("*"),
      hostile.map((text) => `${text.replaceAll(/[@*?\\]/g, "\\$&")}*`),
      fc.constantFrom("a", "b", "a*", "*b", "@*", "?", "*@a*", "a?*"),
    );
    fc.assert(
      fc.property(
        fc.array(hostileLabel, { minLength: 2, maxLength: 40 }),
        fc.array(pattern, { minLength: 1, maxLength: 3 }),
        (arbitrary, globs) => {
          const labels = distinct(arbitrary);
          const wanted = matchingLabels(globs, labels).map(keyOf);
          const expressions = includeExpressions(globs, labels);
          if (expressions.length === 0) {
            expect(wanted).toEqual([]);
            return;
          }
          const got = real?.matching(resultsOf(labels))(expressions) ?? [];
          for (const [index, label] of labels.entries())
            if (wanted.includes(keyOf(label)))
              expect(got, keyOf(label)).toContain(`kernel${index}`);
          expect(got).not.toContain(`kernel${labels.length}`);
        },
      ),
      { numRuns: runs(12) },
    );
  });

  const dialect = fc.record({
    domain: fc.constantFrom("", "", "D", "E", "D\\", "@"),
    name: fc.constantFrom("a", "b", "", "a\\b", "regex:a", "@", "a@", "@a@b", "@@a", "a.b"),
    kind: fc.constantFrom("push_pop" as const, "start_end" as const),
  });

  it.each([
    ["hostile names", hostileLabel],
    ["names that only regular expressions can tell, beside others", dialect],
  ])("expressions of several labels let through what each of them does: %s", (_, label) => {
    fc.assert(
      fc.property(fc.array(label, { minLength: 2, maxLength: 24 }), (arbitrary) => {
        const labels = distinct(arbitrary);
        const wanted = labels.filter((_, index) => index % 2 === 0);
        // No expression means everything, which a plan never asks for.
        if (wanted.length === 0) return;
        const got = real?.matching(resultsOf(labels))(labelExpressions(wanted)) ?? [];
        const beside = matchedBeside(wanted, labels);
        for (const [index, label] of labels.entries()) {
          if (wanted.includes(label)) expect(got, keyOf(label)).toContain(`kernel${index}`);
          // Anchors of ncu's regular expressions also hold at line breaks inside of a name.
          else if (!beside.includes(label) && !/[\n\r]/.test(label.name + label.domain))
            expect(got, keyOf(label)).not.toContain(`kernel${index}`);
        }
        expect(got).not.toContain(`kernel${labels.length}`);
      }),
      { numRuns: runs(8) },
    );
  });

  it("a push/pop expression matches kernels in ranges inside it, and anchors survive", () => {
    const matching = real?.matching([
      { kernel: "kernel0", pushPop: [{ name: "A" }, { name: "A::A1" }] },
      { kernel: "kernel1", pushPop: [{ name: "xA" }] },
      { kernel: "kernel2", pushPop: [{ name: "B" }] },
    ]);
    expect(matching?.([labelExpression(push("A"))])).toEqual(["kernel0"]);
    const labels = [push("A"), push("A::A1"), push("xA"), push("B")];
    expect(matching?.(includeExpressions(["A*"], labels))).toEqual(["kernel0"]);
    // What people write, as it stands, matches nothing: the reason for all of this.
    expect(matching?.(["A*"])).toEqual([]);
    expect(matching?.(["A;B"])).toEqual([]);
  });
});
