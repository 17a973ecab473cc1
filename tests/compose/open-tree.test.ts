import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openTree, PRIMARY_PROVIDER } from "../../src/compose/open-tree.ts";

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
      configDir: `pkg://${name}.conf`,
      configDirs: [],
      cwd: cwd ?? "",
      ...(base !== undefined && { base }),
      env: { PYTHONPATH: library },
    });
    const primary = repository.sources.find(({ provider }) => provider === PRIMARY_PROVIDER);
    return primary?.available() === true && repository.load("config") !== undefined;
  };
  expect(["beside", "here", "library", "nowhere"].map(isFound)).toEqual([true, true, true, false]);
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
