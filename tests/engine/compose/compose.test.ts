import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { requirePrimary } from "../../../src/engine/compose/compose.ts";
import { type CompositionWarning, createRepository } from "../../../src/engine/compose/index.ts";
import { DEFAULT_DIALECT } from "../../../src/engine/values/dialect.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { createResolveContext } from "../../../src/engine/values/resolution/context.ts";
import { createEngine } from "../../../src/engine.ts";
import { runs } from "../../runs.ts";
import { diskDirectory } from "./disk-sources.ts";
import { composeFiles, composeOn, refusal, snapshotOf } from "./in-memory.ts";

describe("the project's own tree", () => {
  const engine = createEngine({ cwd: packageInfo().root, env: {} });
  const compose = (...overrides: string[]) =>
    engine.compose({ configDir: "conf", configName: "config", overrides, returnHydraConfig: true });

  it("composes with the command lines of the design", () => {
    const config = compose(
      "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default",
      "model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default",
      "pipeline.ncu.enable=true",
      "pipeline.nsys.enable=false",
      "pipeline.ncu.ncu_cli.replay_mode=range",
      "pipeline.ncu.ncu_cli.nvtx.include='*'",
      "pipeline.ncu.ncu_cli.sections=[SpeedOfLight,Occupancy]",
      "device=cuda:0",
      "hydra.run.dir=DIR",
    );
    expect(config.get("device")).toBe("cuda:0");
    expect(config.get("pipeline.ncu.ncu_cli.nvtx.include")).toBe("*");
    expect(config.get("pipeline.ncu.ncu_cli.sections")).toEqual(["SpeedOfLight", "Occupancy"]);
    expect(config.get("model.num_blocks")).toBe(3);
    expect(config.get("hydra.run.dir")).toBe("DIR");
  });

  it("switches presets by group and package", () => {
    const config = compose("profiling/ncu@pipeline.ncu=ncu.high", "runners=stage1.no-static");
    expect(config.composition.choices.get("profiling/ncu@pipeline.ncu")).toBe("ncu.high");
    expect(config.get("runners.analysis.static.enabled")).toBe(false);
    expect(config.get("pipeline.static_analysis.enable")).toBe(false);
  });

  it("leaves interpolations of the hydra resolver as they are written", () => {
    expect(compose().toYaml()).toContain("dir: ${hydra:runtime.cwd}/tmp/profile-output/");
  });
});

