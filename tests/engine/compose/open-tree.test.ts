import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { openTree, PRIMARY_PROVIDER } from "../../../src/engine/compose/open-tree.ts";
import { DISK_ACCESS } from "../../../src/engine/compose/sources/file-source.ts";
import { createEngine } from "../../../src/engine.ts";
import { pointedAt, refusal } from "./in-memory.ts";

describe("open tree", () => {
  /** A directory with a Python package of configs. */
  function placeWith(name: string): string {
    const place = mkdtempSync(join(tmpdir(), "hydraconf-open-tree-"));
    const folder = join(place, name, "conf");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "__init__.py"), "");
    writeFileSync(join(folder, "config.yaml"), "");
    return place;
  }

  test("packages of configs are looked for beside the program, where it runs, and in PYTHONPATH", () => {
    const [base, cwd, library] = ["beside", "here", "library"].map(placeWith);
    const isFound = (name: string) => {
      const { repository } = openTree({
        plugins: [],
        files: DISK_ACCESS,
        configDir: `pkg://${name}.conf`,
        configDirs: [],
        cwd: cwd ?? "",
        ...(base !== undefined && { base }),
        env: { PYTHONPATH: library },
      });
      const primary = repository.sources.find(({ provider }) => provider === PRIMARY_PROVIDER);
      return primary?.available() === true && repository.load("config") !== undefined;
    };
    expect(["beside", "here", "library", "nowhere"].map(isFound)).toEqual([
      true,
      true,
      true,
      false,
    ]);
  });

  test("a folder that Python knows as a namespace package is told to be missing, and composed from all the same", () => {
    const [cwd, library] = ["first", "second"].map((name) => {
      const place = mkdtempSync(join(tmpdir(), "hydraconf-tree-"));
      mkdirSync(join(place, "extra", "db"), { recursive: true });
      writeFileSync(join(place, "extra", "db", "pg.yaml"), `from: ${name}\n`);
      return place;
    });
    const extra = () => {
      const { repository } = openTree({
        plugins: [],
        files: DISK_ACCESS,
        configDir: "pkg://extra",
        configDirs: [],
        cwd: cwd ?? "",
        env: { PYTHONPATH: library },
      });
      const primary = repository.sources.find(({ provider }) => provider === PRIMARY_PROVIDER);
      const origin = primary?.load("db/pg")?.origin;
      return {
        isAvailable: primary?.available(),
        isGroup: primary?.isGroup("db"),
        text: origin?.kind === "file" ? origin.source.text : undefined,
      };
    };
    expect(extra()).toEqual({ isAvailable: false, isGroup: true, text: "from: first\n" });
    // A package proper is found before any namespace, wherever it lies.
    writeFileSync(join(library ?? "", "extra", "__init__.py"), "");
    expect(extra()).toEqual({ isAvailable: true, isGroup: true, text: "from: second\n" });
  });
});

