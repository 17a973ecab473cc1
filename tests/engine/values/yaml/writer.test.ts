import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../src/engine/values/errors.ts";
import { DEFAULT_LIMITS } from "../../../../src/engine/values/limits.ts";
import {
  type ConfigNode,
  type Key,
  list,
  MAX_TREE_DEPTH,
  map,
  type ScalarValue,
  scalar,
} from "../../../../src/engine/values/node.ts";
import { fromCode } from "../../../../src/engine/values/origin.ts";
import { createConfig } from "../../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../../src/engine/values/yaml/writer.ts";
import { runs } from "../../../runs.ts";
import { maps } from "../trees.ts";
import { plain } from "./plain-values.ts";

const ORIGIN = fromCode("test");
const value = (of: ScalarValue): ConfigNode => scalar(of, ORIGIN);
const seq = (...items: readonly ConfigNode[]): ConfigNode => list(items, ORIGIN);
const dict = (...entries: readonly (readonly [Key, ConfigNode])[]): ConfigNode =>
  map(entries, ORIGIN);
/** The text of `k: <value>` behind the key. */
const written = (of: ScalarValue): string => writeYaml(dict(["k", value(of)])).slice("k: ".length);

describe("writeYaml: structure", () => {
  it("keeps a list at the column of its key, and indents it in a list", () => {
    const inner = seq(value(1n), seq(value(2n), value(3n)), dict(["a", value(4n)], ["b", seq()]));
    expect(writeYaml(dict(["l", inner], ["m", dict(["o", dict()])]))).toBe(
      "l:\n- 1\n- - 2\n  - 3\n- a: 4\n  b: []\nm:\n  o: {}\n",
    );
  });

  it("writes empty roots, lists and scalars", () => {
    expect(writeYaml(dict())).toBe("{}\n");
    expect(writeYaml(seq())).toBe("[]\n");
    expect(writeYaml(seq(seq(seq(value("x")))))).toBe("- - - x\n");
    expect(writeYaml(value("x"))).toBe("x\n...\n");
    expect(writeYaml(value("y"))).toBe("'y'\n");
  });

  it("refuses a tree too deep for any reader, with a code", () => {
    let node = value("x");
    for (let depth = 0; depth < MAX_TREE_DEPTH - 1; depth++) node = dict(["a", node]);
    // As texts: comparing trees of this depth is more than the test's own recursion can bear.
    const text = writeYaml(node);
    expect(writeYaml(createConfig(text))).toBe(text);
    for (let depth = 0; depth < 50_000; depth++) node = seq(node);
    expect(() => writeYaml(node)).toThrow(ConfigError);
  });

  it("writes keys in their type, and those that fit no line as complex keys", () => {
    const node = dict(
      ["", value(1n)],
      [1n, value(2n)],
      [1.5, value(3n)],
      [false, value(4n)],
      [null, value(5n)],
      ["1", value(6n)],
      ["a\nb", seq(value(7n))],
      ["k".repeat(123), dict(["x", value(8n)])],
      [new Uint8Array([97]), value("z")],
    );
    expect(writeYaml(node)).toBe(
      [
        "? ''\n: 1\n1: 2\n1.5: 3\nfalse: 4\nnull: 5\n'1': 6\n? 'a\n\n  b'\n: - 7\n",
        `? ${"k".repeat(123)}\n: x: 8\n? !!binary |\n  YQ==\n: z\n`,
      ].join(""),
    );
  });

  it("writes paths as the Python object they are", () => {
    const paths = dict(["a", value({ path: "/x/z" })], ["b", seq(value({ path: "." }))]);
    expect(writeYaml(paths)).toBe(
      [
        "a: !!python/object/apply:pathlib.PosixPath\n- /\n- x\n- z\n",
        "b:\n- !!python/object/apply:pathlib.PosixPath []\n",
      ].join(""),
    );
  });

  it("sorts keys only where Python could compare them", () => {
    const text = (...keys: readonly Key[]): string =>
      writeYaml(dict(...keys.map((key) => [key, value(null)] as const)), { sortKeys: true });
    expect(text("b", "é", "a", "\u{1f600}", "\uffee")).toBe(
      "a: null\nb: null\né: null\n\uffee: null\n\u{1f600}: null\n",
    );
    expect(text(2n, 1.5, true)).toBe("true: null\n1.5: null\n2: null\n");
    expect(text("b", 1n, "a")).toBe("b: null\n1: null\na: null\n");
  });
});

