import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  isLikeSecretKey,
  isSecretKey,
  secretPaths,
} from "../../../src/engine/schema/config-reader.ts";
import type { JsonSchema } from "../../../src/engine/schema/index.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { readYaml } from "../../../src/engine/values/yaml/reader.ts";

const SCHEMA: JsonSchema = {
  $defs: { secret: { type: "string", writeOnly: true } },
  properties: {
    a: { $ref: "#/$defs/secret" },
    b: { allOf: [{ properties: { c: { format: "password" } } }] },
    list: { items: { properties: { key: { $ref: "#/$defs/secret" } } } },
    all: { type: "object", writeOnly: true },
    kind: { properties: { x: { type: "string" } }, additionalProperties: { format: "password" } },
  },
};

describe("what a schema marks secret", () => {
  it("is found through references, branches, lists and additional keys", () => {
    const tree = readYaml(
      "a: 1\nb: {c: 2, d: 3}\nlist: [{key: 1}, {other: 2}]\nall: {deep: {er: 1}}\nkind: {x: 1, y: 2}\nfree: {a: 1}\n",
    );
    expect(secretPaths(tree, SCHEMA).map((path) => path.join("."))).toEqual([
      "a",
      "b.c",
      "list.0.key",
      "all",
      "kind.y",
    ]);
  });

  it("is found under keys that only a pattern, or no property at all, names", () => {
    const secret = { writeOnly: true };
    const plain = { type: "string" };
    const found = (schema: JsonSchema, yaml: string) =>
      secretPaths(readYaml(yaml), schema).map((path) => path.join("."));
    const byPattern = {
      properties: { my_token: plain },
      patternProperties: { _token$: secret },
      additionalProperties: plain,
    };
    expect(found(byPattern, "api_token: 1\nmy_token: 2\nother: 3\n")).toEqual([
      "api_token",
      "my_token",
    ]);
    expect(isSecretKey(["api_token"], byPattern)).toBe(true);
    expect(isSecretKey(["token_api"], byPattern)).toBe(false);
    expect(isSecretKey(["("], { patternProperties: { "(": secret } })).toBe(false);
    // Keys of mappings can be numbers, too.
    const numbered = { additionalProperties: secret };
    expect(found(numbered, "7: a\n")).toEqual(["7"]);
    const rest = { allOf: [{ properties: { a: plain } }], unevaluatedProperties: secret };
    expect(found(rest, "a: 1\nb: 2\n")).toEqual(["b"]);
    const places = { prefixItems: [plain, secret], items: plain };
    expect(found(places, "[1, 2, 3]\n")).toEqual(["1"]);
    expect(found({ unevaluatedItems: secret }, "[1]\n")).toEqual(["0"]);
  });

  it("is known of a key without a tree", () => {
    expect(isSecretKey(["a"], SCHEMA)).toBe(true);
    expect(isSecretKey(["all", "deep", "er"], SCHEMA)).toBe(true);
    expect(isSecretKey(["b", "d"], SCHEMA)).toBe(false);
    expect(isSecretKey(["free"], SCHEMA)).toBe(false);
  });

  it("is supposed for a key that is misspelt, or stands without those around it", () => {
    const inner = { properties: { password: { writeOnly: true }, host: { type: "string" } } };
    const schema = { properties: { db: inner, more: { $ref: "#" } } };
    for (const key of ["db.pasword", "bd.password", "password", "paswrd", "other.password"]) {
      expect([key, isLikeSecretKey(key.split("."), schema)]).toEqual([key, true]);
      expect([key, isSecretKey(key.split("."), schema)]).toEqual([key, false]);
    }
    for (const key of ["db.host", "db.hots", "bd.host", "other", "more.db.host"])
      expect([key, isLikeSecretKey(key.split("."), schema)]).toEqual([key, false]);
  });

  it("does not occur in the profiler's own config, so that its reports have nothing to mask", () => {
    const file = join(packageInfo().root, "schemas/config.schema.json");
    expect(readFileSync(file, "utf8")).not.toMatch(/"writeOnly"|"password"/);
  });
});
