import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { filesAt, matchFiles } from "../../../../src/app/cli/completion/file-candidates.ts";

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

test("the value begins behind the last equals sign, and may be a path from the root", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-files-"));
  writeFileSync(join(cwd, "a.yaml"), "");
  expect(matchFiles("x=y=./a", cwd)).toEqual(["x=y=./a.yaml"]);
  expect(matchFiles(`x=${cwd}/`, "/")).toEqual([`x=${cwd}/a.yaml`]);
  expect(matchFiles(`x=${cwd}/a`, "/")).toEqual([`x=${cwd}/a.yaml`]);
  expect(matchFiles("./a", cwd)).toBeUndefined();
  expect(matchFiles("x=a", cwd)).toBeUndefined();
});

test("a link to a directory is one, also where the path to it climbs out of another link", () => {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-files-"));
  mkdirSync(join(cwd, "there/deep/sub"), { recursive: true });
  symlinkSync("there/deep", join(cwd, "link"));
  const { path, isDirectory } = { path: "link", isDirectory: true };
  expect(filesAt("l", cwd)).toEqual([{ path, isDirectory }]);
  expect(filesAt("link/../d", cwd)).toEqual([{ path: "link/../deep", isDirectory: true }]);
});
