import { describe, expect, it } from "vitest";
import { MASK, maskSecrets, secretOverrides } from "../../../src/engine/compose/secrets.ts";
import { parseOverrides } from "../../../src/engine/overrides/index.ts";
import type { ConfigNode } from "../../../src/engine/values/node.ts";
import { toObject } from "../../../src/engine/values/plain-objects.ts";
import { createEngine } from "../../../src/engine.ts";
import { composeFiles } from "./in-memory.ts";

const { compose } = createEngine({
  env: {},
  store: new Map([
    [
      "config",
      {
        value: { user: "me", db: { host: "h", password: "stored" }, keys: { a: "k" }, list: ["s"] },
        schema: {
          properties: {
            db: { properties: { password: { writeOnly: true } } },
            keys: { writeOnly: true },
            list: { writeOnly: true },
          },
        },
      },
    ],
  ]),
});

const shown = (...overrides: string[]) =>
  JSON.parse(
    JSON.stringify(
      compose({ configDir: null, configName: "config", overrides, returnHydraConfig: true }),
    ),
  );

describe("secrets", () => {
  it("are masked with all that is in them, and nothing beside them is", () => {
    const { hydra, ...config } = shown();
    expect(config).toEqual({
      user: "me",
      db: { host: "h", password: "***" },
      keys: { a: "***" },
      list: ["***"],
    });
    expect(hydra.overrides.task).toEqual([]);
  });

  it("stay visible where there is nothing to hide: null, missing, or the name of another value", () => {
    for (const [override, value] of [
      ["db.password=null", null],
      ["db.password=???", "???"],
      ["db.password=${user}", "${user}"],
    ] as const)
      expect(shown(override).db.password, override).toBe(value);
  });

  it.each([
    ["db.password=x", "db.password=***"],
    ["++db.password=x", "++db.password=***"],
    ["keys.a=x", "keys.a=***"],
    ["+keys.b={c: x}", "+keys.b=***"],
    ["db={password: x}", "db=***"],
    ["list=[x]", "list=***"],
    ["db.host=x", "db.host=x"],
    ["user=x", "user=x"],
    ["+db2.password=x", "+db2.password=x"],
    ["~db.password", "~db.password"],
    ["++db=x", "++db=x"],
  ])("are masked in the override %s", (override, expected) => {
    const { hydra } = shown(override);
    expect(hydra.overrides.task).toEqual([expected]);
    expect(hydra.job.override_dirname).toBe(expected.includes("***") ? "" : expected);
  });
});

describe("the mask", () => {
  const secrets = [["db", "password"], ["users", "0", "key"], ["list"]];
  const config =
    "db: {password: a, host: h, link: '${db.password}'}\nusers: [{key: k, name: n}]\nlist: [x, [y]]";
  const masked = (overrides: readonly string[] = [], options = {}) =>
    maskSecrets(
      composeFiles({ config }, overrides).root,
      { secrets, overrides: parseOverrides(overrides) },
      options,
    );

  it("covers items of lists, and what their items hold", () => {
    expect(toObject(masked())).toEqual({
      db: { password: MASK, host: "h", link: "${db.password}" },
      users: [{ key: MASK, name: "n" }],
      list: [MASK, [MASK]],
    });
  });

  it("covers an interpolation in the place of a secret where it is going to be resolved", () => {
    const shown = (resolving: boolean) =>
      toObject(masked(["db.password='${db.host}'"], { resolving }));
    expect(shown(false)).toMatchObject({ db: { password: "${db.host}" } });
    expect(shown(true)).toMatchObject({ db: { password: MASK } });
  });

  it("covers what was replaced, and the overrides that values come from", () => {
    const overrides = [
      "db.password=first",
      "db={password: second}",
      "list=[third]",
      "users.0.name=shown",
      "+db.deep={x: {y: 1}}",
    ];
    const tree = masked(overrides);
    const texts: string[] = [];
    const look = (node: ConfigNode | undefined): void => {
      if (node === undefined) return;
      if (node.origin.kind === "override") texts.push(node.origin.text);
      if (node.kind === "scalar") texts.push(String(node.value));
      else if (node.kind === "list") node.items.forEach(look);
      else for (const { value } of node.entries.values()) look(value);
      look(node.replaced);
    };
    look(tree);
    expect(texts).toEqual(
      expect.arrayContaining(["db.password=***", "list=***", "users.0.name=shown", "shown", "n"]),
    );
    for (const secret of ["first", "second", "third"])
      expect(
        texts.filter((text) => text.includes(secret)),
        secret,
      ).toEqual([]);
  });
});

describe("overrides with secrets", () => {
  const secrets = [["db", "password"]];
  it.each([
    ["db.password=a,b", true],
    ["db.password.deeper=a", true],
    ["db={password: a},{password: b}", true],
    ["db=[{password: a}]", true],
    ["db=[a,{password: b}]", true],
    ["db=pg,mysql", false],
    ["db=[pg]", false],
    ["p=zip(db.password=choice(a,b),lr=choice(1,2))", true],
    ["p=zip(lr=choice(1,2),db.password=choice(a,b))", true],
    ["p=zip(lr=choice(1,2),x=choice(a,b))", false],
    ["p=zip(db.password=choice(a))+zip(db.password=choice(b))", true],
    ["db=choice({password: a})+choice(pg)", true],
    ["db=choice(a)+choice(pg)", false],
    ["db:={password: a}", true],
    ["db.password:=a", true],
    ["other={password: a}", false],
    ["~db.password", false],
  ])("%s: %j", (text, isSecret) => {
    const overrides = parseOverrides([text]);
    expect(secretOverrides({ secrets, overrides }).has(text)).toBe(isSecret);
    expect(secretOverrides({ secrets: [], overrides }).size).toBe(0);
  });
});
