import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonSchema, renderIssues, validateTree } from "../../../src/engine/schema/index.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { type ConfigNode, list, map, scalar } from "../../../src/engine/values/node.ts";
import { fromCode, type OverrideOrigin } from "../../../src/engine/values/origin.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";
import { growth } from "../../growth.ts";
import { runs } from "../../runs.ts";

const SCHEMA: JsonSchema = {
  type: "object",
  additionalProperties: false,
  required: ["host", "port"],
  properties: {
    host: { type: "string", description: "Name of the server." },
    port: { description: "TCP port.", $ref: "#/$defs/port", examples: [5432] },
    mode: { enum: ["fast", "safe", null] },
    tags: { type: ["array", "string", "null"], minLength: 1, items: { type: "string" } },
    device: { type: "string", pattern: "^(cpu|cuda:\\d+)$" },
    place: {
      type: "string",
      pattern: "^(cpu|cuda:\\d+)$",
      maxLength: 9,
      examples: ["cpu", "cuda:0"],
    },
    shape: {
      type: "object",
      required: ["kind"],
      discriminator: { propertyName: "kind" },
      oneOf: [{ $ref: "#/$defs/circle" }, { $ref: "#/$defs/box" }],
    },
    either: { anyOf: [{ type: "integer", minimum: 1 }, { const: "auto" }] },
  },
  $defs: {
    port: { type: "integer", minimum: 1, maximum: 65535 },
    circle: {
      type: "object",
      additionalProperties: false,
      properties: { kind: { const: "circle" }, radius: { type: "number" } },
    },
    box: {
      type: "object",
      additionalProperties: false,
      properties: { kind: { const: "box" }, width: { type: "number" } },
    },
  },
};

const check = (yaml: string) => validateTree(readYaml(yaml, { name: "conf/db.yaml" }), SCHEMA);
const brief = (yaml: string) =>
  check(yaml).map(({ problem, key, expected }) => `${problem} ${key}: ${expected}`);

const GOOD = "host: a\nport: 1\n";