describe("writeYaml: scalars", () => {
  it.each<[ScalarValue, string]>([
    [null, "null\n"],
    [true, "true\n"],
    [-5n, "-5\n"],
    [1, "1.0\n"],
    [1e-5, "1.0e-05\n"],
    [1.5e300, "1.5e+300\n"],
    [-0, "-0.0\n"],
    [Number.NaN, ".nan\n"],
    [Number.NEGATIVE_INFINITY, "-.inf\n"],
    [new Uint8Array(), '!!binary ""\n'],
    [new Uint8Array(60), `!!binary |\n  ${"A".repeat(76)}\n  AAAA\n`],
  ])("writes %s", (of, text) => {
    expect(written(of)).toBe(text);
  });

  it.each([
    ...["", " a", "a ", "y", "No", "null", "~", "0x1F", "1_000", "1e5", "inf", "Infinity", "５"],
    ...["a: b", "a #b", "- a", "? a", "#a", "[a]", "{a}", "*a", "&a", "!a", "%a", "@a", "`a", "|"],
    ...["2020-01-01", "=", "<<", "---", "---a", "trailing:", '"a"', "1:30"],
  ])("quotes %j", (text) => {
    expect(written(text)).toBe(`'${text}'\n`);
  });

  it.each([
    ...["a", "a b", "a:b", "a#b", "-a", "?a", ":a", "yEs", "0o17", "1.2.3", "a, b", "a [b]"],
    ...["it's", 'a "b"', "C:\\a", "${a.b}", "${f:a,b}", "é", "日本", "😀", "\xa0", "1 2"],
  ])("leaves %j plain", (text) => {
    expect(written(text)).toBe(`${text}\n`);
  });

  it("escapes what cannot be printed, and what other quotes cannot hold", () => {
    expect(written("a\tb")).toBe('"a\\tb"\n');
    expect(written("\x07\x7f\ufeff\ud800")).toBe('"\\a\\x7F\\uFEFF\\uD800"\n');
    expect(written("a \nb")).toBe('"a \\nb"\n');
    expect(written("😀\t")).toBe('"\\U0001F600\\t"\n');
  });

  it("doubles single quotes and line breaks", () => {
    expect(written("a: 'b'")).toBe("'a: ''b'''\n");
    expect(written("a\n\nb\n")).toBe("'a\n\n\n  b\n\n  '\n");
    expect(written("a\u2028b")).toBe("'a\u2028  b'\n");
  });
});

describe("writeYaml: folding", () => {
  it("folds plain text at the first single space behind column 80", () => {
    const long = `${"x".repeat(78)} yy zz`;
    expect(written(long)).toBe(`${"x".repeat(78)}\n  yy zz\n`);
    expect(written(`${"x".repeat(77)} yy zz`)).toBe(`${"x".repeat(77)} yy\n  zz\n`);
    expect(written(`${"x".repeat(90)}  yy`)).toBe(`${"x".repeat(90)}  yy\n`);
  });

  it("counts characters, not UTF-16 units", () => {
    expect(written(`${"😀".repeat(70)} yy zz`)).toBe(`${"😀".repeat(70)} yy zz\n`);
  });

  it("folds single-quoted text, but not at its last space", () => {
    const text = `${"x: ".repeat(30)}`;
    expect(written(text)).toBe(`'${"x: ".repeat(26).trimEnd()}\n  ${"x: ".repeat(4)}'\n`);
    expect(written(`${"x".repeat(90)} `)).toBe(`'${"x".repeat(90)} '\n`);
  });

  it("folds double-quoted text with backslashes", () => {
    expect(written(`\t${"x".repeat(90)} y`)).toBe(`"\\t${"x".repeat(90)}\\\n  \\ y"\n`);
  });

  it("does not fold keys", () => {
    const key = "word ".repeat(20).trimEnd();
    expect(writeYaml(dict([key, value(1n)]))).toBe(`${key}: 1\n`);
  });
});

