import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { DIALECTS, type DialectName } from "../../../../src/engine/values/dialect.ts";
import { createEngine, type EngineOptions } from "../../../../src/engine.ts";
import { refusal } from "../in-memory.ts";

/** Composes files of a directory. */
function composed(
  files: Readonly<Record<string, string>>,
  overrides: readonly string[] = [],
  dialect: DialectName = "1.1",
  more: Pick<EngineOptions, "env"> & { readonly configName?: string } = {},
) {
  const dir = mkdtempSync(join(tmpdir(), "hydraconf-dialect-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  const { configName = "config", env = {} } = more;
  const engine = createEngine({ cwd: dir, dialect, env, plugins: [] });
  const config = engine.compose({ configDir: dir, configName, overrides });
  const [notice, ...warnings] = config.composition.warnings.map(({ message }) => message);
  return { yaml: config.toYaml(), notice, warnings };
}

const SELF = "defaults:\n  - _self_\n";

describe("a composition in 1.1", () => {
  it("begins with a warning for the choice of it", () => {
    expect(composed({ "config.yaml": "a: 1" }).notice).toBe(DIALECTS["1.1"].notice);
  });

  it("takes `_group_` and `_name_` of headers for the config's group and name, and warns each time", () => {
    const files = {
      "config.yaml": `${SELF}  - db: my\n  - db@other: my\n`,
      "db/my.yaml": "# @package _group_._name_\nport: 1\n",
    };
    const { warnings, yaml } = composed(files);
    expect(yaml).toBe("db:\n  my:\n    port: 1\nother:\n  port: 1\n");
    const warning =
      "In 'db/my': Usage of deprecated keyword in package header '# @package _group_._name_'.\n" +
      "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_package_header for more information";
    expect(warnings).toEqual([warning, warning]);
  });

  it("reads .yml where it is named, and warns as often as Hydra looks for it", () => {
    const files = { "config.yml": `${SELF}  - g: a.yml\n`, "g/a.yml": "x: 1", "g/b.yaml": "x: 2" };
    const { warnings, yaml } = composed(files, [], "1.1", { configName: "config.yml" });
    expect(yaml).toBe("g:\n  x: 1\n");
    expect(warnings).toHaveLength(12);
    expect(new Set(warnings)).toEqual(
      new Set(["Support for .yml files is deprecated. Use .yaml extension for Hydra config files"]),
    );
    expect(() => composed(files, [], "1.2", { configName: "config.yml" })).toThrow(
      "Cannot find primary config 'config.yml'",
    );
  });

  it.each([
    ["{g: nope, optional: true}", "x: 1\n"],
    ["{g: a, optional: false}", "x: 1\ng:\n  q: 1\n"],
  ])("takes %s in a list", (item, yaml) => {
    const files = { "config.yaml": `${SELF}  - ${item}\nx: 1\n`, "g/a.yaml": "q: 1" };
    const option = item.includes("nope") ? "nope" : "a";
    const result = composed(files);
    expect(result.yaml).toBe(yaml);
    expect(result.warnings).toEqual([
      `\nIn config: 'optional: true' is deprecated.\nUse 'optional g: ${option}' instead.\n` +
        "Support for the old style is removed for Hydra version_base >= 1.2",
    ]);
    expect(() => composed(files, [], "1.2")).toThrow("Too many keys in default item");
  });

  it("overrides groups of Hydra without the keyword, anywhere in the list", () => {
    const files = {
      "config.yaml": `${SELF}  - hydra/job_logging: none\n  - g: a\n`,
      "g/a.yaml": "q: 1",
    };
    const { warnings, yaml } = composed(files);
    expect(yaml).toBe("g:\n  q: 1\n");
    expect(warnings).toEqual([
      "In config: Invalid overriding of hydra/job_logging:\n" +
        "Default list overrides requires 'override' keyword.\n" +
        "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/defaults_list_override for more information.\n",
    ]);
    expect(() => composed(files, [], "1.2")).toThrow("Multiple values for hydra/job_logging");
  });

  it("resolves positions of the list", () => {
    const files = {
      "config.yaml": `${SELF}  - g: a\n  - h: "\${defaults.1.g}_b"\n`,
      "g/a.yaml": "q: 1",
      "h/a_b.yaml": "z: 1",
    };
    const { warnings, yaml } = composed(files);
    expect(yaml).toBe("g:\n  q: 1\nh:\n  z: 1\n");
    expect(warnings).toEqual([
      expect.stringContaining("'h=${defaults.1.g}_b' is using a deprecated"),
    ]);
    expect(() => composed(files, [], "1.2")).toThrow("deprecated interpolation form");
  });

  it("takes `_name_` in the package of an override", () => {
    const { warnings, yaml } = composed({ "config.yaml": "x: 1", "g/a.yaml": "q: 1" }, [
      "+g@p._name_=a",
    ]);
    expect(yaml).toBe("x: 1\np:\n  a:\n    q: 1\n");
    expect(warnings).toEqual([
      expect.stringMatching(/^In override \+g@p\._name_=a: _name_ keyword/),
    ]);
  });

  it("fails at a warning where the environment wants that", () => {
    const files = {
      "config.yaml": "defaults: [{g: a}]\nx: 1\n",
      "g/a.yaml": "# @package _group_\ny: 1",
    };
    const with_ = (env: Record<string, string>) => () => composed(files, [], "1.1", { env });
    expect(with_({ HYDRA_DEPRECATION_WARNINGS_AS_ERRORS: "1" })).toThrow(
      "deprecated keyword in package",
    );
    expect(with_({ SELF_WARNING_AS_ERROR: "1" })).toThrow("Defaults list is missing `_self_`");
  });
});

it.each(["1.2", "1.3"] as const)("keywords of headers are names in %s", (dialect) => {
  const files = {
    "config.yaml": `${SELF}  - db: my\n`,
    "db/my.yaml": "# @package _group_\nport: 1\n",
  };
  const { notice, yaml } = composed(files, [], dialect);
  expect([notice, yaml]).toEqual([undefined, "_group_:\n  port: 1\n"]);
});

it.each([
  [
    "config.yml",
    "1.3",
    /config\.yml is there, but configs are \.yaml files: rename it, or name it with its ending in Hydra 1\.1/,
  ],
  ["config.json", "1.3", /config\.json is there, but configs are \.yaml files: rename it$/],
] as const)("a primary config that is missing beside %s is told of it", (file, dialect, hint) => {
  const error = refusal(() => composed({ [file]: "{}" }, [], dialect));
  expect(error.details.hint).toMatch(hint);
});

it("what a list names without a file may be registered by a Python program", () => {
  const error = refusal(() => composed({ "config.yaml": "defaults: [base_config]" }));
  expect(error.details.hint).toContain("a Python program may register it in its ConfigStore");
});
