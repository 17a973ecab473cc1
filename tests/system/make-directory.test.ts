import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { makeDirectory } from "../../src/system/make-directory.ts";
import { listFiles } from "../repo/files.ts";

const fresh = () => mkdtempSync(join(tmpdir(), "hydraconf-directory-"));

describe("makeDirectory", () => {
  test("makes those above it, and again without a complaint", () => {
    const path = join(fresh(), "a/b c/ü");
    expect([makeDirectory(path), makeDirectory(path)]).toEqual([true, false]);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test("takes a relative path, and one with `.` and `..` in it", () => {
    const folder = fresh();
    makeDirectory(join(folder, "a"));
    makeDirectory(`${folder}/a/../b/./c/`);
    expect(existsSync(join(folder, "b", "c"))).toBe(true);
  });

  test("says which file is in the way", () => {
    const folder = fresh();
    writeFileSync(join(folder, "file"), "");
    expect(() => makeDirectory(join(folder, "file"))).toThrow(/EEXIST/);
    expect(() => makeDirectory(join(folder, "file", "a", "b"))).toThrow(/ENOTDIR/);
  });

  // Node's own recursive mkdir never returns here.
  test.runIf(existsSync("/proc/self"))("gives up where a parent that is there takes none", () => {
    expect(() => makeDirectory("/proc/x")).toThrow(
      "ENOENT: no such file or directory, mkdir '/proc/x'",
    );
    expect(() => makeDirectory("/proc/x/y/z")).toThrow("mkdir '/proc/x'");
  });

  test("is what everything in src/ uses", () => {
    const users = listFiles(fileURLToPath(new URL("../../src", import.meta.url)), ".ts").filter(
      (file) => /\bmkdir(Sync)?\([^;]*recursive/.test(readFileSync(file, "utf8")),
    );
    expect(users.map((file) => basename(file))).toEqual([]);
  });
});
