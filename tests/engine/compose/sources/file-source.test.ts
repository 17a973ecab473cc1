import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { pythonPath } from "../../../../src/engine/compose/sources/file-source.ts";
import { toObject } from "../../../../src/engine/values/plain-objects.ts";
import { diskDirectory, diskPackage } from "../disk-sources.ts";
import { refusal } from "../in-memory.ts";

let cwd = "";

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "hydraconf-files-"));
  mkdirSync(join(cwd, "conf/db/engine"), { recursive: true });
  mkdirSync(join(cwd, "conf/db/dir.yaml"));
  writeFileSync(join(cwd, "conf/db/mysql.yaml"), "port: 3306\n");
  writeFileSync(join(cwd, "conf/db/a.b.yaml"), "n: 1\n");
  writeFileSync(join(cwd, "conf/db/old.yml"), "n: 1\n");
  writeFileSync(join(cwd, "conf/db/notes.txt"), "");
  writeFileSync(join(cwd, "conf/number.yaml"), "42\n");
  writeFileSync(join(cwd, "conf/word.yaml"), "hello\n");
  writeFileSync(join(cwd, "conf/empty.yaml"), "");
  mkdirSync(join(cwd, "node_modules/@me/configs/conf"), { recursive: true });
  writeFileSync(join(cwd, "node_modules/@me/configs/package.json"), '{"name":"@me/configs"}');
  writeFileSync(join(cwd, "node_modules/@me/configs/conf/base.yaml"), "from: package\n");
});

afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const files = () => diskDirectory({ provider: "main", path: "conf", cwd });