describe("hydra searchpath", () => {
  let cwd = "";

  beforeAll(() => {
    cwd = mkdtempSync(join(tmpdir(), "hydraconf-searchpath-"));
    for (const [path, text] of Object.entries({
      "conf/plain.yaml": "defaults: [db: a, _self_]\n",
      "conf/extended.yaml": "defaults: [db: b, _self_]\nhydra: {searchpath: ['file://extra']}\n",
      "conf/by_env.yaml": "hydra: {searchpath: ['file://${oc.env:WHERE}']}\n",
      "conf/by_key.yaml":
        "where: extra\ndefaults: [db: b, _self_]\nhydra: {searchpath: ['file://${where}']}\n",
      "conf/bad.yaml": "hydra: {searchpath: extra}\n",
      "conf/unset.yaml": "defaults: [db: a, _self_]\nhydra: {searchpath: '???'}\n",
      "conf/inner.yaml": "defaults: [nested, _self_]\n",
      "conf/inner_unset.yaml": "defaults: [nested_unset, _self_]\nx: 1\n",
      "conf/nested_unset.yaml": "hydra: {searchpath: '???'}\n",
      "conf/nested.yaml": "hydra: {searchpath: []}\n",
      "conf/db/a.yaml": "from: conf\n",
      "extra/db/a.yaml": "from: extra\n",
      "extra/db/b.yaml": "from: extra\n",
    })) {
      mkdirSync(join(cwd, path, ".."), { recursive: true });
      writeFileSync(join(cwd, path), text);
    }
  });

  afterAll(() => rmSync(cwd, { recursive: true, force: true }));

  const compose = (configName: string, ...overrides: string[]) =>
    createEngine({ cwd, env: { WHERE: "nowhere" } }).compose({
      configDir: "conf",
      configName,
      overrides,
    });

  describe("hydra.searchpath", () => {
    it("of the primary config comes after its own directory", () => {
      expect(compose("extended").get("db.from")).toBe("extra");
      expect(compose("extended", "db=a").get("db.from")).toBe("conf");
    });

    // Ours (docs/compatibility.md): Hydra remembers that it was not there before.
    it("of the command line may hold the primary config", () => {
      expect(compose("db/b", "hydra.searchpath=[file://extra]").get("db.from")).toBe("extra");
    });

    it("of the command line replaces it", () => {
      expect(compose("plain", "hydra.searchpath=[file://extra]", "db=b").get("db.from")).toBe(
        "extra",
      );
      const error = refusal(() => compose("extended", "hydra.searchpath=[]"));
      expect(error.message.split("\n")[0]).toBe("In 'extended': Could not find 'db/b'");
    });

    it("is as good as not there where it is missing in the primary config, and no list in an override", () => {
      const { details } = refusal(() => compose("unset", "db=b"));
      expect(details.key).toBe("db/b");
      for (const missing of ["???", "'???'"])
        expect(refusal(() => compose("extended", `hydra.searchpath=${missing}`)).message).toBe(
          "hydra.searchpath must be a list of strings. Got: ???",
        );
    });

    it("of a primary config that is named from the root is not looked at", () => {
      expect(refusal(() => compose("/extended")).details.key).toBe("db/b");
    });

    it("cannot be swept over", () => {
      const error = refusal(() =>
        compose("plain", "hydra.searchpath=[file://extra],[file://more]"),
      );
      expect(error.message).toBe(
        "hydra.searchpath must be a list of strings. Got: the sweep [file://extra],[file://more]",
      );
    });

    it("counts only in its plain form", () => {
      const error = refusal(() => compose("plain", "++hydra.searchpath=[file://extra]", "db=b"));
      expect(error.code).toBe("compose.missing_option");
    });

    it("may be interpolated, and warns about what is not there", () => {
      expect(compose("by_key").get("db.from")).toBe("extra");
      const { composition } = compose("by_env");
      expect(composition.warnings).toMatchObject([
        {
          code: "unavailable_source",
          message: "provider=hydra.searchpath in main, path=nowhere is not available.",
        },
      ]);
      const given = compose("plain", "hydra.searchpath=[file://gone]").composition;
      expect(given.warnings.map(({ message }) => message)).toEqual([
        "provider=hydra.searchpath in command-line, path=gone is not available.",
      ]);
    });

    it("is recorded in the order of the search", () => {
      const { composition } = compose("extended");
      expect(
        composition.repository.sources.map(({ scheme, provider }) => `${scheme} ${provider}`),
      ).toEqual([
        "pkg hydra",
        "file main",
        "pkg hydra-colorlog",
        "file hydra.searchpath in main",
        "structured schema",
      ]);
    });

    it("names sources of a kind that is known", () => {
      const error = refusal(() => compose("plain", "hydra.searchpath=[file://extra,git://extra]"));
      expect(error.message).toBe(
        "No config source registered for schema git, supported types : [file, pkg, structured]",
      );
      expect(error.details.available).toEqual(["file", "pkg", "structured"]);
      expect(pointedAt(error)).toBe("hydra.searchpath=[file://extra,git://extra]");
    });

    it.each(["structured://", "structured://base"])("takes no second config store: %s", (entry) => {
      const error = refusal(() => compose("plain", `hydra.searchpath=['${entry}']`));
      expect(error.message).toBe(
        `${entry} cannot be added: the config store is already on the search path, after all other sources`,
      );
      expect(error.details.hint).toBe("remove structured:// from hydra.searchpath");
      expect(error.details.available).toBeUndefined();
      expect(pointedAt(error)).toBe(`hydra.searchpath=['${entry}']`);
    });

    it("must be a list of strings, in the primary config", () => {
      expect(refusal(() => compose("bad")).message).toBe(
        "hydra.searchpath must be a list of strings. Got: extra",
      );
      expect(refusal(() => compose("plain", "hydra.searchpath=[1]")).message).toBe(
        "hydra.searchpath must be a list of strings. Got: [1]",
      );
      expect(refusal(() => compose("plain", "hydra.searchpath=extra")).message).toBe(
        "hydra.searchpath must be a list of strings. Got: extra",
      );
      expect(compose("inner_unset").get("x")).toBe(1);
      expect(refusal(() => compose("inner")).message).toBe(
        "In 'nested': Overriding hydra.searchpath is only supported from the primary config",
      );
    });
  });
});
