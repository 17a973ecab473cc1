import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { overrideDirname } from "../../../../src/engine/compose/hydra/runtime-node.ts";
import { parseOverrides } from "../../../../src/engine/overrides/index.ts";
import { getAt, map } from "../../../../src/engine/values/node.ts";
import { fromCode } from "../../../../src/engine/values/origin.ts";
import { packageInfo } from "../../../../src/engine/values/package-info.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { readYaml } from "../../../../src/engine/values/yaml/reader.ts";
import { writeYaml } from "../../../../src/engine/values/yaml/writer.ts";
import { createEngine } from "../../../../src/engine.ts";
import { corpusDir } from "../../../shared.ts";
import { composeFiles, pointedAt, refusal } from "../in-memory.ts";

const hydraOf = (overrides: readonly string[], config = "x: 1", env = {}) =>
  toObject(composeFiles({ config, "db/pg": "" }, overrides, { env }).composition.hydra);

describe("the hydra node", () => {
  it("is what Hydra composes without any config, byte for byte", () => {
    const text = readFileSync(
      join(corpusDir("conformance"), "compose/standard_hydra.yaml"),
      "utf8",
    );
    const expected = readYaml(text).kind === "map" ? toObject(readYaml(text)) : {};
    const { root } = packageInfo();
    const engine = createEngine({ cwd: root, env: {}, plugins: [] });
    const { hydra } = engine.composition({ configDir: "conf" });
    const actual = writeYaml(map([["hydra", hydra]], fromCode("test")))
      .replace(join(root, "conf"), "<DIR>")
      .replace(root, "<PARENT>");
    expect(actual).toBe(Reflect.get(expected as object, "hydra_yaml"));
  });

  it("holds overrides as values: an interpolation in one must parse as it is typed", () => {
    expect(hydraOf(["x='${f:\"y\"}'"])).toMatchObject({
      overrides: { task: ["x='${f:\"y\"}'"] },
    });
    const error = refusal(() => hydraOf(["x='${f:\\'y\\'}'"]));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toContain("GrammarParseError");
  });

  // Hydra adds to the list or map that is meant, where it stands: the program's own.
  it("adds overrides and choices to what an interpolation leads to, and leaves that as it is", () => {
    const overrides = ["hydra.overrides.task=${l}", "hydra.runtime.choices=${m}", "+x=1", "+db=pg"];
    const { composition } = composeFiles({ config: "l: [a]\nm: {b: c}\n", "db/pg": "" }, overrides);
    expect(toObject(composition.hydra)).toMatchObject({
      overrides: { task: ["a", "+x=1", "+db=pg"] },
      runtime: { choices: { b: "c", db: "pg" } },
    });
    expect(toObject(composition.config)).toMatchObject({ l: ["a"], m: { b: "c" } });
  });

  // Hydra's own type has the field until all configs are merged, and drops it then.
  it("takes a defaults list within `hydra:` of a config, without any effect", () => {
    const plain = hydraOf([], "list: [x]");
    for (const defaults of ["[override job_logging: none]", "[1, {a: b}]", "'${list}'", "'???'"])
      expect(hydraOf([], `list: [x]\nhydra: {defaults: ${defaults}}`)).toEqual(plain);
    for (const defaults of ["5", "{a: 1}", "null"]) {
      const error = refusal(() => hydraOf([], `hydra: {defaults: ${defaults}}`));
      expect(error.code).toBe("compose.invalid_config");
      expect(error.details.key).toBe("hydra.defaults");
    }
  });

  it("has no field for a defaults list once it is composed", () => {
    const error = refusal(() => hydraOf(["hydra.defaults=[x]"], "hydra: {defaults: [x]}"));
    expect(error.code).toBe("compose.override_failed");
    expect(hydraOf(["+hydra.defaults=[x]"])).toMatchObject({ defaults: ["x"] });
  });

  it.each(["hydra.launcher=x", "++hydra.sweeper=1", "hydra.launcher=null"])(
    "has fields of any type, whatever object stands there: %s",
    (override) => {
      expect(() => hydraOf([override])).not.toThrow();
    },
  );

  it("reads names of variables and keys behind interpolations, within lists, too", () => {
    const keys = "hydra.job.config.override_dirname.exclude_keys";
    const overrides = ["hydra.job.env_copy=['${name}']", `${keys}=['\${key}']`, "x=2", "name=B"];
    expect(hydraOf(overrides, "x: 1\nname: A\nkey: x", { B: "b" })).toMatchObject({
      job: { env_set: { B: "b" }, override_dirname: "name=B" },
    });
  });

  it("says which interpolation has a result that its field cannot take", () => {
    const key = "hydra.job.config.override_dirname.kv_sep";
    const { message } = refusal(() => hydraOf([`${key}='\${x}'`], "x: null"));
    expect(message).toContain(
      "While dereferencing interpolation '${x}': Incompatible value 'None' for field of type 'str'",
    );
  });

  it.each([
    "hydra.overrides.task='???'",
    "hydra.overrides.task='${nope}'",
    "hydra.runtime.choices='???'",
    "hydra.runtime.choices='${nope}'",
    "hydra.runtime.choices='${l}'",
    "hydra.job.config.override_dirname.exclude_keys='???'",
    "hydra.job.env_copy='???'",
    "hydra.job.config.override_dirname.item_sep='${l}'",
    "hydra.job.config.override_dirname.kv_sep='???'",
  ])("refuses %s: there it is filled in or asked for", (override) => {
    expect(refusal(() => hydraOf(["x=2", override], "x: 1\nl: [1]")).code).toMatch(/^compose\./);
  });

  it.each([
    "hydra.runtime.config_sources=['${x}']",
    "hydra.job.env_copy='\\${l}'",
    "hydra.job.env_copy=${x}",
  ])("refuses %s: it takes an object, and a list", (override) => {
    const error = refusal(() => hydraOf([override], "x: 1\nl: [PATH]", { PATH: "/bin" }));
    expect(error.code).toMatch(/^compose\./);
    expect(error.message).toMatch(/Invalid (type|value) assigned: (str|int) is not a/);
  });

  it("records overrides, Hydra's own apart from the task's", () => {
    expect(hydraOf(["x=2", "hydra.job.name=me", "hydra/job_logging=none", "+y=1"])).toMatchObject({
      overrides: {
        hydra: ["hydra.job.name=me", "hydra/job_logging=none"],
        task: ["x=2", "+y=1"],
      },
      job: { name: "me", override_dirname: "+y=1,x=2", config_name: "config" },
      runtime: { choices: { "hydra/job_logging": "none", "hydra/launcher": "basic" } },
    });
  });

  it("is filled in last: what is known at run time cannot be overridden", () => {
    expect(hydraOf(["hydra.runtime.cwd=/x", "hydra.job.override_dirname=x"])).toMatchObject({
      runtime: { cwd: "/nowhere", version: "1.3.5", version_base: "1.3" },
      job: { override_dirname: "" },
    });
  });

  it("copies environment variables, and refuses those that are not set", () => {
    const config = "hydra: {job: {env_copy: [HOME_DIR]}}";
    expect(hydraOf([], config, { HOME_DIR: "/h" })).toMatchObject({
      job: { env_set: { HOME_DIR: "/h" } },
    });
    const error = refusal(() => hydraOf([], config));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toContain("HOME_DIR");
    expect(pointedAt(error)).toBe("[HOME_DIR]");
  });

  it("keeps its types where it is filled in", () => {
    const { hydra } = composeFiles({ config: "x: 1" }).composition;
    expect(getAt(hydra, ["runtime", "choices"])?.type).toMatchObject({ kind: "map" });
    expect(getAt(hydra, ["runtime", "config_sources"])?.type).toMatchObject({ kind: "list" });
  });

  it("takes the mode by its number, too, and what our sweepers know beside Hydra's keys", () => {
    const config = "hydra: {sweeper: {exclude: [{x: 1}]}}";
    expect(hydraOf(["hydra.mode=1"], config)).toMatchObject({
      mode: "RUN",
      sweeper: { exclude: [{ x: 1 }] },
    });
    expect(hydraOf(["hydra.mode=2"])).toMatchObject({ mode: "MULTIRUN" });
    expect(refusal(() => hydraOf(["hydra.mode=3"])).code).toBe("compose.override_failed");
  });

  it("checks and converts what it is given", () => {
    expect(hydraOf(["hydra.sweep.dir=1", "hydra.mode=MULTIRUN"])).toMatchObject({
      sweep: { dir: "1" },
      mode: "MULTIRUN",
    });
    for (const override of [
      "hydra.mode=sideways",
      "hydra.job.chdir=maybe",
      "hydra.run=null",
      "hydra.run.dir=null",
      "hydra.job_logging=null",
      "hydra.sweeper.max_batch_size=x",
    ])
      expect(refusal(() => hydraOf([override])).message.split("\n")[0]).toBe(
        `Error merging override ${override}`,
      );
  });

  it("stays a mapping, and so does what is filled in", () => {
    const error = refusal(() => hydraOf([], "hydra: ${mine}\nmine: {run: {dir: x}}"));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.details.key).toBe("hydra");
    for (const key of ["overrides", "job", "runtime"]) {
      const lost = refusal(() => hydraOf([], `hydra: {${key}: '\${mine}'}\nmine: {}`));
      expect(lost.code).toBe("compose.invalid_config");
      expect(lost.details).toMatchObject({ key: `hydra.${key}`, origin: { kind: "file" } });
    }
  });

  it("asks for a list of overrides only where there is one to add", () => {
    expect(hydraOf(["hydra.overrides.task='???'"])).toMatchObject({ overrides: { task: "???" } });
  });

  it("is apart from the job's config", () => {
    const config = composeFiles({ config: "x: 1" });
    expect(config.toObject()).toEqual({ x: 1 });
    expect(config.composition.root.entries.has("hydra")).toBe(true);
  });

  it("takes nothing but a map or null in a file for a part with a class", () => {
    const given = (part: string) => () => hydraOf([], `hydra: {${part}}\nmine: {_target_: x}`);
    for (const [part, found] of [
      ["sweeper: 1", "int is not a subclass of BasicSweeperConf. value: 1"],
      ["launcher: text", "str is not a subclass of BasicLauncherConf. value: text"],
      ["sweeper: [1]", "list is not a subclass of BasicSweeperConf. value: [1]"],
      ["run: true", "bool is not a subclass of RunDir. value: True"],
      ["run: '${mine}'", "str is not a subclass of RunDir. value: ${mine}"],
      ["launcher: '${mine}'", "str is not a subclass of BasicLauncherConf. value: ${mine}"],
    ] as const) {
      const { code, message, details } = refusal(given(part));
      expect([code, message.split("\n")[1]]).toEqual([
        "compose.invalid_config",
        `Merge error: ${found}`,
      ]);
      expect(details.key).toBe(`hydra.${part.split(":")[0]}`);
    }
    expect(given("sweeper: null")).not.toThrow();
  });

  it("asks for texts as keys of what is declared as a map, whatever came before the declaration", () => {
    for (const part of ["job_logging", "hydra_logging", "callbacks"])
      expect(refusal(() => hydraOf([], `hydra: {${part}: {1: b}}`)).message).toContain(
        "Key 1 (int) is incompatible with (str)",
      );
  });
});

const dirname = (texts: readonly string[], options = {}) =>
  overrideDirname(parseOverrides(texts), {
    keyValueSeparator: "=",
    itemSeparator: ",",
    excludeKeys: [],
    ...options,
  });

describe("override_dirname", () => {
  it("sorts the overrides as they were typed", () => {
    expect(dirname(["b=1", "a=2", "~y", "+z=1"])).toBe("+z=1,a=2,b=1,~y");
  });

  it("replaces every equals sign", () => {
    expect(dirname(["a='x=y'", "b=1"], { keyValueSeparator: "-", itemSeparator: "_" })).toBe(
      "a-'x-y'_b-1",
    );
  });

  it("takes a separator for what it is", () => {
    expect(dirname(["a=1"], { keyValueSeparator: "$&" })).toBe("a$&1");
  });

  it("excludes keys without regard to prefix and package", () => {
    expect(dirname(["+db@x=pg", "seed=1", "lr=2"], { excludeKeys: ["db", "seed"] })).toBe("lr=2");
  });
});
