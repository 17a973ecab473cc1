import fs, { mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { execa } from "execa";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  appendLinesDurableSync,
  draftBeside,
  overwriteFileSync,
  removeDeadDrafts,
  writeFileAtomic,
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../../../src/foundation/system/atomic-write.ts";
import { thisProcess } from "../../../src/foundation/system/process-identity.ts";
import { bundled } from "../../bundled.ts";

describe("atomic write", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });

  const newFolder = () => fs.mkdtempSync(join(tmpdir(), "hydraconf-atomic-"));

  /** What a machine that loses its power keeps, in the order in which it is told to. */
  function flushes(): readonly string[] {
    const told: string[] = [];
    const opened = new Map<number, string>();
    const { openSync, fsyncSync, renameSync } = fs;
    vi.spyOn(fs, "openSync").mockImplementation((path, ...rest) => {
      const descriptor = openSync(path, ...rest);
      opened.set(descriptor, String(path));
      return descriptor;
    });
    vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
      fsyncSync(descriptor);
      told.push(`flush ${opened.get(descriptor)}`);
    });
    vi.spyOn(fs, "renameSync").mockImplementation((from, to) => {
      renameSync(from, to);
      told.push(`rename ${String(from)}`);
    });
    syncBuiltinESMExports();
    return told;
  }

  test("a durable file is on the disk before its name is, and its name before the write returns", () => {
    const file = join(newFolder(), "file");
    const draft = `${file}.draft`;
    const told = flushes();
    writeFileDurableSync(file, "all of it", { draft });
    expect(told).toEqual([`flush ${draft}`, `rename ${draft}`, `flush ${dirname(file)}`]);
    expect(fs.readFileSync(file, "utf8")).toBe("all of it");
  });

  test("a file system that cannot flush directories still gets the file", () => {
    const file = join(newFolder(), "file");
    const { openSync } = fs;
    vi.spyOn(fs, "openSync").mockImplementation((path, ...rest) => {
      // As on Windows.
      if (path === dirname(file)) throw Object.assign(new Error("EPERM"), { code: "EPERM" });
      return openSync(path, ...rest);
    });
    syncBuiltinESMExports();
    writeFileDurableSync(file, "all of it");
    expect(fs.readdirSync(dirname(file))).toEqual([basename(file)]);
  });

  test("pieces are written by an fs whose writeFile takes no iterables, as Yarn's Plug'n'Play has it", async () => {
    const { writeFile } = fs.promises;
    vi.spyOn(fs.promises, "writeFile").mockImplementation(async (file, data, options) => {
      if (typeof data !== "string" && !ArrayBuffer.isView(data)) throw new TypeError("data");
      await writeFile(file, data, options);
    });
    syncBuiltinESMExports();
    const file = join(newFolder(), "file");
    await writeFileAtomic(file, ["one, ", "and ü, ", "and more"]);
    expect(fs.readFileSync(file, "utf8")).toBe("one, and ü, and more");
    expect(fs.readdirSync(dirname(file))).toEqual([basename(file)]);
  });

  test("of pieces that end in an error nothing is left", async () => {
    const file = join(newFolder(), "file");
    function* pieces(): Generator<string> {
      yield "one";
      throw new Error("no more");
    }
    await expect(writeFileAtomic(file, pieces())).rejects.toThrow("no more");
    expect(fs.readdirSync(dirname(file))).toEqual([]);
  });

  test("a disk that fails while the name is flushed is reported with the file", () => {
    const file = join(newFolder(), "file");
    const { fsyncSync } = fs;
    let calls = 0;
    vi.spyOn(fs, "fsyncSync").mockImplementation((descriptor) => {
      calls++;
      if (calls === 1) return fsyncSync(descriptor);
      const failure = { code: "EIO", syscall: "fsync" };
      throw Object.assign(new Error("EIO: i/o error, fsync"), failure);
    });
    syncBuiltinESMExports();
    expect(() => writeFileDurableSync(file, "all of it")).toThrow(
      `EIO: i/o error, fsync '${file}'`,
    );
  });

  test("appended lines are on the disk, and replace an incomplete last line", () => {
    const file = join(newFolder(), "file");
    fs.writeFileSync(file, "one\nha");
    const told = flushes();
    appendLinesDurableSync(file, "two\n");
    expect(told).toEqual([`flush ${file}`]);
    expect(fs.readFileSync(file, "utf8")).toBe("one\ntwo\n");
  });

  test("a file that is not there is not made by adding to it", () => {
    const file = join(newFolder(), "file");
    expect(() => appendLinesDurableSync(file, "one\n")).toThrow("ENOENT");
    expect(fs.readdirSync(dirname(file))).toEqual([]);
  });

  test("directories that are missing are made", async () => {
    const folder = newFolder();
    const at = (name: string) => join(folder, name);
    await writeFileAtomic(at("a/b/text"), "ü");
    await writeFileAtomic(at("c/bytes"), Buffer.from([0, 255]));
    writeFileAtomicSync(at("d/e/at-once"), "x");
    const bytesOf = (name: string) => [...fs.readFileSync(at(name))];
    expect(["a/b/text", "c/bytes", "d/e/at-once"].map(bytesOf)).toEqual([
      [0xc3, 0xbc],
      [0, 255],
      [0x78],
    ]);
  });

  test("a file is overwritten in place, whole and on the disk", () => {
    const file = join(newFolder(), "file");
    fs.writeFileSync(file, "a long state");
    const { ino } = fs.statSync(file);
    const told = flushes();
    overwriteFileSync(file, "short");
    expect([fs.readFileSync(file, "utf8"), fs.statSync(file).ino]).toEqual(["short", ino]);
    expect(told).toEqual([`flush ${file}`]);
  });

  test("what does not fit is taken back: the file has what it had", () => {
    const file = join(newFolder(), "file");
    fs.writeFileSync(file, "old state");
    const { writeSync } = fs;
    const full = new Error("ENOSPC: no space left on device, write");
    vi.spyOn(fs, "writeSync")
      .mockImplementationOnce((descriptor) => writeSync(descriptor, "new ", 0))
      .mockImplementationOnce(() => {
        throw Object.assign(full, { code: "ENOSPC", syscall: "write" });
      });
    syncBuiltinESMExports();
    expect(() => overwriteFileSync(file, "new state that is longer")).toThrow(
      `ENOSPC: no space left on device, write '${file}'`,
    );
    expect(fs.readFileSync(file, "utf8")).toBe("old state");
  });
});

