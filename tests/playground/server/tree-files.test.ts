import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { readTree } from "../../../src/playground/server/tree-files.ts";

function tree(texts: Readonly<Record<string, string>>): string {
  const place = mkdtempSync(join(tmpdir(), "playground-"));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(place, path)), { recursive: true });
    writeFileSync(join(place, path), text);
  }
  return place;
}

const pathsOf = (place: string) => readTree(place).files.map(({ path }) => path);

test("a large file leaves room for the files after it", () => {
  const place = tree({ "a.yaml": "a: 1\n", "b.yaml": "", "c.yaml": "", "d.yaml": "d: 1\n" });
  truncateSync(join(place, "b.yaml"), 9_000_000);
  truncateSync(join(place, "c.yaml"), 9_000_000);
  expect(pathsOf(place)).toEqual(["a.yaml", "b.yaml", "d.yaml"]);
  expect(readTree(place).notes).toEqual([
    expect.stringMatching(/^1 file is not shown .*: c\.yaml$/),
  ]);
});

test("a file that is no text takes no room", () => {
  const place = tree({ "a.yaml": "", "b.yaml": "", "c.yaml": "c: 1\n" });
  writeFileSync(join(place, "a.yaml"), Buffer.alloc(9_000_000, 0xfc));
  truncateSync(join(place, "b.yaml"), 9_000_000);
  expect(pathsOf(place)).toEqual(["b.yaml", "c.yaml"]);
});

test("folders with outputs of runs are left out and told, groups of their names are not", () => {
  const place = tree({
    "outputs/csv.yaml": "",
    "a/multirun/grid.yaml": "",
    "b/outputs/2026-01-01/10-00-00/.hydra/config.yaml": "",
    "b/outputs/2026-01-01/10-00-00/result.yaml": "",
    "c/multirun/2026-01-01/10-00-00/0/.hydra/config.yaml": "",
    "c/multirun/2026-01-01/10-00-00/multirun.yaml": "",
    "multirun/2026-01-01/10-00-00/.sweep/manifest.json": "",
    "multirun/2026-01-01/10-00-00/multirun.yaml": "",
  });
  expect(pathsOf(place)).toEqual(["a/multirun/grid.yaml", "outputs/csv.yaml"]);
  expect(readTree(place).notes).toEqual([
    "3 folders are not shown (outputs of runs): b/outputs, c/multirun, multirun",
  ]);
});
