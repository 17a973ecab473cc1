import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  elementToString,
  type OverrideValue,
  overrideKeyElement,
  parseOverride,
} from "../../../src/engine/overrides/index.ts";
import {
  escapeUnquoted,
  overrideText,
  quoted,
  unescapeUnquoted,
  unquote,
} from "../../../src/engine/overrides/print.ts";
import { runs } from "../../runs.ts";
import { errorOf } from "./plain.ts";

describe("elementToString", () => {
  it.each([
    ["a b", "a\\ b"],
    ["true", "True"],
    ["NULL", "null"],
    ["1_000", "1000"],
    ["1e-5", "1e-05"],
    ["1e2", "100.0"],
    ["-inf", "-inf"],
    ["'a\\'b'", "'a\\'b'"],
    ['"a\'b"', '"a\'b"'],
    ["'a\\\\'", "'a\\\\'"],
    ["'a\\n'", "'a\\n'"],
    ["${a:b,c}", "$\\{a\\:b\\,c\\}"],
    ["[1, [a,'b']]", "[1,[a,'b']]"],
    ["{a: 1, b c: {}}", "{a:1,b\\ c:{}}"],
    ["", ""],
  ])("%s -> %s", (text, printed) => {
    expect(elementToString(parseOverride(`key=${text}`).value)).toBe(printed);
  });

  it("puts blanks after separators for people", () => {
    const { value } = parseOverride("key={a:[1,2],b:c}");
    expect(elementToString(value, { spaceAfterSeparator: true })).toBe("{a: [1, 2], b: c}");
  });

  it("prints the missing value of a deletion as null", () => {
    expect(elementToString(parseOverride("~key").value)).toBe("null");
  });

  it.each(["a,b", "range(3)", "interval(0,1)", "[choice(a)]", "{k:range(2)}"])(
    "refuses the sweep in %s",
    (text) => {
      const { value } = parseOverride(`key=${text}`);
      expect(errorOf(() => elementToString(value)).code).toBe("override.sweep_not_allowed");
    },
  );

  it("prints what parses to the same value again", () => {
    fc.assert(
      fc.property(element, (value) => {
        const text = elementToString(value);
        expect(withoutSpans(parseOverride(`key=${text}`).value)).toEqual(withoutSpans(value));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe("overrideKeyElement", () => {
  it.each(["key", "+key", "++a.b", "~db", "db@backup", "+db@", "~a/b@c.d", "@p"])("%s", (text) => {
    expect(overrideKeyElement(parseOverride(`${text}=1`))).toBe(text);
  });
});

/** Unquoted strings that parsing itself can yield: no other text has an unquoted form. */
const unquoted = fc
  .array(fc.constantFrom(..."aZ_/-\\+.$%*@?|()[]{}:=, \t".split("")), { minLength: 1 })
  .map((chars) => `x${chars.join("")}`);

const scalar: fc.Arbitrary<OverrideValue> = fc.oneof(
  fc.constantFrom(null, true, false).map(asScalar),
  fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }).map(asScalar),
  fc.double({ noNaN: true }).map(asScalar),
  unquoted.map(asScalar),
  fc
    .tuple(
      fc.string({ unit: fc.constantFrom("a", "\\", "'", '"', "é", "\n", " ", ",") }),
      fc.boolean(),
    )
    .map(([text, single]) => ({ ...asScalar(text), quote: single ? "'" : '"' }) as const),
);

const element = fc.letrec<{ element: OverrideValue }>((tie) => ({
  element: fc.oneof(
    { depthSize: "small" },
    scalar,
    fc.array(tie("element"), { maxLength: 4 }).map(asList),
    fc.array(fc.tuple(unquoted, tie("element")), { maxLength: 3 }).map(asDict),
  ),
})).element;

const span = { start: 0, end: 0 };

function asScalar(value: null | boolean | bigint | number | string) {
  return { kind: "scalar", value, span } as const;
}

function asList(items: readonly OverrideValue[]): OverrideValue {
  return { kind: "list", items, span };
}

function asDict(entries: readonly (readonly [string, OverrideValue])[]): OverrideValue {
  const keyed = entries.map(([key, value]) => [key, { key, value }] as const);
  return { kind: "dict", entries: new Map(keyed), span };
}

function withoutSpans(value: OverrideValue | undefined): unknown {
  return JSON.parse(
    JSON.stringify(value, (name, part: unknown) => {
      if (name === "span") return undefined;
      if (part instanceof Map) return [...part.values()];
      if (typeof part === "bigint") return `int ${part}`;
      return typeof part === "number" ? `float ${Object.is(part, -0) ? "-0" : part}` : part;
    }),
  );
}

const text = fc.string({ unit: fc.constantFrom(..."a\\'\" ,(){}[]:=\té".split("")) });

describe("quoted and unquote", () => {
  it.each([
    ["", "''"],
    ["a'b", "'a\\'b'"],
    ["a\\", "'a\\\\'"],
    ["a\\b", "'a\\b'"],
    ["\\'", "'\\\\\\''"],
  ])("%j <-> %j", (plain, written) => {
    expect(quoted(plain, "'")).toBe(written);
    expect(unquote(written)).toBe(plain);
  });

  it("are inverse for every text and both quotes", () => {
    fc.assert(
      fc.property(text, fc.constantFrom("'" as const, '"' as const), (plain, quote) => {
        expect(unquote(quoted(plain, quote))).toBe(plain);
      }),
    );
  });

  it("take linear time over backslashes", () => {
    const many = `${"\\".repeat(1_000_000)}a`;
    expect(unquote(quoted(many, "'"))).toBe(many);
  });
});

describe("escapeUnquoted", () => {
  it("is undone by unescaping where everything is escaped", () => {
    const special = fc.string({ unit: fc.constantFrom(..."\\ ,(){}[]:=\t".split("")) });
    fc.assert(
      fc.property(special, (plain) => {
        expect(unescapeUnquoted(escapeUnquoted(plain))).toBe(plain);
      }),
    );
  });
});

describe("overrideText", () => {
  it("is read as the same text, whatever it looks like", () => {
    const units = ["a", "inf", "NaN", "true", "null", "1", "_", ".", "-", "/", "e", " ", "'", "\\"];
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...units), maxLength: 4 }), (plain) => {
        expect(parseOverride(`key=${overrideText(plain)}`).value).toMatchObject({ value: plain });
      }),
      { numRuns: runs(1000) },
    );
  });
});
