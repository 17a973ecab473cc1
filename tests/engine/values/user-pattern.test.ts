import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Compiled,
  compilePattern,
  compileReplacing,
  type ReplacingPattern,
  type UserPattern,
} from "../../../src/engine/values/user-pattern.ts";
import { runs } from "../../runs.ts";

const ATOMS = [
  ...["a", "b", "_", "1", ".", "\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\n", "\\u00e9", "\\x61"],
  ...["[ab]", "[^a]", "[a-c1]", "[^\\w]", "[\\d_]", "[^]", "[]", "[.]", "[\\s-]", "[[:alpha:]"],
  ...["😀", "[😀a]", "\\/", "\\.", "é", "\\u2028", "\\ud83d", "[^\\ud83d]", "[\\ud800-\\uffff]"],
];
const ASSERTIONS = ["^", "$", "\\b", "\\B"];
const QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,3}?", "{2,}"];

/** Small patterns over few characters: quantifiers, groups, classes, alternatives, anchors. */
const aPattern = (...more: readonly string[]): fc.Arbitrary<string> =>
  fc
    .letrec<{ whole: string; branch: string; part: string; group: string }>((tie) => ({
      whole: fc.array(tie("branch"), { minLength: 1, maxLength: 3 }).map((all) => all.join("|")),
      branch: fc
        .array(tie("part"), { maxLength: 4, depthIdentifier: "parts" })
        .map((all) => all.join("")),
      part: fc.oneof(
        { maxDepth: 3 },
        { weight: 4, arbitrary: fc.constantFrom(...ATOMS, ...more) },
        {
          weight: 3,
          arbitrary: fc
            .tuple(fc.constantFrom(...ATOMS, ...more), fc.constantFrom(...QUANTIFIERS))
            .map((both) => both.join("")),
        },
        { weight: 1, arbitrary: fc.constantFrom(...ASSERTIONS) },
        { weight: 2, arbitrary: tie("group") },
        {
          weight: 2,
          arbitrary: fc
            .tuple(tie("group"), fc.constantFrom(...QUANTIFIERS))
            .map((both) => both.join("")),
        },
      ),
      group: fc
        .tuple(fc.constantFrom("", "?:", "?:"), tie("whole"))
        .map(([kind, text]) => `(${kind}${text})`),
    }))
    .whole.map((text) => text.replace("(?:", "(?<n>"));

const aText = fc.oneof(
  fc
    .array(
      fc.constantFrom(
        ...["a", "b", "c", "1", "_", " ", "\n", "\r", "\u2028", "é", "A", "😀", "\ud83d", "\ude00"],
        ...["-", ".", "]", ":", "\u00a0", "\v", "{"],
      ),
      { maxLength: 12 },
    )
    .map((all) => all.join("")),
  fc.string({ unit: "binary", maxLength: 8 }),
);

const searching = (source: string): UserPattern => usable(compilePattern(source));

const replacing = (source: string, steps?: number): ReplacingPattern =>
  usable(compileReplacing(source, steps));

function usable<Pattern>({ pattern, problem }: Compiled<Pattern>): Pattern {
  if (problem !== undefined) throw new Error(problem.reason);
  return pattern;
}

const native = (source: string, flags: string): RegExp | undefined => {
  try {
    return new RegExp(source, flags);
  } catch {
    return undefined;
  }
};

/** The differences between RE2 and JavaScript for which a pattern of `aPattern` is refused. */
const DIFFERENT = /^it repeats a (?:part that can match nothing|group that may be left out), /;