describe("validateTree", () => {
  test.each([
    GOOD,
    `${GOOD}mode: null\ntags: [a, b]\ndevice: cuda:1\n`,
    `${GOOD}tags: one\nshape: {kind: box, width: 1.5}\neither: auto\n`,
    `${GOOD}tags: null\nshape: {kind: circle}\neither: 3\n`,
  ])("accepts %j", (yaml) => {
    expect(check(yaml)).toEqual([]);
  });

  test.each([
    ["host: 1\nport: 1", ["invalid_value host: a string"]],
    ["host: a\nport: x", ["invalid_value port: an integer (such as 5432)"]],
    ["host: a\nport: 0", ["invalid_value port: at least 1 (such as 5432)"]],
    ["host: a\nport: 1.5", ["invalid_value port: an integer (such as 5432)"]],
    ["host: a", ["missing_key port: the key to be present (such as 5432)"]],
    ["host: a\nport: ???", ["missing_value port: a value: it is mandatory (such as 5432)"]],
    [`${GOOD}mode: slow`, ["invalid_value mode: one of fast, safe, null"]],
    [`${GOOD}tags: [a, 1]`, ["invalid_value tags[1]: a string"]],
    [`${GOOD}tags: {a: 1}`, ["invalid_value tags: a list, a string or null"]],
    [`${GOOD}tags: ''`, ["invalid_value tags: a string that is not empty"]],
    [`${GOOD}place: gpu`, ["invalid_value place: a string like cpu or cuda:0"]],
    [
      `${GOOD}place: a long one`,
      ["invalid_value place: at most 9 characters, a string like cpu or cuda:0"],
    ],
    [`${GOOD}place: 1`, ["invalid_value place: a string (such as cpu, cuda:0)"]],
    [`${GOOD}device: gpu`, ["invalid_value device: a string like /^(cpu|cuda:\\d+)$/"]],
    [`${GOOD}shape: {kind: oval}`, ["invalid_value shape.kind: one of circle, box"]],
    [`${GOOD}shape: {width: 1}`, ["missing_key shape.kind: the key to be present"]],
    [`${GOOD}shape: {kind: box, radius: 1}`, ["unknown_key shape.radius: one of kind, width"]],
    [`${GOOD}either: 0`, ["invalid_value either: at least 1 or auto"]],
    ["[1]", ["invalid_value : a mapping"]],
  ])("%j", (yaml, expected) => {
    expect(brief(yaml)).toEqual(expected);
  });

  test.each([
    ["mode: saef", "safe"],
    ["mode: FAST", "fast"],
    ["mode: slow", undefined],
    ["on: yes", "true"],
    ["on: off", "false"],
    ["on: 1", undefined],
    ["seed: None", "null"],
    ["seed: yes", undefined],
  ])("proposes what was meant by %j", (yaml, nearest) => {
    const schema: JsonSchema = {
      properties: {
        mode: { enum: ["fast", "safe", 3] },
        on: { type: "boolean" },
        seed: { type: ["integer", "null"] },
      },
    };
    // A text, as an override has it.
    const [name = "", text = ""] = yaml.split(": ");
    const origin: OverrideOrigin = { kind: "override", text: `${name}=${text}`, index: 0 };
    const [issue] = validateTree(map([[name, scalar(text, origin)]], origin), schema);
    expect([issue?.problem, issue?.nearest]).toEqual(["invalid_value", nearest]);
  });

  test("reports everything at once, in the order of the document", () => {
    expect(check("tags: [1]\nprot: 5\nhost: ???\nmode: x\n").map((issue) => issue.key)).toEqual([
      "tags[0]",
      "prot",
      "host",
      "mode",
      "port",
    ]);
  });

  test("takes keys of all parts of a schema that leaves none unevaluated, and no others", () => {
    const extended: JsonSchema = {
      allOf: [{ properties: { host: { type: "string" } } }],
      properties: { port: { type: "integer" } },
      unevaluatedProperties: false,
    };
    expect(validateTree(readYaml("host: a\nport: 1\n"), extended)).toEqual([]);
    expect(validateTree(readYaml("hots: a\nport: 1\n"), extended)).toMatchObject([
      { problem: "unknown_key", key: "hots", nearest: "host", available: ["port", "host"] },
    ]);
  });

  test("describes keys that a pattern names, and items by their places", () => {
    const text = { type: "string" };
    const described: JsonSchema = {
      patternProperties: { "^gpu\\d$": { ...text, description: "One GPU.", examples: ["a"] } },
      properties: {
        pair: {
          type: "array",
          prefixItems: [text, { ...text, description: "The second." }],
          ...{ minItems: 2, maxItems: 2 },
        },
      },
    };
    const issues = validateTree(readYaml("gpu0: 1\npair: [a, 2]\n"), described);
    expect(issues).toMatchObject([
      { key: "gpu0", expected: "a string (such as a)", description: "One GPU." },
      { key: "pair[1]", expected: "a string", description: "The second." },
    ]);
  });

  test("names the nearest key, and none where none is near", () => {
    const [near, far] = check(`${GOOD}hots: 1\nqqqqqqqq: 2\n`);
    expect(near?.nearest).toBe("host");
    expect(far?.nearest).toBeUndefined();
    expect(near?.available).toEqual([
      "host",
      "port",
      "mode",
      "tags",
      "device",
      "place",
      "shape",
      "either",
    ]);
  });

  test("points at the file and line, or at the override", () => {
    const override: OverrideOrigin = { kind: "override", text: "port=99999", index: 0 };
    const file = readYaml("host:\n  - 1\n", { name: "conf/db.yaml" });
    const root: ConfigNode = map(
      [
        ["host", file.kind === "map" ? ([...file.entries.values()][0]?.value ?? file) : file],
        ["port", scalar(99999n, override)],
        ["tags", list([scalar("x", fromCode("test"))], fromCode("test"))],
      ],
      fromCode("test"),
    );
    const text = renderIssues(validateTree(root, SCHEMA));
    expect(text).toBe(
      [
        "The configuration is not valid: 2 problems",
        "",
        "  host = [1]",
        "    expected:     a string",
        "    meaning:      Name of the server.",
        "    from:         conf/db.yaml:2:3",
        "",
        "  port = 99999",
        "    expected:     at most 65535 (such as 5432)",
        "    meaning:      TCP port.",
        "    from:         override 'port=99999'",
      ].join("\n"),
    );
  });

  test("odd keys and values do not confuse it", () => {
    const issues = check(`${GOOD}__proto__: 1\n"a/b~c": 2\nhasOwnProperty: 3\n1: x\n`);
    expect(issues.map(({ key, pointer }) => [key, pointer])).toEqual(
      expect.arrayContaining([
        ["__proto__", "/__proto__"],
        ["a/b~c", "/a~1b~0c"],
        ["hasOwnProperty", "/hasOwnProperty"],
        ["1", "/1"],
      ]),
    );
    expect(issues).toHaveLength(4);
    expect(brief(`${GOOD}either: .nan`)).toEqual(["invalid_value either: an integer or auto"]);
  });

  test("a big integer is an integer", () => {
    expect(brief("host: a\nport: 123456789012345678901234567890")).toEqual([
      "invalid_value port: at most 65535 (such as 5432)",
    ]);
  });

  test("a schema that is none is an error of its own", () => {
    try {
      validateTree(readYaml("a: 1"), { type: "nonsense" });
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.code).toBe("schema.invalid");
    }
  });

  test("never throws, and every issue has a place, whatever the document", () => {
    const leaf = fc.oneof(
      fc.string().map((value) => scalar(value, fromCode("test"))),
      fc.bigInt().map((value) => scalar(value, fromCode("test"))),
      fc.double().map((value) => scalar(value, fromCode("test"))),
      fc.constantFrom(null, true, "???").map((value) => scalar(value, fromCode("test"))),
    );
    const key = fc.constantFrom("host", "port", "tags", "shape", "kind", "either", "x", "a/b");
    const { tree } = fc.letrec<{ tree: ConfigNode }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 3 },
        leaf,
        fc.array(tie("tree"), { maxLength: 3 }).map((items) => list(items, fromCode("test"))),
        fc
          .array(fc.tuple(key, tie("tree")), { maxLength: 5 })
          .map((entries) => map(entries, fromCode("test"))),
      ),
    }));
    fc.assert(
      fc.property(tree, (document) => {
        const issues = validateTree(document, SCHEMA);
        expect(new Set(issues.map((issue) => `${issue.problem} ${issue.pointer}`)).size).toBe(
          issues.length,
        );
        expect(renderIssues(issues)).toContain("not valid");
      }),
      { numRuns: runs(100) },
    );
  });
});

