import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, it, test } from "vitest";
import { ConfigError } from "../src/engine/values/errors.ts";
import { createEngine } from "../src/engine.ts";
import {
  type ComposeOptions,
  compose,
  createEngine as createEngineOfIndex,
  type EngineOptions,
} from "../src/index.ts";
import { refusal } from "./engine/compose/in-memory.ts";

describe("engine", () => {
  let cwd = "";

  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "hydraconf-engine-"));
    mkdirSync(join(cwd, "conf/db"), { recursive: true });
    mkdirSync(join(cwd, "more/db"), { recursive: true });
    writeFileSync(join(cwd, "conf/config.yaml"), "defaults: [db: a, _self_]\nx: 1\n");
    writeFileSync(join(cwd, "conf/db/a.yaml"), "n: 1\n");
    writeFileSync(join(cwd, "more/db/a.yaml"), "n: shadowed\n");
    writeFileSync(join(cwd, "more/db/b.yaml"), "n: 2\n");
  });

  afterEach(() => rmSync(cwd, { recursive: true, force: true }));

  const MAIN = { configDir: "conf", configName: "config" };

  describe("an engine", () => {
    it("sees one consistent tree until it is refreshed", () => {
      const engine = createEngine({ cwd, env: {} });
      expect(engine.compose(MAIN).get("db.n")).toBe(1);
      writeFileSync(join(cwd, "conf/db/a.yaml"), "n: 10\n");
      expect(engine.compose({ ...MAIN, overrides: ["x=2"] }).get("db.n")).toBe(1);
      engine.refresh();
      expect(engine.compose(MAIN).get("db.n")).toBe(10);
    });

    it("searches further directories after the main one", () => {
      const engine = createEngine({ cwd, env: {} });
      const compose = (option: string) =>
        engine.compose({ ...MAIN, configDirs: ["more"], overrides: [`db=${option}`] });
      expect(compose("a").get("db.n")).toBe(1);
      expect(compose("b").get("db.n")).toBe(2);
    });

    it("keeps resolvers and environment to itself", () => {
      const one = createEngine({ cwd, env: { WHO: "one" } });
      const two = createEngine({
        cwd,
        env: { WHO: "two" },
        resolvers: [
          {
            name: "twice",
            resolve: ([arg]) => `${String(arg?.node.kind === "scalar" && arg.node.value)}!`,
          },
        ],
      });
      const overrides = ["+who=${oc.env:WHO}"];
      expect(one.compose({ ...MAIN, overrides }).get("who")).toBe("one");
      expect(two.compose({ ...MAIN, overrides }).get("who")).toBe("two");
      const custom = { ...MAIN, overrides: ["+y=${twice:a}"] };
      expect(two.compose(custom).get("y")).toBe("a!");
      expect(() => one.compose(custom).get("y")).toThrow(ConfigError);
    });

    it("takes further kinds of sources and a config store", () => {
      const engine = createEngine({
        cwd,
        env: {},
        store: new Map([["db/stored", { value: { n: 3 } }]]),
      });
      const config = engine.compose({ ...MAIN, overrides: ["db=stored"] });
      expect(config.get("db.n")).toBe(3);
      expect(config.explain("db.n")?.cause.origin).toMatchObject({ kind: "code" });
    });

    it("keeps the hydra node only where it is asked for", () => {
      const engine = createEngine({ cwd, env: {} });
      expect(engine.compose(MAIN).get("hydra.job.name")).toBeUndefined();
      expect(engine.compose({ ...MAIN, returnHydraConfig: true }).get("hydra.job.name")).toBe(
        "app",
      );
    });

    it("says that the primary directory is not there", () => {
      const run = () => createEngine({ cwd, env: {} }).compose({ ...MAIN, configDir: "nope" });
      expect(run).toThrow(
        /^Primary config directory not found\.\nCheck that the config directory '.*nope' exists and readable$/,
      );
    });
  });
});