describe("a directory of config files", () => {
  it("loads files, named as a user would type them", () => {
    const mysql = files().load("db/mysql");
    expect(mysql && toObject(mysql.node)).toEqual({ port: 3306 });
    expect(mysql?.origin).toMatchObject({ kind: "file", source: { name: "conf/db/mysql.yaml" } });
  });

  it("looks at the header of a file before it reads what follows, as Hydra does", () => {
    writeFileSync(join(cwd, "conf/both.yaml"), "# @package a b\nx: [1\n");
    expect(refusal(() => files().load("both")).message).toBe(
      "Too many components in '@package a b'",
    );
  });

  it("names files outside of the working directory in full", () => {
    const source = diskDirectory({ provider: "main", path: "../conf", cwd: join(cwd, "lib") });
    expect(source.load("db/mysql")?.origin).toMatchObject({
      source: { name: join(cwd, "conf/db/mysql.yaml") },
    });
  });

  it("reads texts that are laid over files, which may be new or count as absent", () => {
    const overlay = new Map<string, string | null>([
      [join(cwd, "conf/db/mysql.yaml"), "port: 1\n"],
      [join(cwd, "conf/db/new.yaml"), "port: 2\n"],
      [join(cwd, "conf/db/a.b.yaml"), null],
    ]);
    const laid = diskDirectory({ provider: "main", path: "conf", cwd, reading: { overlay } });
    const portOf = (path: string) => {
      const loaded = laid.load(path);
      return loaded && toObject(loaded.node);
    };
    expect(portOf("db/mysql")).toEqual({ port: 1 });
    expect(portOf("db/new")).toEqual({ port: 2 });
    expect(portOf("db/a.b")).toBeUndefined();
    expect([...laid.list("db", "config")].sort()).toEqual(["mysql", "new"]);
    expect(laid.load("empty")).toBeDefined();
  });

  it("does not see directories, other extensions, or what is not there", () => {
    for (const path of ["db/dir", "db/old", "db/old.yml", "db/notes", "db/nope"])
      expect(files().load(path)).toBeUndefined();
  });

  it("refuses what cannot be read or is not UTF-8, and says where", () => {
    symlinkSync("loop.yaml", join(cwd, "conf/loop.yaml"));
    writeFileSync(
      join(cwd, "conf/latin1.yaml"),
      Buffer.from("a: 1\nb: caf\xe9\nc: \xff\n", "latin1"),
    );
    writeFileSync(join(cwd, "conf/cut.yaml"), Buffer.from("a: é", "utf8").subarray(0, -1));
    const [loop, latin1, cut] = ["loop", "latin1", "cut"].map((path) =>
      refusal(() => files().load(path)),
    );
    expect(loop?.message).toMatch(
      /^Cannot read .*conf\/loop\.yaml: its symbolic links form a loop$/,
    );
    expect(latin1?.message).toBe(
      `Cannot read ${join(cwd, "conf/latin1.yaml")}: line 2 is not UTF-8`,
    );
    expect(cut?.message).toMatch(/line 1 is not UTF-8$/);
  });

  it("tells what stands there instead of a file, and opens none of it", () => {
    execFileSync("mkfifo", [join(cwd, "conf/piped.yaml")]);
    symlinkSync("/dev/zero", join(cwd, "conf/zeros.yaml"));
    const [piped, zeros] = ["piped", "zeros"].map((path) => refusal(() => files().load(path)));
    expect(piped).toMatchObject({
      code: "compose.invalid_config",
      message: `Cannot read ${join(cwd, "conf/piped.yaml")}: it is a pipe, not a file`,
    });
    expect(zeros?.message).toMatch(/conf\/zeros\.yaml: it is a device, not a file$/);
  });

  it("lists no option that is no file: a pipe, a link to nothing or to itself", () => {
    const group = join(cwd, "conf/odd");
    mkdirSync(group);
    execFileSync("mkfifo", [join(group, "piped.yaml")]);
    symlinkSync("nowhere.yaml", join(group, "dangling.yaml"));
    symlinkSync("itself.yaml", join(group, "itself.yaml"));
    symlinkSync("../db/mysql.yaml", join(group, "linked.yaml"));
    expect(files().list("odd", "config")).toEqual(["linked"]);
  });

  it("takes U+FFFD and a byte order mark for what they are", () => {
    writeFileSync(join(cwd, "conf/replacement.yaml"), "\uFEFFa: \uFFFD\n");
    const loaded = files().load("replacement");
    expect(loaded && toObject(loaded.node)).toEqual({ a: "\uFFFD" });
  });

  it("has no config of a name that no file can have", () => {
    expect(files().load("x".repeat(300))).toBeUndefined();
    expect(files().isGroup("x".repeat(300))).toBe(false);
  });

  it("lists options without their extension, dots and all", () => {
    expect([...files().list("db", "config")].sort()).toEqual(["a.b", "mysql"]);
    mkdirSync(join(cwd, "conf/db/__pycache__"));
    expect([...files().list("db", "group")].sort()).toEqual(["dir.yaml", "engine"]);
  });

  it("lists a folder with a dot in its name and a config of that name once more, without its last part", () => {
    mkdirSync(join(cwd, "conf/llm/v1.0"), { recursive: true });
    mkdirSync(join(cwd, "conf/llm/v2"));
    for (const name of ["v1.0", "v2", "__init__.py"])
      writeFileSync(join(cwd, `conf/llm/${name}.yaml`), "");
    writeFileSync(join(cwd, "conf/llm/__init__.py"), "");
    expect([...files().list("llm", "config")].sort()).toEqual(["__init__.py", "v1", "v1.0", "v2"]);
    expect([...files().list("llm", "group")].sort()).toEqual(["v1.0", "v2"]);
  });

  it("takes an empty file for {}, a lone word for a key, and no lone number", () => {
    const value = (path: string) => {
      const loaded = files().load(path);
      return loaded && toObject(loaded.node);
    };
    expect(value("empty")).toEqual({});
    expect(value("word")).toEqual({ hello: null });
    const error = refusal(() => files().load("number"));
    expect(error.code).toBe("compose.invalid_config");
    expect(error.message).toBe("Invalid loaded object type: int");
  });

  it("knows whether it is there", () => {
    expect(files().available()).toBe(true);
    expect(diskDirectory({ provider: "main", path: "nope", cwd }).available()).toBe(false);
  });
});