const text = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc
    .array(
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        "\t",
        "'",
        '"',
        "\\",
        ": ",
        " #",
        "word ",
        "é",
        "😀",
        "\u2028",
      ),
      { maxLength: 60 },
    )
    .map((pieces) => pieces.join("")),
);
const scalarValue: fc.Arbitrary<ScalarValue> = fc.oneof(
  text,
  fc.constant(null),
  fc.boolean(),
  fc.bigInt(),
  fc.double(),
  fc.uint8Array({ maxLength: 80 }),
);
const key: fc.Arbitrary<Key> = fc.oneof(text, fc.boolean(), fc.bigInt(), fc.double());
const { tree } = fc.letrec<{ tree: ConfigNode }>((tie) => ({
  tree: fc.oneof(
    { depthSize: "small" },
    scalarValue.map(value),
    fc.array(tie("tree"), { maxLength: 4 }).map((items) => seq(...items)),
    fc.array(fc.tuple(key, tie("tree")), { maxLength: 4 }).map((entries) => dict(...entries)),
  ),
}));

/** U+0085 becomes a plain line break, and a broken interpolation is not read: neither is ours. */
const comparable = (node: ConfigNode): boolean => {
  if (node.kind === "scalar") return typeof node.value !== "string" || isComparable(node.value);
  if (node.kind === "list") return node.items.every(comparable);
  return [...node.entries.values()].every(
    (entry) =>
      (typeof entry.key !== "string" || isComparable(entry.key)) && comparable(entry.value),
  );
};
const isComparable = (of: string): boolean => !of.includes("\x85") && !of.includes("${");

describe("writeYaml", () => {
  it("writes what reads as the same values", () => {
    fc.assert(
      fc.property(tree, (node) => {
        fc.pre(node.kind !== "scalar" && comparable(node));
        expect(plain(createConfig(writeYaml(node)))).toEqual(plain(node));
      }),
      { numRuns: runs(2000) },
    );
  });
});

describe("the limit of characters", () => {
  const limited = (node: ConfigNode, characters: number): string | undefined => {
    try {
      return writeYaml(node, { limits: { ...DEFAULT_LIMITS, characters } });
    } catch (error) {
      if (error instanceof ConfigError) return error.code;
      throw error;
    }
  };

  it("counts all that is written, also what comes last, and keys", () => {
    const texts = fc
      .string({ unit: "binary", maxLength: 300 })
      .filter((text) => !/\p{Cs}/u.test(text));
    const trees = fc.oneof(
      maps(["it's", "some words ".repeat(20), "tab\t"]),
      texts.map(value),
      fc.tuple(texts, texts).map(([key, text]) => dict([key, value({ path: text })])),
      texts.map((text) => seq(value(text), value(new Uint8Array(text.length)), seq())),
    );
    fc.assert(
      fc.property(trees, fc.integer({ min: -3, max: 3 }), (tree, more) => {
        const text = writeYaml(tree);
        expect(limited(tree, text.length + more)).toBe(more < 0 ? "limit.characters" : text);
      }),
      { numRuns: runs(300) },
    );
  });

  it("is the default's for a few long texts, which are not written first", () => {
    const long = value("s".repeat(60_000_000));
    expect(() => writeYaml(dict(["a", long], ["b", long]))).toThrow(
      "The config as YAML has more than 100,000,000 characters",
    );
  });
});
