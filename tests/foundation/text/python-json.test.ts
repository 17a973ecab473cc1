import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parsePythonJson } from "../../../src/foundation/text/python-json.ts";

/** Texts that look like what is read. */
const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constantFrom("NaN", "-Infinity", "_", "__proto__", "1", '"NaN"', "\\", "\\u004eaN", "\n"),
);

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, null, true),
    fc.double().map((number) => number + 0),
    text,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value;

/** As `json.dumps` writes it. */
function written(one: unknown): string {
  if (typeof one === "number") return String(one);
  if (Array.isArray(one)) return `[${one.map(written).join(", ")}]`;
  if (typeof one !== "object" || one === null) return JSON.stringify(one);
  const entries = Object.entries(one).map(([key, it]) => `${JSON.stringify(key)}: ${written(it)}`);
  return `{${entries.join(", ")}}`;
}

test("what Python writes is read as it was", () => {
  fc.assert(
    fc.property(value, (one) => {
      expect(parsePythonJson(written(one))).toEqual(one);
    }),
  );
});

const token = fc.constantFrom(
  ...["NaN", "Infinity", "-Infinity", "-", "1", "0.5", "null", '"', '"NaN"', "\\", "[", "]", "{"],
  ...["}", ":", ",", " ", '"a"', '"_"', '{"NaN":0}', "\\n", "1e999", "\u00e9"],
);

/** Values of JSON, with the numbers that it lacks as texts that no token makes. */
const told = (one: unknown): string =>
  JSON.stringify(one, (_, it) => (typeof it === "number" ? `number ${it}` : it));

const READER = `
import json, math, sys
def told(one):
    if isinstance(one, bool) or one is None or isinstance(one, str): return one
    if isinstance(one, (int, float)):
        if one != one: return "number NaN"
        if math.isinf(one): return "number Infinity" if one > 0 else "number -Infinity"
        return "number " + (str(int(one)) if one == int(one) else repr(one))
    if isinstance(one, list): return [told(it) for it in one]
    return {key: told(it) for key, it in one.items()}
for line in sys.stdin.buffer:
    try: print(json.dumps([told(json.loads(json.loads(line)))]))
    except ValueError: print("null")
`;

test("what Python reads is read, and nothing else", () => {
  const texts = fc.sample(fc.array(token, { maxLength: 7 }), { numRuns: 4000, seed: 46 });
  const glued = ["1NaN", "1Infinity", "2.5Infinity", "0.Infinity", "[3Infinity]", "Infinity1"];
  const cases = [...texts.map((tokens) => tokens.join("")), ...glued, "{NaN: 1}", "-NaN", '"NaN'];
  const python = spawnSync("python3", ["-c", READER], {
    input: cases.map((one) => `${JSON.stringify(one)}\n`).join(""),
    encoding: "utf8",
  });
  const answers = python.stdout.trimEnd().split("\n");
  const own = cases.map((one) => {
    try {
      return JSON.stringify([JSON.parse(told(parsePythonJson(one)))]);
    } catch {
      return "null";
    }
  });
  expect(own).toEqual(answers.map((answer) => JSON.stringify(JSON.parse(answer))));
  expect(own.filter((answer) => answer !== "null").length).toBeGreaterThan(200);
});

test("an error is at its own place, not at a number that JSON lacks", () => {
  expect(() => parsePythonJson('{"loss": NaN, "acc": x}')).toThrow(/Unexpected token 'x'/);
  expect(() => parsePythonJson("NaN of 3")).toThrow(/non-whitespace|Unexpected/);
});

test.each([
  ["is long", "x".repeat(10_000_000)],
  ["has many escapes", '\\\n"'.repeat(300_000)],
])("a text that %s is read beside a number that JSON lacks", (_, plot) => {
  const read = parsePythonJson(`{"plot": ${JSON.stringify(plot)}, "loss": NaN}`);
  // A comparison that fails must not print the text.
  const { loss, plot: same } = read as { loss: unknown; plot: unknown };
  expect([loss, same === plot]).toEqual([Number.NaN, true]);
});

test("a text without an end is refused at once, however long it is", () => {
  // At 46 s for 200 kB, a search from each quote would take 20 minutes.
  expect(() => parsePythonJson(`"${'\\"'.repeat(500_000)} NaN`)).toThrow(/Unterminated string/);
});
