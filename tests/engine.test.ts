import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createEngine } from "../src/engine.ts";
import { ConfigError } from "../src/values/errors.ts";

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
    expect(engine.compose({ ...MAIN, returnHydraConfig: true }).get("hydra.job.name")).toBe("app");
  });

  it("says that the primary directory is not there", () => {
    const run = () => createEngine({ cwd, env: {} }).compose({ ...MAIN, configDir: "nope" });
    expect(run).toThrow(
      /^Primary config directory not found\.\nCheck that the config directory '.*nope' exists and readable$/,
    );
  });
});
