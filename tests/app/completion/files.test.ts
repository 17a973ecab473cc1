import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { matchFiles } from "../../../src/app/completion/files.ts";

test("a directory that is not there has no files, and those around it are not offered for it", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-files-"));
  writeFileSync(join(cwd, "a.yaml"), "");
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(cwd, "sub/b.yaml"), "");
  expect(matchFiles("x=./nope/", cwd)).toEqual([]);
  expect(matchFiles("x=./sub/", cwd)).toEqual(["x=./sub/b.yaml"]);
  expect(matchFiles("x=./a", cwd)).toEqual(["x=./a.yaml"]);
  expect(matchFiles("x=./nope/../", cwd)).toEqual([]);
  expect(matchFiles("x=./sub/../a", cwd)).toEqual(["x=./sub/../a.yaml"]);
});

test("a name alone is in no directory, as in Hydra", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-files-"));
  writeFileSync(join(cwd, ".hidden"), "");
  expect(matchFiles("x=.h", cwd)).toEqual([]);
  expect(matchFiles("x=.", cwd)).toEqual(["x=./.hidden"]);
});