describe("drafts", () => {
  const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-drafts-"));

  /** A draft that a process on this machine made, which is no more. */
  async function deadDraft(file: string): Promise<string> {
    const program = bundled(new URL("draft/name.ts", import.meta.url), "name");
    const { stdout } = await execa(process.execPath, [program, file]);
    return stdout;
  }

  test("a draft is next to its file, and its name has the writer's host and process", () => {
    const draft = draftBeside("/some/where/config.yaml");
    expect(dirname(draft)).toBe("/some/where");
    expect(basename(draft)).toMatch(/^\.[^/]+\.tmp$/);
    expect(draft).toContain(`${encodeURIComponent(hostname())}+${process.pid}+`);
    expect(draftBeside("/some/where/config.yaml")).not.toBe(draft);
  });

  test("drafts of dead processes are removed, those of living ones and other files are kept", async () => {
    const folder = newFolder();
    const own = draftBeside(join(folder, "a"));
    const others = ["kept.tmp", ".5e0f1c1e-6d3b-4f3a-9d55-0d7a8c1c9b1e.tmp", ".a+b.tmp"];
    for (const name of others) writeFileSync(join(folder, name), "");
    writeFileSync(own, "");
    writeFileSync(await deadDraft(join(folder, "a")), "half");
    expect(readdirSync(folder)).toHaveLength(others.length + 2);
    removeDeadDrafts(folder);
    expect(readdirSync(folder).sort()).toEqual([...others, basename(own)].sort());
  });

  test("of another host nobody can tell", async () => {
    const folder = newFolder();
    const dead = basename(await deadDraft(join(folder, "a")));
    const fields = dead.slice(1, -".tmp".length).split("+");
    const variant = (at: number, field: string) =>
      `.${fields.map((one, index) => (index === at ? field : one)).join("+")}.tmp`;
    const elsewhere = [variant(0, "node7"), variant(0, "a%2Bb")];
    for (const name of [dead, ...elsewhere]) writeFileSync(join(folder, name), "");
    removeDeadDrafts(folder);
    expect(readdirSync(folder).sort()).toEqual([...elsewhere].sort());
  });

  test("a draft of another boot is kept: it may be from another machine of the same name", () => {
    const folder = newFolder();
    const { birth } = thisProcess();
    const [boot = ""] = birth?.split(" ") ?? [];
    const own = basename(draftBeside(join(folder, "a")));
    const other = own.replace(boot, "0c0ffee0-0000-4000-8000-000000000000");
    writeFileSync(join(folder, other), "");
    removeDeadDrafts(folder);
    expect(readdirSync(folder)).toEqual([other]);
  });

  test("links to other places, and loops of links, are not followed", async () => {
    const [folder, elsewhere] = [newFolder(), newFolder()];
    writeFileSync(await deadDraft(join(elsewhere, "a")), "");
    for (const [name, target] of Object.entries({ data: elsewhere, latest: ".", current: "." }))
      symlinkSync(target, join(folder, name));
    removeDeadDrafts(folder, { recursive: true });
    expect(readdirSync(elsewhere)).toHaveLength(1);
  });

  test("subdirectories are searched only on request; a missing directory has no drafts", async () => {
    const folder = newFolder();
    mkdirSync(join(folder, "deep/er"), { recursive: true });
    const below = join(folder, "deep/er/a");
    writeFileSync(await deadDraft(below), "");
    removeDeadDrafts(folder);
    expect(readdirSync(dirname(below))).toHaveLength(1);
    removeDeadDrafts(folder, { recursive: true });
    expect(readdirSync(dirname(below))).toHaveLength(0);
    removeDeadDrafts(join(folder, "nowhere"));
  });
});