describe("regular expressions of users", () => {
  it.each([
    ["JavaScript's engine where that is quick", undefined],
    ["RE2 alone", 0],
  ])("mean what JavaScript's mean, by %s", (_, steps) => {
    let compared = 0;
    const aReplacement = fc.constantFrom("<$1>", "$$$&", "[$`|$']", "$2$<n>$01$12", "$0$", "");
    fc.assert(
      fc.property(aPattern("\\u{1f600}"), aText, aReplacement, (source, text, replacement) => {
        const expected = native(source, "gsu");
        const { pattern, problem } = compileReplacing(source, steps);
        if (expected === undefined) expect(problem?.kind).toBe("syntax");
        else if (problem !== undefined) expect(problem.reason).toMatch(DIFFERENT);
        else {
          compared++;
          expect(pattern.test(text)).toBe(text.search(expected) >= 0);
          expect(pattern.replaceAll(text, replacement)).toBe(
            text.search(expected) < 0 ? null : text.replace(expected, replacement),
          );
        }
      }),
      { numRuns: runs(1000) },
    );
    fc.assert(
      fc.property(aPattern("\\-", "\\ude00", "{"), aText, (source, text) => {
        const expected = native(source, "");
        const { pattern, problem } = compilePattern(source, steps);
        if (expected === undefined) expect(problem?.kind).toBe("syntax");
        else if (problem !== undefined) expect(problem.reason).toMatch(DIFFERENT);
        else {
          compared++;
          expect(pattern.test(text)).toBe(expected.test(text));
        }
      }),
      { numRuns: runs(1000) },
    );
    expect(compared).toBeGreaterThan(runs(500));
  });

  it.each(["\\p{Lu}", "[^\\p{L}\\d]", "\\P{Script=Greek}", "[\\P{L}x]"])(
    "know the classes of Unicode: %s",
    (source) => {
      const [expected, pattern] = [new RegExp(source, "u"), replacing(source, 0)];
      fc.assert(
        fc.property(fc.string({ unit: "binary", maxLength: 3 }), (text) => {
          expect(pattern.test(text)).toBe(expected.test(text));
        }),
        { numRuns: runs(1000) },
      );
    },
  );

  it.each([
    ["(a+)+$", "a"],
    ["^(?:a|a)*$", "a"],
    ["(.*a){12}", "a"],
    ["a*a*a*a*a*b", "a"],
    ["(?:\\w+\\s?)+:", "ab "],
    ["\\d+_\\d+_\\d+x", "1_"],
  ])("take a time that is linear in the text, of 100,000 characters here: %s", (source, unit) => {
    const [replaced, searched] = [replacing(source), searching(source)];
    const text = `${unit.repeat(100_000 / unit.length)}!xb:`;
    const started = process.cpuUsage();
    searched.test(text);
    replaced.test(text);
    replaced.replaceAll(text, "x");
    // With a square of the length, it would be a minute.
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  });

  it("leave to JavaScript's engine only what is quick", () => {
    const aLong = fc.tuple(
      fc.constantFrom("a", "ab", "1_", "a "),
      fc.integer({ min: 1, max: 400 }),
    );
    fc.assert(
      fc.property(aPattern(), aLong, (source, [unit, times]) => {
        const { pattern } = compileReplacing(source);
        fc.pre(pattern !== undefined);
        const started = process.cpuUsage();
        pattern?.test(`${unit.repeat(times)}!`);
        expect(process.cpuUsage(started).user).toBeLessThan(500_000);
      }),
      { numRuns: runs(1000) },
    );
  });

  it.each([
    ["step(?=_)", "it has a lookahead, (?=_)"],
    ["step(?!_)", "it has a lookahead, (?!_)"],
    ["(?<=_)step", "it has a lookbehind, (?<=_)"],
    ["(a)_\\1", "it has a back reference, \\1"],
    ["(a*)*", "it repeats a part that can match nothing, (a*)*"],
    ["(?:(a)|b)+", "it repeats a group that may be left out, (a)"],
    ["(?:a{1000}){1000}", "its counted repetitions make it too large"],
    ["a{5000}", "its counted repetitions make it too large"],
  ])(
    "are refused with the reason where RE2 cannot match them as JavaScript does: %s",
    (source, reason) => {
      const { problem } = compileReplacing(source);
      expect(problem?.reason).toMatch(reason);
    },
  );

  it("are refused if they are nested too deeply", () => {
    const depth = 20_000;
    const { problem } = compileReplacing(`${"(?:".repeat(depth)}a${")".repeat(depth)}`);
    expect(problem?.reason).toMatch(/too (?:deeply|large)/);
  });

  it("may repeat groups where nothing is replaced", () => {
    expect(searching("^(?:(a)|b)+$").test("abba")).toBe(true);
  });
});
