import { describe, expect, it } from "vitest";
import { createEngine } from "../../src/engine.ts";

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
