import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import {
  appendLinesDurableSync,
  overwriteFileSync,
  writeFileAtomic,
  writeFileAtomicSync,
  writeFileDurableSync,
} from "../../src/system/atomic-write.ts";

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
  expect(() => writeFileDurableSync(file, "all of it")).toThrow(`EIO: i/o error, fsync '${file}'`);
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
