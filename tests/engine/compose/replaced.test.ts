/** `key:=value`, which replaces what a key has instead of merging into it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DialectName } from "../../../src/engine/values/dialect.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { compose } from "../../../src/portable-engine.ts";

const FILES = {
  "config.yaml":
    "defaults: [db: mysql, _self_]\nopt: {_target_: Adam, lr: 0.3, eps: 1}\nl: [1, 2]\nm: 1\nr: ${opt}\n",
  "db/mysql.yaml": "host: h\nport: 1\n",
};

const composed = (overrides: readonly string[], dialect: DialectName = "1.3") =>
  compose({ files: FILES, configDir: "/", configName: "config", overrides, dialect });

const yaml = (overrides: readonly string[], dialect?: DialectName) =>
  composed(overrides, dialect).toYaml();

function refused(overrides: readonly string[]): string {
  try {
    composed(overrides);
  } catch (error) {
    if (isConfigError(error)) return `${error.message}\n${error.details.hint ?? ""}`;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe.each<DialectName>(["1.1", "1.2", "1.3", "1.4"])("key:=value in %s", (dialect) => {
  it("replaces a map in its place, and is the last word about it", () => {
    expect(yaml(["opt.lr=1", "opt:={_target_: Newton, steps: 3}"], dialect)).toBe(
      "db:\n  host: h\n  port: 1\nopt:\n  _target_: Newton\n  steps: 3\nl:\n- 1\n- 2\nm: 1\nr: ${opt}\n",
    );
    expect(composed(["opt:={a: 1}", "opt.a=2"], dialect).toObject()).toMatchObject({
      opt: { a: 2 },
    });
  });

  it("replaces what a group gives, lists and single values", () => {
    const { db, l, m } = composed(["db:={url: x}", "l:=[3]", "m:={k: 1}"], dialect).toObject() as {
      readonly [key: string]: unknown;
    };
    expect({ db, l, m }).toEqual({ db: { url: "x" }, l: [3], m: { k: 1 } });
  });
});

it("explains what it replaced", () => {
  const explained = composed(["opt:={a: 1}"]).explain("opt");
  expect(explained?.cause.origin).toMatchObject({ kind: "override", text: "opt:={a: 1}" });
  expect(explained?.replaced.map(({ cause }) => cause.origin.kind)).toEqual(["file"]);
});

it.each([
  [["nope:={a: 1}"], "use +nope={a: 1} to add the key"],
  [["+opt:={a: 1}"], "opt:={a: 1}"],
  [["db:=mysql"], "use db=mysql"],
  [["hydra.run.dir:=x"], "use hydra.run.dir=x"],
  [["db@x:={a: 1}"], "expected '='"],
  [["opt={a: 1}"], "or opt:={a: 1}"],
])("%j is answered with what works", (overrides, words) => {
  expect(refused(overrides)).toContain(words);
});

it("gives any map its new content, and changes nothing else", () => {
  const name = fc.constantFrom("a", "b", "lr", "eps");
  const map = fc.dictionary(name, fc.integer({ min: 0, max: 9 }), { noNullPrototype: true });
  fc.assert(
    fc.property(map, (content) => {
      const written = Object.entries(content).map(([key, value]) => `${key}: ${value}`);
      const before = composed([]).toObject() as Record<string, unknown>;
      expect(composed([`opt:={${written.join(", ")}}`]).toObject()).toEqual({
        ...before,
        opt: content,
      });
    }),
    { numRuns: 30 },
  );
});