describe("engine options", () => {
  // As JavaScript may call it.
  const given = (options: unknown) => options as ComposeOptions;

  const WRONG: readonly (readonly [unknown, string])[] = [
    [undefined, "the options must be an object, not undefined"],
    ["conf", "the options must be an object, not the string 'conf'"],
    [{ configDir: new URL("file:///conf") }, "configDir must be a string, not a URL"],
    [{ configDir: "conf", configName: 3 }, "configName must be a string, not number 3"],
    [{ overrides: "db=mysql" }, "overrides must be a list of strings, not the string 'db=mysql'"],
    [{ overrides: ["a=1", 2] }, "overrides[1] must be a string, not number 2"],
    [{ overrides: { db: "mysql" } }, "overrides must be a list of strings, not an object"],
    [{ configDirs: "more" }, "configDirs must be a list of strings, not the string 'more'"],
    [{ mode: "sweep" }, "mode must be 'run' or 'multirun', not the string 'sweep'"],
    [{ jobName: 5 }, "jobName must be a string, not number 5"],
    [{ returnHydraConfig: "yes" }, "returnHydraConfig must be true or false, not the string 'yes'"],
    [{ fromShell: 1 }, "fromShell must be true or false, not number 1"],
    [{ overides: ["a=1"] }, "there is no option 'overides'"],
  ];

  test.each(WRONG)("compose(%j) says what is wrong", (options, message) => {
    const calls = [
      ["compose", compose],
      ["compose", createEngineOfIndex().compose],
      ["composition", createEngineOfIndex().composition],
      ["snapshot", createEngineOfIndex().snapshot],
    ] as const;
    for (const [by, call] of calls) {
      const error = refusal(() => call(given(options)));
      expect([error.code, error.message]).toEqual(["value.wrong_type", `${by}: ${message}`]);
    }
  });

  test("options are members of the object itself: whoever copies it loses others", () => {
    class Settings {
      readonly #directory = "conf";
      get configDir(): string {
        return this.#directory;
      }
    }
    for (const options of [new Settings(), Object.create({ configDir: "conf" })]) {
      const error = refusal(() => compose(given(options)));
      expect([error.code, error.message]).toEqual([
        "value.wrong_type",
        "compose: the option 'configDir' is inherited from a class or another object",
      ]);
    }
  });

  const engineOptions: readonly (readonly [unknown, string])[] = [
    [{ cwd: new URL("file:///home") }, "cwd must be a string, not a URL"],
    [{ env: 5 }, "env must be an object, not number 5"],
    [{ env: { A: 5 } }, "env.A must be a string, not number 5"],
    [{ store: { config: { value: {} } } }, "store must be a Map of configs, not an object"],
    [{ store: new Map([["c", 1]]) }, "store['c'] must be an object, not number 1"],
    [{ store: new Map([["c", { a: 1 }]]) }, "there is no option 'store['c'].a'"],
    [
      { store: new Map([["c", { package: "p" }]]) },
      "store['c'] must be an entry of a store, not an object",
    ],
    [
      { store: new Map([["c", { value: 1, schema: 1 }]]) },
      "store['c'].schema must be an object, not number 1",
    ],
    [{ plugins: "mine" }, "plugins must be a list of plugins, not the string 'mine'"],
    [
      { plugins: [{ name: "mine", files: "x" }] },
      "plugins[0].files must be an object, not the string 'x'",
    ],
    [{ plugins: [{}] }, "plugins[0].name must be a string, not undefined"],
    [{ sources: {} }, "sources must be a Map of functions, not an object"],
    [{ sources: new Map([["git", {}]]) }, "sources['git'] must be a function, not an object"],
  ];

  test.each([...engineOptions, [5, "the options must be an object, not number 5"] as const])(
    "createEngine(%o) says what is wrong",
    (options, message) => {
      const error = refusal(() => createEngineOfIndex(given(options) as EngineOptions));
      expect([error.code, error.message]).toEqual(["value.wrong_type", `createEngine: ${message}`]);
    },
  );

  test.each(engineOptions)("so does compose(%o), which makes an engine", (options, message) => {
    expect(refusal(() => compose(given(options))).message).toBe(`compose: ${message}`);
  });

  test("a store is whatever is read as a Map is", () => {
    const entries = [["c", { value: { a: 1 } }]];
    const store = runInNewContext("new Map(entries)", { entries });
    expect(store).not.toBeInstanceOf(Map);
    expect(compose({ configName: "c", store }).get("a")).toBe(1);
  });

  test("an option that is not there is told with the one that was meant, and undefined is not given", () => {
    const { details } = refusal(() => compose(given({ overides: [] })));
    expect(details).toMatchObject({
      nearest: "overrides",
      available: expect.arrayContaining(["configDir", "resolvers"]),
    });
    // Options of an engine are not those of what it composes.
    expect(refusal(() => createEngineOfIndex().compose(given({ env: {} }))).message).toContain(
      "'env'",
    );
    const nothing = { env: undefined, plugins: undefined, overrides: undefined, mode: undefined };
    expect(compose(given(nothing)).toYaml()).toBe("{}\n");
  });

  test("names what to write instead", () => {
    expect(refusal(() => compose(given({ overrides: "a=1" }))).details.hint).toBe(
      'overrides: ["db=mysql", "+lr=0.1"]',
    );
    expect(
      refusal(() => compose(given({ configDir: new URL("file:///c") }))).details.hint,
    ).toContain("fileURLToPath");
  });
});
