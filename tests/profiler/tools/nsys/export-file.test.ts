import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import sqlite from "node-sqlite3-wasm";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import { withExport } from "../../../../src/profiler/tools/nsys/read/database.ts";
import { readNsysExport } from "../../../../src/profiler/tools/nsys/read/read-export.ts";
import { range, temporary, writeExport } from "./exports.ts";

afterEach(() => vi.unstubAllEnvs());

describe("the file of an export", () => {
  it("stays untouched, and nothing is written beside it, so that its place may be read-only", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const folder = dirname(path);
    chmodSync(path, 0o444);
    chmodSync(folder, 0o555);
    const before = [statSync(folder).mtimeMs, statSync(path).mtimeMs];
    expect(readNsysExport(path).processes).toHaveLength(1);
    expect([statSync(folder).mtimeMs, statSync(path).mtimeMs]).toEqual(before);
    expect(readdirSync(folder)).toEqual(["run.sqlite"]);
  });

  it("is read without a temporary file, so that whatever ends the reading leaves none", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const place = temporary();
    vi.stubEnv("TMPDIR", place);
    const seen = withExport(path, ({ rows }) => {
      const [row] = rows("NVTX_EVENTS", { start: "start" });
      return { row, files: readdirSync(place) };
    });
    expect(seen).toEqual({ row: { start: range.start }, files: [] });
    vi.stubEnv("TMPDIR", join(place, "missing"));
    expect(() => withExport(path, () => {})).toThrow("Cannot create a temporary directory");
  });

  it("may be far larger than what is held of it", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const database = new sqlite.Database(path);
    database.exec("CREATE TABLE SAMPLING_CALLCHAINS (data BLOB)");
    for (let megabytes = 0; megabytes < 100; megabytes += 20)
      database.run("INSERT INTO SAMPLING_CALLCHAINS VALUES (zeroblob(20000000))");
    database.close();
    expect(statSync(path).size).toBeGreaterThan(100e6);
    readNsysExport(path);
    const before = process.memoryUsage().rss;
    expect(readNsysExport(path).processes).toHaveLength(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(30e6);
  });

  it.each([1.5, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300])(
    "may have %d where nsys has integers: other programs write such",
    (odd) => {
      const all = { start: odd, end: odd, globalTid: odd, domainId: odd, textId: odd };
      const tables = {
        NVTX_EVENTS: [{ ...range, ...all }],
        ThreadNames: [{ globalTid: odd, nameId: odd }],
        StringIds: [{ id: 1, value: "name" }],
        TARGET_INFO_SESSION_START_TIME: [{ utcEpochNs: odd }],
        ANALYSIS_DETAILS: [{ duration: odd }],
      };
      const { originNs, processes } = readNsysExport(writeExport(tables));
      expect(typeof originNs).toBe("bigint");
      for (const { startNs, endNs } of processes)
        expect([startNs, endNs].every(Number.isFinite)).toBe(true);
    },
  );

  it("may have damaged numbers of processes", () => {
    const rows = [-1n, -(2n ** 63n), 2n ** 63n - 1n].map((globalTid) => ({ ...range, globalTid }));
    for (const { pid } of readNsysExport(writeExport({ NVTX_EVENTS: rows })).processes)
      expect(pid).toBeGreaterThanOrEqual(0);
  });

  it("says nothing to a terminal that stands in it", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const bytes = readFileSync(path);
    const statement = bytes.indexOf('CREATE TABLE "NVTX_EVENTS"');
    bytes.write("\u001b", statement + 'CREATE TABLE "NVTX_EVENTS" '.length);
    writeFileSync(path, bytes);
    expect(() => readNsysExport(path)).toThrow('unrecognized token: "\\u{1b}"');
  });

  it("that another program set to write-ahead logging is told how to be set back", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const bytes = readFileSync(path);
    bytes.set([2, 2], 18);
    writeFileSync(path, bytes);
    try {
      readNsysExport(path);
      expect.unreachable();
    } catch (error) {
      if (!isCodedError(error)) throw error;
      expect(error.message).toContain("write-ahead logging (WAL)");
      expect(error.details.hint).toContain("PRAGMA journal_mode=DELETE");
    }
  });

  it("that nobody finished says so", () => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    const begun = Buffer.from("d9d505f920a163d7", "hex");
    writeFileSync(`${path}-journal`, begun);
    const { processes, notes } = readNsysExport(path);
    expect(processes).toHaveLength(1);
    expect(notes).toEqual([expect.stringContaining(`${path}-journal is next to the export`)]);
  });

  it.each([
    ["is empty", ""],
    ["begins with zeros", Buffer.alloc(512)],
  ])("is finished where the journal beside it %s, as SQLite can leave it", (_, journal) => {
    const path = writeExport({ NVTX_EVENTS: [range] });
    writeFileSync(`${path}-journal`, journal);
    expect(readNsysExport(path).notes).toEqual([]);
  });

  it.each([
    ["is missing", () => join(temporary(), "absent.sqlite")],
    ["is empty", () => fileOf("")],
    ["is something else", () => fileOf("QDSTRM and what follows")],
    [
      "is cut short",
      () => {
        const path = writeExport({ NVTX_EVENTS: Array.from({ length: 5000 }, () => range) });
        truncateSync(path, 20_000);
        return path;
      },
    ],
    [
      "is a database of something else",
      () => {
        const path = join(temporary(), "other.sqlite");
        const database = new sqlite.Database(path);
        database.exec("CREATE TABLE books (title TEXT)");
        database.close();
        return path;
      },
    ],
  ])("that %s is an error that says how to make one", (_, make) => {
    const path = make();
    let error: unknown;
    try {
      readNsysExport(path);
    } catch (caught) {
      error = caught;
    }
    if (!isCodedError(error)) throw error;
    expect(error.code).toBe("nsys.invalid");
    expect(error.message).toContain(path);
    expect(error.details.hint).toContain("nsys export --type sqlite");
  });
});

function fileOf(text: string): string {
  const path = join(temporary(), "file.sqlite");
  writeFileSync(path, text);
  return path;
}