describe("a composition", () => {
  it("is not changed by other compositions of the same files", () => {
    const engine = createEngine({
      env: {},
      store: new Map([
        ["config", { text: "defaults: [db: a, _self_]\nx: {y: 1}" }],
        ["db/a", { text: "n: 1" }],
        ["db/b", { text: "n: 2" }],
      ]),
    });
    const compose = (...overrides: string[]) =>
      engine.compose({ configName: "config", overrides }).toYaml();
    const first = compose();
    const others = ["x.y=2", "db=b", "+x.z=1", "~x", "x={y:9}"].map((override) =>
      compose(override),
    );
    expect(new Set([first, ...others]).size).toBe(6);
    expect(compose()).toBe(first);
    expect(compose("db=b")).toBe(others[1]);
  });

  it("takes only what Hydra's files say where one of its groups stands in another package", () => {
    const config = composeFiles({ config: "" }, ["+hydra/hydra_help@x=default"]);
    expect(config.toYaml()).toMatch(/^x:\n {2}template: /);
    expect(config.toYaml()).not.toContain("hydra_help:");
  });

  it("refuses anything else only with coded errors", () => {
    const files = {
      config: "defaults: [db: a, optional g@x: b, _self_]\nx: {y: [1, '${z}']}\nz: ???",
      "db/a": "n: 1",
      "g/b": "# @package _global_\nw: 1",
    };
    const word = fc.constantFrom(
      "db",
      "g",
      "x",
      "y",
      "z",
      "hydra",
      "hydra/launcher",
      "x.y",
      "x.y.0",
      "g@x",
      "hydra.job",
      "",
      "w",
    );
    const value = fc.constantFrom(
      "",
      "=",
      "=a",
      "=b",
      "=1",
      "=null",
      "=[a]",
      "={k:1}",
      "=${z}",
      "=???",
      "='x y'",
      "=_self_",
      "=a,b",
      "=[{a:1}]",
    );
    const sign = fc.constantFrom("", "+", "++", "~");
    const override = fc.tuple(sign, word, value).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(override, { maxLength: 4 }), (overrides) => {
        try {
          composeFiles(files, overrides);
        } catch (error) {
          expect(error).toBeInstanceOf(ConfigError);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it("tells each warning once, as it comes up: without a result, too, and of what is known already", () => {
    const files = {
      config: "defaults: [db: a]\nx: 1",
      broken: "defaults: [db: a, net: gone]\nx: 1",
      searching: "defaults: [_self_]\nhydra: {searchpath: ['file://not-there']}",
      sharing: "defaults: [db/b, db/b@more, _self_]",
      "db/a": "",
      "db/b": "x: 1",
    };
    const snapshot = snapshotOf(files, new Map([["db/b", { value: { x: 0 } }]]));
    const told = (configName: string) => {
      const codes: string[] = [];
      const onWarning = ({ code }: CompositionWarning) => codes.push(code);
      try {
        composeOn(snapshot, [], createResolveContext(), { configName, onWarning });
      } catch (error) {
        expect(error).toMatchObject({ code: "compose.missing_option" });
      }
      return codes;
    };
    expect(told("config")).toEqual(["missing_self"]);
    expect(told("config")).toEqual(["missing_self"]);
    expect(told("broken")).toEqual(["missing_self"]);
    expect(told("searching")).toEqual(["unavailable_source"]);
    // Two uses of the file, as in Hydra.
    expect(told("sharing")).toEqual(["schema_match", "schema_match"]);
  });

  it("refuses a value that no config can hold, wherever its file stands, as what it is itself", () => {
    const files = { config: "x: 1", set: "x: !!set {a}", "db/set": "x: [!!set {a}]" };
    for (const [configName, overrides] of [
      ["set", []],
      ["config", ["+db=set"]],
    ] as const) {
      const error = refusal(() => composeFiles(files, overrides, { configName }));
      expect(error.code).toBe("compose.invalid_config");
      expect(error.message).toContain("Value 'set' is not a supported primitive type");
    }
  });

  it("says which primary configs there are", () => {
    const error = refusal(() =>
      composeFiles({ config: "", other: "" }, [], { configName: "confg" }),
    );
    expect(error.code).toBe("compose.missing_config");
    expect(error.details).toMatchObject({ available: ["config", "other"], nearest: "config" });
  });
});

const snapshot = snapshotOf({
  config: "defaults: [db: a, net: lan, _self_]\nx: 1",
  asking: "defaults: [db: '${oc.env:DB}', _self_]\nx: 1",
  "db/a": "n: 1",
  "db/b": "n: 2",
  "net/lan": "",
  "net/wan": "",
});

describe("compositions of one snapshot", () => {
  it("share what only depends on files and groups", () => {
    const context = createResolveContext();
    const [one, other] = [
      composeOn(snapshot, ["x=1"], context),
      composeOn(snapshot, ["x=2"], context),
    ];
    expect(other.defaults).toBe(one.defaults);
    expect(other.config.entries.get("db")).toBe(one.config.entries.get("db"));
    expect(other.config.entries.get("x")).not.toBe(one.config.entries.get("x"));
  });

  it("share it as long as it is in use: a sweep over groups keeps the latest of them", () => {
    const context = createResolveContext();
    const defaultsOf = (job: number) => composeOn(snapshot, [`+net@p${job}=lan`], context).defaults;
    const first = defaultsOf(0);
    const later = Array.from({ length: 100 }, (_, job) => defaultsOf(job + 1));
    expect(defaultsOf(100)).toBe(later.at(-1));
    expect(defaultsOf(60)).toBe(later[59]);
    expect(defaultsOf(0)).not.toBe(first);
    expect(defaultsOf(0)).toStrictEqual(first);
  });

  it("do not share it where groups or their place on the command line differ", () => {
    const context = createResolveContext();
    const base = composeOn(snapshot, ["net=wan"], context);
    expect(composeOn(snapshot, ["net=lan"], context).choices.get("net")).toBe("lan");
    const later = composeOn(snapshot, ["x=1", "net=wan"], context);
    const origins = [base, later].map(
      ({ defaults }) => defaults.find(({ overrideKey }) => overrideKey === "net")?.origin,
    );
    expect(origins).toMatchObject([
      { text: "net=wan", index: 0 },
      { text: "net=wan", index: 1 },
    ]);
  });

  it("do not share it where one may leave groups open and the other may not", () => {
    const open = snapshotOf({ config: "defaults: [db: '???']", "db/a": "" });
    const context = createResolveContext();
    const { choices } = composeOn(open, [], context, { mode: "multirun" });
    expect(choices.get("db")).toBe("???");
    expect(refusal(() => composeOn(open, [], context)).code).toBe("compose.missing_option");
  });

  it("do not share it where a resolver was asked, who may say something else", () => {
    const env: Record<string, string> = {};
    const context = createResolveContext({ env });
    const chosen = ["a", "b"].map((DB) => {
      env["DB"] = DB;
      return composeOn(snapshot, [], context, { configName: "asking" }).choices.get("db");
    });
    expect(chosen).toEqual(["a", "b"]);
  });
});

const SHELL = { fromShell: true };

describe("missing directory", () => {
  function folder(...files: readonly string[]): string {
    const path = mkdtempSync(join(tmpdir(), "hydraconf-missing-"));
    for (const file of files) {
      mkdirSync(join(path, file, ".."), { recursive: true });
      writeFileSync(join(path, file), "a: 1\n");
    }
    return path;
  }

  const hintFor = (path: string, by: { readonly fromShell: boolean }) => {
    const primary = diskDirectory({ provider: "main", path, cwd: "/" });
    const { details } = refusal(() =>
      requirePrimary(createRepository([primary]), { ...by, dialect: DEFAULT_DIALECT }),
    );
    return details.hint;
  };

  test("a file is taken apart into the directory and the name", () => {
    const cwd = folder("conf/train.yaml");
    expect(hintFor(join(cwd, "conf/train.yaml"), SHELL)).toContain(
      `(-cp ${join(cwd, "conf")} -cn train)`,
    );
  });

  test("directories with YAML files beside it are named", () => {
    const cwd = folder("cfg/a.yaml", "configs/b.yaml", "src/main.py", ".git/c.yaml", "d.yaml");
    expect(hintFor(join(cwd, "conf"), SHELL)).toMatch(/; YAML files are in: cfg, configs$/);
    expect(hintFor(join(folder("conf.d/a.yaml"), "conf"), SHELL)).toMatch(/: conf\.d$/);
    const many = folder(...Array.from({ length: 7 }, (_, at) => `conf${at}/a.yaml`));
    expect(hintFor(join(many, "conf"), SHELL)).toMatch(/: conf0, conf1, conf2, conf3, conf4$/);
    expect(hintFor(join(cwd, "none/conf"), SHELL)).toMatch(/gives the config directory$/);
  });

  test("those of Python packages are named, too, after what is nearer", () => {
    const cwd = folder(
      ...["src/app/conf/a.yaml", "app/configs/db/a.yaml", "app/configs/a.yaml", "tree/b.yaml"],
      "node_modules/other/conf/c.yaml",
    );
    expect(hintFor(join(cwd, "conf"), SHELL)).toMatch(/: tree, app\/configs, src\/app\/conf$/);
  });

  test("a program's compose gets the names of its options", () => {
    const cwd = folder("conf/train.yaml");
    const path = join(cwd, "conf/train.yaml");
    expect(hintFor(path, { fromShell: false })).toContain(
      `(configDir: "${join(cwd, "conf")}", configName: "train")`,
    );
  });

  const refusalIn = (cwd: string, configDir: string, configName: string) =>
    refusal(() => createEngine().compose({ configDir: join(cwd, configDir), configName })).details
      .hint;

  test("a package that is not installed is told as one: there is no directory to look beside", () => {
    const cwd = folder("conf/train.yaml");
    const error = refusal(() =>
      createEngine({ cwd }).compose({ configDir: "pkg://not-installed/conf", configName: "train" }),
    );
    expect(error.code).toBe("compose.missing_config");
    expect(error.message.split("\n")[0]).toBe(
      "Primary config module 'not-installed.conf' not found.",
    );
    expect(error.details).toMatchObject({ key: "not-installed.conf" });
    expect(error.details).not.toHaveProperty("hint");
  });

  test("a program without its directory, or with a path for a name, is told so", () => {
    const cwd = folder("configs/sub/train.yaml");
    expect(refusalIn(cwd, "conf", "train")).toContain("configDir is the config directory");
    expect(refusalIn(cwd, "configs", "configs/sub/train.yaml")).toBe(
      'config names are relative to the config directory: use configName: "sub/train"',
    );
    expect(refusalIn(cwd, "configs", "sub/trian")).toBe('choose it with configName: "sub/train"');
    expect(refusalIn(cwd, "configs", "zzz")).toContain("configName is the name of the config");
  });
});
