import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, test } from "vitest";
import { memoryAccess } from "../../../../src/engine/compose/sources/memory-files.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { compose } from "../../../../src/portable-engine.ts";
import { runs } from "../../../runs.ts";
import { diskDirectory } from "../disk-sources.ts";
import { refusal } from "../in-memory.ts";

const search = { cwd: "/work", env: {} };
const open = (files: Readonly<Record<string, string>>, path: string) => {
  const source = memoryAccess(files).sources(search).get("file");
  if (source === undefined) throw new Error("there are no directories");
  return source({ provider: "main", path, cwd: "/work" });
};

const folder = (files: Readonly<Record<string, string>>): string => {
  const place = mkdtempSync(join(tmpdir(), "hydraconf-memory-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
};

const attempt = <T>(work: () => T): T | string => {
  try {
    return work();
  } catch (error) {
    if (isConfigError(error)) return error.code;
    throw error;
  }
};

describe("files in memory", () => {
  it("are found, listed and grouped as files on a disk", () => {
    const part = fc.constantFrom("a", "b", "v1.0", "__pycache__", "c.d");
    const name = fc.constantFrom("x.yaml", "y.yaml", "z.yml", "w.json", "v1.0.yaml", "__init__.py");
    const path = fc
      .tuple(fc.array(part, { maxLength: 2 }), name)
      .map(([parts, last]) => [...parts, last].join("/"));
    const asked = ["", "a", "a/b", "b", "v1.0", "a/../b", "./a", "c.d", "nowhere", ".."];
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 8 }), (paths) => {
        const files = Object.fromEntries(paths.map((one) => [`conf/${one}`, `path: ${one}\n`]));
        const place = folder({ ...files, "other/o.yaml": "" });
        const disk = diskDirectory({ provider: "main", path: "conf", cwd: place });
        const inMemory = Object.entries(files).map(([one, text]) => [`work/${one}`, text]);
        const memory = open({ ...Object.fromEntries(inMemory), "work/other/o.yaml": "" }, "conf");
        expect(memory.available()).toBe(disk.available());
        for (const group of asked) {
          expect(memory.isGroup(group), group).toBe(disk.isGroup(group));
          for (const kind of ["group", "config"] as const) {
            const listed = (source: typeof disk) =>
              attempt(() => [...source.list(group, kind)].sort());
            if (disk.isGroup(group)) expect(listed(memory), group).toEqual(listed(disk));
          }
          for (const one of ["x", "y.yaml", "v1.0", "z", "w"]) {
            const config = `${group}/${one}`;
            const loaded = (source: typeof disk) =>
              attempt(() => {
                const found = source.load(config);
                return found && { node: toObject(found.node), source: found.source };
              });
            expect(loaded(memory), config).toEqual(loaded(disk));
            expect(memory.similarFile?.(config), config).toBe(disk.similarFile?.(config));
          }
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it("are named relative to the working directory", () => {
    const nameOf = (path: string, cwd: string) => {
      const source = memoryAccess({ "/project/conf/a.yaml": "" })
        .sources({ cwd, env: {} })
        .get("file");
      const origin = source?.({ provider: "main", path, cwd }).load("a")?.origin;
      return origin?.kind === "file" ? origin.source.name : undefined;
    };
    expect(nameOf("conf", "/project")).toBe("conf/a.yaml");
    expect(nameOf("/project/conf", "/")).toBe("project/conf/a.yaml");
    expect(nameOf("/project/conf", "/elsewhere")).toBe("/project/conf/a.yaml");
  });
});

describe("hints", () => {
  const hintFor = (files: Readonly<Record<string, string>>, configDir: string, configName = "a") =>
    refusal(() => compose({ files, configDir, configName })).details.hint;

  test("a file is taken apart into its directory and its name", () => {
    expect(hintFor({ "conf/train.yaml": "" }, "conf/train.yaml")).toBe(
      'this is a file: configDir is its directory, configName its name (configDir: "/conf", configName: "train")',
    );
  });

  test("directories with configs are named, the nearest first", () => {
    const files = { "x/y/a.yaml": "", "cfg/a.yaml": "", "docs/a.md": "", "b.yaml": "" };
    expect(hintFor(files, "conf")).toBe(
      "configDir is the config directory; YAML files are in: cfg, x/y",
    );
    expect(hintFor({}, "conf")).toBe("configDir is the config directory");
  });

  test("a file whose ending makes it no config is named", () => {
    expect(hintFor({ "conf/a.yml": "", "conf/b.yaml": "" }, "conf")).toMatch(
      /^\/conf\/a\.yml is there, but configs are \.yaml files: rename it/,
    );
  });
});

test("folders of Python packages are found, and npm packages there are none", () => {
  const files = {
    "app/conf/__init__.py": "",
    "app/conf/a.yaml": "x: 1",
    "node_modules/n/a.yaml": "",
  };
  const composed = (configDir: string) => compose({ files, configDir, configName: "a" }).toObject();
  expect(composed("pkg://app.conf")).toEqual({ x: 1 });
  expect(() => composed("pkg://n")).toThrow("Primary config module 'n' not found.");
});
