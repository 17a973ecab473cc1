import fs, {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { execa } from "execa";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  makeInnerFolder,
  makeRecordFolder,
  recordRights,
  shareFile,
} from "../../../src/app/record/rights.ts";
import { builtProgram, workplace } from "../sweep/program/start.ts";

/** The rights of all files and folders below a directory, by path. */
function rightsIn(directory: string): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  const look = (path: string): void => {
    const status = statSync(path);
    found[relative(directory, path) || "."] = (status.mode & 0o777).toString(8);
    if (status.isDirectory()) for (const name of readdirSync(path)) look(join(path, name));
  };
  look(directory);
  return found;
}

/** Runs a sweep with an umask, and another part of it on resuming. */
async function swept(umask: string, ...more: readonly string[]) {
  const place = workplace();
  const run = (...args: readonly string[]) =>
    execa(
      "sh",
      ["-c", `umask ${umask}; exec "$@"`, "sh", process.execPath, builtProgram(), ...args],
      {
        cwd: place.cwd,
        stdin: "ignore",
      },
    );
  await run("-m", "x=1,2", "hydra.sweeper.max_batch_size=1", ...more);
  await run("sweep", "collect", "s");
  return rightsIn(join(place.cwd, "s"));
}

const isOfRecord = (name: string) => /^\.sweep(\/|$)/.test(name);
const isLogOfJob = (name: string) => /^\.sweep\/jobs\/\d+\.log$/.test(name);
const isFolder = (name: string) =>
  /^(\.|\.sweep|\.sweep\/(jobs|started|slots)|\d+|\d+\/\.hydra)$/.test(name);

describe.each([["basic"], ["local"]])("the rights of a sweep (%s)", (launcher) => {
  const chosen = `hydra/launcher=${launcher}`;

  test.each([
    ["022", "755", "644"],
    ["077", "700", "600"],
    ["002", "775", "664"],
  ])(
    "under umask %s: the record is the user's alone, and results follow the umask",
    async (umask, folder, file) => {
      const rights = await swept(umask, chosen);
      for (const [name, mode] of Object.entries(rights)) {
        const isOwn = isOfRecord(name) && !isLogOfJob(name);
        const expected = isFolder(name) ? (isOwn ? "700" : folder) : isOwn ? "600" : file;
        const isTable = /^\.sweep\/sweep\.\w+$/.test(name);
        expect([name, mode]).toEqual([name, isTable ? file : expected]);
      }
      expect(Object.keys(rights)).toEqual(
        expect.arrayContaining([
          ".sweep/manifest.json",
          ".sweep/jobs/1.json",
          ".sweep/started/1.json",
        ]),
      );
    },
  );

  test.each(["022", "077"])(
    "with hydra.sweep.mode the sweep's directory has it, as in Hydra, and others get its rights to the rest (umask %s)",
    async (umask) => {
      const rights = await swept(umask, chosen, "+hydra.sweep.mode=770");
      expect(rights["."]).toBe("770");
      for (const name of [".sweep", ".sweep/jobs", ".sweep/started"])
        expect([name, rights[name]]).toEqual([name, "770"]);
      for (const [name, mode] of Object.entries(rights)) {
        const bits = Number.parseInt(mode, 8);
        // The name of a count says all: the file is empty.
        if (isOfRecord(name) && !isFolder(name) && !/\.jsonl\.\d+$/.test(name))
          expect([name, (bits & 0o660).toString(8)]).toEqual([name, "660"]);
        if (/^\d+$/.test(name)) expect([name, (bits & 0o770).toString(8)]).toEqual([name, "770"]);
        if (/^sweep\.\w+$/.test(name))
          expect([name, (bits & 0o660).toString(8)]).toEqual([name, "660"]);
      }
    },
  );
});

test("hydra.sweep.mode takes what Hydra takes: octal digits", async () => {
  const place = workplace();
  for (const [mode, expected] of [
    ["0o750", "750"],
    ["'0755'", "755"],
    ["711", "711"],
  ] as const) {
    const { exitCode, stderr } = await place.start([
      "-m",
      "x=1",
      `+hydra.sweep.mode=${mode}`,
      `hydra.sweep.dir=d${expected}`,
    ]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect((statSync(join(place.cwd, `d${expected}`)).mode & 0o777).toString(8)).toBe(expected);
  }
  const wrong = await place.start(["-m", "x=1", "+hydra.sweep.mode=rwx"]);
  expect([wrong.exitCode, wrong.stderr]).toEqual([
    1,
    expect.stringContaining("hydra.sweep.mode cannot be 'rwx'"),
  ]);
});

describe("a file system", () => {
  afterEach(() => {
    vi.restoreAllMocks();
    syncBuiltinESMExports();
  });
  const chmodThatThrows = (error: Error) => {
    vi.spyOn(fs, "chmodSync").mockImplementation(() => {
      throw error;
    });
    syncBuiltinESMExports();
  };
  const newFolder = () => join(mkdtempSync(join(tmpdir(), "hydraconf-rights-")), ".sweep");

  test("gives the record its rights, and what is in it those of the record", () => {
    const folder = newFolder();
    makeRecordFolder(folder, undefined);
    expect([statSync(folder).mode & 0o777, recordRights(folder)]).toEqual([
      0o700,
      { folder: 0o700, file: 0o600 },
    ]);
    makeRecordFolder(folder, 0o754);
    expect([statSync(folder).mode & 0o777, recordRights(folder)]).toEqual([
      0o754,
      { folder: 0o754, file: 0o644 },
    ]);
    makeInnerFolder(folder, join(folder, "jobs"));
    expect(statSync(join(folder, "jobs")).mode & 0o777).toBe(0o754);
    // What is there stays as it is.
    chmodSync(join(folder, "jobs"), 0o700);
    makeInnerFolder(folder, join(folder, "jobs"));
    expect(statSync(join(folder, "jobs")).mode & 0o777).toBe(0o700);
    const log = join(folder, "log");
    writeFileSync(log, "");
    chmodSync(log, 0o711);
    shareFile(folder, log);
    expect(statSync(log).mode & 0o777).toBe(0o755);
    expect(recordRights(join(folder, "none"))).toEqual({ folder: 0o700, file: 0o600 });
  });

  test("without rights, or of another user, holds a record all the same", () => {
    const folder = newFolder();
    chmodThatThrows(Object.assign(new Error("EPERM"), { code: "EPERM", syscall: "chmod" }));
    makeRecordFolder(folder, 0o770);
    expect(existsSync(folder)).toBe(true);
    chmodThatThrows(new TypeError("a fault of ours"));
    expect(() => makeRecordFolder(folder, 0o770)).toThrow("a fault of ours");
  });
});
