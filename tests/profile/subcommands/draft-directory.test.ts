import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { draftDirectory } from "../../../src/profile/subcommands/draft-directory.ts";

const all = mkdtempSync(join(tmpdir(), "draft-directory-"));
afterAll(() => rmSync(all, { recursive: true, force: true }));
let place = all;
beforeEach(() => {
  place = mkdtempSync(join(all, "case-"));
});

const write = (path: string): void => {
  mkdirSync(join(path, "ncu"));
  writeFileSync(join(path, "ncu/raw.csv"), "table");
  writeFileSync(join(path, "report.md"), "report");
};

it("a directory that is new has its name once it is whole", () => {
  const directory = join(place, "a/b/out");
  const { path, finish } = draftDirectory(directory);
  write(path);
  expect(existsSync(directory)).toBe(false);
  finish();
  expect(readdirSync(join(place, "a/b"))).toEqual(["out"]);
  expect(readdirSync(directory).sort()).toEqual(["ncu", "report.md"]);
});

it("an abandoned one is removed, with the parent directories created for it", () => {
  mkdirSync(join(place, "a"));
  const { path, discard } = draftDirectory(join(place, "a/b/out"));
  write(path);
  discard();
  expect(readdirSync(join(place, "a"))).toEqual([]);
});

it("what others have written above it meanwhile stays", () => {
  const { path, discard } = draftDirectory(join(place, "a/b/out"));
  write(path);
  writeFileSync(join(place, "a/other"), "");
  discard();
  expect(readdirSync(join(place, "a"))).toEqual(["other"]);
});

it("one that is there keeps what it has, and gets all of the rest at once", () => {
  mkdirSync(join(place, "ncu"));
  writeFileSync(join(place, "ncu/notes"), "mine");
  const given = draftDirectory(place);
  write(given.path);
  expect(readdirSync(place).sort()).toEqual([basename(given.path), "ncu"]);
  given.discard();
  expect(readdirSync(place)).toEqual(["ncu"]);
  const { path, finish } = draftDirectory(place);
  write(path);
  finish();
  expect(readdirSync(place).sort()).toEqual(["ncu", "report.md"]);
  expect(readdirSync(join(place, "ncu")).sort()).toEqual(["notes", "raw.csv"]);
  expect(readFileSync(join(place, "ncu/notes"), "utf8")).toBe("mine");
});

it("one that is new may get another name, where its own was taken meanwhile", () => {
  const directory = join(place, "out");
  const { path, finish } = draftDirectory(directory);
  write(path);
  mkdirSync(directory);
  writeFileSync(join(directory, "other"), "");
  expect(() => finish()).toThrow("ENOTEMPTY");
  finish(`${directory}-2`);
  expect(readdirSync(place).sort()).toEqual(["out", "out-2"]);
  expect(readdirSync(directory)).toEqual(["other"]);
});

it("a dangling link is refused, and nothing is created", () => {
  symlinkSync("gone", join(place, "out"));
  expect(() => draftDirectory(join(place, "out"))).toThrow(
    "a link to 'gone', which does not exist",
  );
  expect(readdirSync(place)).toEqual(["out"]);
});