test("issues of one map take time in proportion to their number", async () => {
  const schema: JsonSchema = { type: "object", additionalProperties: { type: "integer" } };
  const wrong = new Map(
    [500, 5000].map((count) => [
      count,
      map(
        Array.from({ length: count }, (_, at) => [`key ${at}`, scalar("x", fromCode("test"))]),
        fromCode("test"),
      ),
    ]),
  );
  const check = (count: number) =>
    validateTree(wrong.get(count) ?? map([], fromCode("test")), schema);
  expect(check(500).map(({ key }) => key)).toEqual(
    Array.from({ length: 500 }, (_, at) => `key ${at}`),
  );
  expect(await growth(check, 500)).toBeLessThan(40);
});

test("keys that every object inherits are checked like any other", () => {
  const schema: JsonSchema = {
    type: "object",
    properties: { known: { type: "string" } },
    additionalProperties: { type: "integer", description: "a number of things", examples: [3] },
  };
  const issues = validateTree(readYaml("constructor: x", { name: "a.yaml" }), schema);
  expect(issues).toMatchObject([{ key: "constructor", description: "a number of things" }]);
});

test("pointers escape what would lead elsewhere in them", () => {
  const closed = { additionalProperties: false, properties: {} };
  const schema: JsonSchema = {
    type: "object",
    required: ["in/out"],
    properties: { "in/out": { type: "integer" }, "a~b": closed, given: true },
  };
  const pointers = (yaml: string) =>
    validateTree(readYaml(yaml), schema).map(({ problem, pointer }) => [problem, pointer]);
  expect(pointers("given: 1")).toEqual([["missing_key", "/in~1out"]]);
  expect(pointers("in/out: x")).toEqual([["invalid_value", "/in~1out"]]);
  expect(pointers("in/out: ???\na~b: {c/d: 1}")).toEqual([
    ["missing_value", "/in~1out"],
    ["unknown_key", "/a~0b/c~1d"],
  ]);
});