describe("a folder of an npm package", () => {
  it("is found from the working directory", () => {
    const source = diskPackage({ provider: "p", path: "@me/configs/conf", cwd });
    expect(source.available()).toBe(true);
    const base = source.load("base");
    expect(base && toObject(base.node)).toEqual({ from: "package" });
    expect(base?.source).toEqual({ scheme: "pkg", path: "@me/configs/conf", provider: "p" });
  });

  it("may be the package itself, with a scope or without one", () => {
    mkdirSync(join(cwd, "node_modules/plain/conf"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/plain/conf/base.yaml"), "from: plain\n");
    const from = (path: string, config: string) => {
      const loaded = diskPackage({ provider: "p", path, cwd }).load(config);
      return loaded && toObject(loaded.node);
    };
    expect(from("plain/conf", "base")).toEqual({ from: "plain" });
    expect(from("plain", "conf/base")).toEqual({ from: "plain" });
    expect(from("@me/configs", "conf/base")).toEqual({ from: "package" });
    expect(from("plain/conf", "other")).toBeUndefined();
  });

  it("is found from any of the roots, the first one first", () => {
    const other = join(cwd, "other");
    mkdirSync(join(other, "node_modules/plain"), { recursive: true });
    writeFileSync(join(other, "node_modules/plain/base.yaml"), "from: other\n");
    const from = (base: string, path: string) => {
      const loaded = diskPackage({ provider: "p", path, cwd }, { base }).load("base");
      return loaded && toObject(loaded.node);
    };
    expect(from(other, "plain")).toEqual({ from: "other" });
    expect(from(other, "@me/configs/conf")).toEqual({ from: "package" });
  });

  it("is unavailable where the package is not installed", () => {
    for (const path of ["not-installed/conf", "", "a.python.module", "./conf", "../conf"])
      expect(diskPackage({ provider: "p", path, cwd }).available()).toBe(false);
  });
});

describe("a folder of a Python package", () => {
  beforeAll(() => {
    mkdirSync(join(cwd, "lib/models/conf/db"), { recursive: true });
    writeFileSync(join(cwd, "lib/models/conf/__init__.py"), "");
    writeFileSync(join(cwd, "lib/models/conf/db/base.yaml"), "from: python\n");
    mkdirSync(join(cwd, "lib/models/data"), { recursive: true });
  });
  const inLib = (path: string) =>
    diskPackage({ provider: "p", path, cwd }, { packageRoots: [join(cwd, "lib")] });

  it("is found by its dots, or slashes, in a directory that Python would look in", () => {
    for (const path of ["models.conf", "models/conf", "models.conf.", "models/conf/"]) {
      const source = inLib(path);
      expect(source.available()).toBe(true);
      const base = source.load("db/base");
      expect(base && toObject(base.node)).toEqual({ from: "python" });
      expect(base?.source).toEqual({ scheme: "pkg", path: "models.conf", provider: "p" });
    }
  });

  it("is named with dots wherever it is told of, also where it is not found", () => {
    expect(inLib("models/nope/").path).toBe("models.nope");
    expect(inLib("models.nope.").path).toBe("models.nope");
  });

  it("needs its __init__.py, as in Hydra", () => {
    for (const path of ["models.data", "models", "models.nope", "models..conf", ".models.conf"])
      expect(inLib(path).available()).toBe(false);
  });

  it("has the directories of PYTHONPATH to lie in", () => {
    const PYTHONPATH = ["lib", "", join(cwd, "more")].join(delimiter);
    expect(pythonPath({ PYTHONPATH }, cwd)).toEqual([join(cwd, "lib"), join(cwd, "more")]);
    expect(pythonPath({}, cwd)).toEqual([]);
  });
});
