import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterAll, describe, expect, it, test } from "vitest";
import { ConfigError } from "../../../src/engine/values/errors.ts";
import {
  directoryAt,
  errorCode,
  fileProblem,
  fileRemedy,
  isSystemError,
  makeDirectory,
  namedFileProblem,
  readablePath,
  realPlace,
} from "../../../src/foundation/system/files.ts";
import { listFiles } from "../../repo/files.ts";

const thrownBy = (action: () => unknown): unknown => {
  try {
    return action();
  } catch (error) {
    return error;
  }
};

describe("errors of the system", () => {
  it("have a code and a call", () => {
    const error = thrownBy(() => readFileSync("/no/such/file"));
    expect(errorCode(error)).toBe("ENOENT");
    expect(isSystemError(error)).toBe(true);
  });

  it("are no others", () => {
    const refused = thrownBy(() => Buffer.alloc(-1));
    expect(errorCode(refused)).toBe("ERR_OUT_OF_RANGE");
    expect(isSystemError(refused)).toBe(false);
    const ours = new ConfigError({ code: "app.usage", message: "no" });
    expect([errorCode(ours), isSystemError(ours)]).toEqual(["app.usage", false]);
    for (const none of [new Error("none"), { code: "ENOENT" }, "ENOENT", undefined, null])
      expect([errorCode(none), isSystemError(none)]).toEqual([undefined, false]);
  });
});

describe("file problem", () => {
  const failing = (code: string) => Object.assign(new Error(`${code}: raw words`), { code });

  it.each([
    ["ENOENT", "there is no such file or directory"],
    ["EACCES", "permission denied"],
    ["EPERM", "permission denied"],
    ["EISDIR", "it is a directory"],
    ["ERR_STRING_TOO_LONG", "it is larger than 512 MB, the most that can be read at once"],
    ["ELOOP", "its symbolic links form a loop"],
    ["EIO", "its disk or network file system failed (input/output error)"],
    ["ESTALE", "its network file system has lost it (stale file handle)"],
    ["ENAMETOOLONG", "the name is too long"],
    ["ENOTDIR", "part of its path is a file, not a directory"],
    ["ENOTSUP", "its file system cannot do that"],
    ["EWHATEVER", "EWHATEVER: raw words"],
  ])("says %s as '%s'", (code, words) => {
    expect(fileProblem(failing(code))).toBe(words);
  });

  it("knows the system's errors", () => {
    const problem = (path: string) => {
      try {
        readFileSync(path);
      } catch (error) {
        return fileProblem(error);
      }
      return "read";
    };
    expect(problem("/")).toBe("it is a directory");
    expect(problem("/no/such/file")).toBe("there is no such file or directory");
    expect(fileProblem("a text")).toBe("a text");
    expect(fileProblem(new Error("Invalid string length"))).toContain("larger than 512 MB");
  });
});

describe("a problem of a file that no message names", () => {
  const failing = (code: string, path?: string) =>
    Object.assign(new Error(`${code}: raw words`), {
      code,
      syscall: "open",
      ...(path && { path }),
    });

  it("names the file, and what to do where that is not clear", () => {
    expect(namedFileProblem(failing("EIO", "/a"))).toBe(
      "'/a': its disk or network file system failed (input/output error)",
    );
    expect(namedFileProblem(failing("EIO"))).not.toContain("'");
    expect(namedFileProblem(failing("EWHATEVER", "/a"))).toBe("EWHATEVER: raw words");
    for (const code of ["EIO", "ELOOP", "ESTALE", "EMFILE"])
      expect(fileRemedy(failing(code))).toMatch(/\w/);
    expect(fileRemedy(failing("ENOENT"))).toBeUndefined();
  });

  it("is no error of ours or of a program with the same code", () => {
    const ours = Object.assign(new Error("not found: x"), { code: "ENOENT" });
    expect(namedFileProblem(ours)).toBe("there is no such file or directory");
    expect(namedFileProblem(new Error("a fault"))).toBe("a fault");
  });
});

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
    const users = listFiles(fileURLToPath(new URL("../../../src", import.meta.url)), ".ts").filter(
      (file) => /\bmkdir(Sync)?\([^;]*recursive/.test(readFileSync(file, "utf8")),
    );
    expect(users.map((file) => basename(file))).toEqual([]);
  });
});

describe("real place", () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-real-place-")));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "run"));
  symlinkSync("run", join(root, "latest"));
  symlinkSync("nowhere", join(root, "broken"));

  test.each([
    ["latest", "run"],
    ["latest/new/again", "run/new/again"],
    ["run/again", "run/again"],
    ["broken/again", "broken/again"],
  ])("%s is at %s", (path, place) => {
    expect(realPlace(join(root, path))).toBe(join(root, place));
  });

  test("the root of all is at itself", () => {
    expect(realPlace("/")).toBe("/");
  });
});

describe("readable path", () => {
  test.each([
    ["/a/b/run.json", "/a/b", "run.json"],
    ["/a/b/c/run.json", "/a/b", "c/run.json"],
    ["/a/b", "/a/b", "."],
    ["/a/b/..c/run.json", "/a/b", "..c/run.json"],
    ["/a/run.json", "/a/b", "/a/run.json"],
    ["/tmp/run.json", "/home/me", "/tmp/run.json"],
  ])("%s in %s is %s", (file, cwd, shown) => {
    expect(readablePath(file, cwd)).toBe(shown);
  });
});

it("a base is a directory, or a file in it, by path or by URL", () => {
  const directory = fresh();
  const file = join(directory, "a file.js");
  writeFileSync(file, "");
  for (const base of [directory, file, pathToFileURL(file).href, pathToFileURL(directory).href])
    expect(directoryAt(base), base).toBe(directory);
  expect(directoryAt(`${pathToFileURL(directory).href}/`)).toBe(`${directory}/`);
  // Of a bundle that was made elsewhere.
  expect(directoryAt("file:///no/such/place/train.js")).toBe("/no/such/place");
  expect(directoryAt("/no/such/place")).toBe("/no/such/place");
});
