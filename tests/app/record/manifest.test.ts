import { spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { createJobList } from "../../../src/app/record/job-list.ts";
import { readJobState } from "../../../src/app/record/job-state.ts";
import {
  jobFile,
  jobListFile,
  manifestFile,
  startedFolder,
  sweepFolder,
} from "../../../src/app/record/layout.ts";
import {
  currentJobs,
  manifestReader,
  readFacts,
  readListName,
  readManifest,
  readManifestJob,
  writeManifest,
} from "../../../src/app/record/manifest.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { sealedLinesText } from "../../../src/foundation/system/sealed-json.ts";
import { bundled } from "../../bundled.ts";
import { canMount, fill, withDisk } from "../cli/mounts.ts";
import { changeManifest, factsIn, jobOf, writeSealed, writeSweep } from "./written.ts";

function emptyFolder() {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-manifest-"));
  const folder = sweepFolder(directory);
  mkdirSync(folder);
  return { folder, facts: factsIn(directory) };
}

const numbersIn = (folder: string) => readManifest(folder).jobs.map(({ number }) => number);

describe("the manifest of a sweep", () => {
  test("is read as it was written, as a whole, without the jobs, and one job alone", () => {
    const { facts, folder } = emptyFolder();
    const jobs = [0, 1, 10, 11].map((number) => jobOf(number, { overrides: ['s="a\nb"'] }));
    writeSweep(folder, facts, jobs);
    expect(readManifest(folder)).toEqual({ ...facts, jobs });
    expect(readFacts(folder)).toEqual(facts);
    for (const job of jobs) expect(readManifestJob(folder, job.number)).toEqual(job);
    for (const none of [2, 100]) expect(readManifestJob(folder, none)).toBeUndefined();
  });

  test("of another version is refused", () => {
    const { folder } = emptyFolder();
    for (const write of [
      writeSealed,
      (file: string, value: object) => writeFileSync(file, JSON.stringify(value)),
    ]) {
      write(manifestFile(folder), { version: 3 });
      expect(() => readManifest(folder)).toThrow(/has version 3; this program reads version 4/);
    }
  });

  test("gets jobs added to it, which a reader then sees", () => {
    const { facts, folder } = emptyFolder();
    const list = createJobList(folder, [jobOf(0)], []);
    writeManifest(folder, facts, list.name);
    const read = manifestReader(folder);
    const first = read();
    expect(read()).toBe(first);
    list.add([jobOf(1), jobOf(2)]);
    expect(read().jobs.map(({ number }) => number)).toEqual([0, 1, 2]);
    expect(readManifestJob(folder, 2)).toEqual(jobOf(2));
  });

  test("has what a sweep that goes on has not come to behind what it has", () => {
    const { facts, folder } = emptyFolder();
    const list = createJobList(
      folder,
      [jobOf(3)],
      [jobOf(1), jobOf(2, { fingerprint: "old" }), jobOf(4)],
    );
    writeManifest(folder, facts, list.name);
    expect(numbersIn(folder)).toEqual([3, 1, 2, 4]);
    list.add([jobOf(2, { fingerprint: "new" }), jobOf(5)]);
    expect(numbersIn(folder)).toEqual([3, 2, 5, 1, 4]);
    expect(readManifestJob(folder, 2)).toEqual(jobOf(2, { fingerprint: "new" }));
    expect(readManifestJob(folder, 1)).toEqual(jobOf(1));
    list.add([jobOf(4, { left_out: true })]);
    expect(currentJobs(readManifest(folder)).map(({ number }) => number)).toEqual([3, 2, 5, 1]);
    expect(readManifest(folder).jobs).toEqual([
      jobOf(3),
      jobOf(2, { fingerprint: "new" }),
      jobOf(5),
      jobOf(4, { left_out: true }),
      jobOf(1),
    ]);
  });

  test("does not have a job whose line is incomplete: it was never started", () => {
    const { facts, folder } = emptyFolder();
    const list = createJobList(folder, [jobOf(0)], []);
    writeManifest(folder, facts, list.name);
    appendFileSync(join(folder, list.name), JSON.stringify(jobOf(1)).slice(0, 40));
    expect(numbersIn(folder)).toEqual([0]);
    expect(readManifestJob(folder, 1)).toBeUndefined();
    // A line that lacks only its end is no line either.
    appendFileSync(join(folder, list.name), JSON.stringify(jobOf(1)).slice(40));
    expect(readManifestJob(folder, 1)).toBeUndefined();
    expect(numbersIn(folder)).toEqual([0]);
  });

  test("whose jobs are gone says which file is", () => {
    const { facts, folder } = emptyFolder();
    const list = createJobList(folder, [jobOf(0)], []);
    writeManifest(folder, facts, list.name);
    rmSync(join(folder, list.name));
    expect(() => readManifest(folder)).toThrow(`${join(folder, list.name)}: it is missing`);
    rmSync(join(folder, `${list.name}.1`));
    expect(() => readManifest(folder)).toThrow(
      /Cannot read the sweep in '.*': .*there is no such file/,
    );
    expect(readFacts(folder)).toEqual(facts);
  });

  test("whose list a dying machine left with something else in it says which file that is", () => {
    const { facts, folder } = emptyFolder();
    const list = createJobList(folder, [jobOf(0)], []);
    writeManifest(folder, facts, list.name);
    appendFileSync(join(folder, list.name), `${"\0".repeat(10)}\n{"number":1,\0\n`);
    const refused = expect.objectContaining({
      details: expect.objectContaining({
        code: "app.sweep_damaged",
        message: expect.stringContaining(join(folder, list.name)),
      }),
    });
    expect(() => readManifest(folder)).toThrow(refused);
    for (const number of [0, 1]) expect(() => readManifestJob(folder, number)).toThrow(refused);
  });

  test("adds no jobs to a list that was removed: they would be its only ones", () => {
    const { folder } = emptyFolder();
    const list = createJobList(folder, [jobOf(0)], []);
    rmSync(join(folder, list.name));
    expect(() => list.add([jobOf(1)])).toThrow(join(folder, list.name));
    expect(readdirSync(folder)).toEqual([`${list.name}.1`]);
  });

  test.skipIf(!canMount("lists of jobs on full disks"))(
    "has all jobs of a batch or none, and the file is named, where the disk is full",
    () =>
      withDisk("size=64k", (disk) => {
        const facts = factsIn(disk);
        const list = createJobList(disk, [jobOf(0)], []);
        writeManifest(disk, facts, list.name);
        fill(disk);
        const large = [jobOf(1), jobOf(2, { overrides: ["x".repeat(8192)] })];
        expect(() => list.add(large)).toThrow(
          `ENOSPC: no space left on device, write '${join(disk, list.name)}'`,
        );
        expect(numbersIn(disk)).toEqual([0]);
        for (const name of readdirSync(disk))
          if (name.startsWith(".filler")) rmSync(join(disk, name));
        list.add(large);
        expect(numbersIn(disk)).toEqual([0, 1, 2]);
      }),
  );

  test("is always read whole while another process rewrites it", async () => {
    const { facts, folder } = emptyFolder();
    writeSweep(folder, facts);
    const program = bundled(new URL("rewriting/main.ts", import.meta.url), "rewriting");
    const args = [program, folder, JSON.stringify(facts), String(ROUNDS)];
    const writer = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
    const over = new Promise<number | null>((done) => writer.once("exit", done));
    let isOver = false;
    void over.then(() => {
      isOver = true;
    });
    const seen = new Set<number>();
    while (!isOver) {
      for (let looks = 0; looks < 50; looks++) {
        seen.add(readManifest(folder).jobs.length);
        expect(readManifestJob(folder, 0)).toEqual(jobOf(0));
      }
      await new Promise((done) => setImmediate(done));
    }
    expect(await over).toBe(0);
    expect(seen.size).toBeGreaterThan(2);
    expect(readdirSync(folder)).toHaveLength(3);
  });
});

describe("where no sweep can be read", () => {
  const errorIn = (directory: string) => {
    try {
      readManifest(sweepFolder(directory));
    } catch (error) {
      if (isConfigError(error))
        return { code: error.code, message: error.message, hint: error.details.hint };
    }
    return expect.unreachable("there is none");
  };

  test("the error names what is missing, and the sweep that a directory inside it belongs to", () => {
    const { facts, folder } = emptyFolder();
    const directory = dirname(folder);
    const none = `There is no sweep in '${directory}': ${manifestFile(folder)} does not exist`;
    const hint = "give a sweep directory (hydra.sweep.dir)";
    expect(errorIn(directory)).toEqual({ code: "app.sweep_record", message: none, hint });
    expect(errorIn("/nowhere/s")).toEqual({
      code: "app.sweep_record",
      message: "There is no sweep in '/nowhere/s': the directory does not exist",
      hint,
    });
    writeSweep(folder, facts);
    const inside = `it is inside the sweep directory ${directory}`;
    mkdirSync(join(directory, "3/.hydra"), { recursive: true });
    for (const name of ["3", "3/.hydra", ".sweep", "gone/4"])
      expect(errorIn(join(directory, name)).hint).toBe(inside);
    // A file in place of a directory.
    writeFileSync(join(directory, "file"), "");
    expect(errorIn(join(directory, "file")).message).toMatch(/^There is no sweep in/);
  });

  test("a manifest that is gone although jobs have started is damage", () => {
    const { folder } = emptyFolder();
    mkdirSync(startedFolder(folder));
    expect(errorIn(dirname(folder))).toEqual({
      code: "app.sweep_damaged",
      message: `The record of the sweep is damaged: ${manifestFile(folder)}: it is missing although jobs have started`,
      hint: "restore the file from a copy; the results of its jobs are in their own directories",
    });
  });

  test("a manifest that may not be read says why, and who may", () => {
    const { folder } = emptyFolder();
    mkdirSync(manifestFile(folder));
    expect(errorIn(dirname(folder))).toMatchObject({
      code: "app.sweep_record",
      message: expect.stringContaining(
        `Cannot read the sweep in '${dirname(folder)}': ${manifestFile(folder)}: `,
      ),
      hint: "only the user who started a sweep may see and resume it",
    });
  });
});

const ROUNDS = 50;

describe("a damaged record", () => {
  const damage = (change: (manifest: Record<string, unknown>) => void) => {
    const { facts, folder } = emptyFolder();
    writeSweep(folder, facts);
    changeManifest(folder, change);
    return folder;
  };

  test.each([
    ["overrides", null],
    ["overrides", ["a=1", 2]],
    ["program", { name: "prog", command: null, argv: [{}] }],
    ["cwd", 1],
    ["now", "yesterday"],
    ["fingerprint", undefined],
    ["holds_secrets", "yes"],
    ["job_list", []],
  ])("whose manifest has as its %s %j is told, with its file", (name, value) => {
    const folder = damage((manifest) => {
      manifest[name] = value;
    });
    const told = `is damaged: ${manifestFile(folder)}: '${name}' is missing or invalid`;
    for (const read of [readManifest, readFacts, readListName])
      expect(() => read(folder)).toThrow(told);
    expect(() => readManifestJob(folder, 0)).toThrow(told);
  });

  test.each([
    '{"number":0,"overrides":null}',
    '{"number":0,"overrides":[1],"task_overrides":[],"output_dir":"","fingerprint":""}',
    '{"number":-1}',
    '{"what":"?"}',
  ])("whose list of jobs has the line %s is told, with its file", (line) => {
    const { facts, folder } = emptyFolder();
    writeSweep(folder, facts, []);
    const list = jobListFile(folder, readListName(folder));
    writeFileSync(list, sealedLinesText(list, [JSON.parse(line)]));
    expect(() => readManifest(folder)).toThrow(`${list}: '`);
  });

  test.each([
    { number: 0, status: "completed", attempts: [], return_value: 1 },
    { number: 1, status: "completed", attempts: [], return_value: 1 },
    { number: 0, status: "great", attempts: [], return_value: 1 },
    { number: 0, status: "failed", attempts: [{ error: ["no", "text"] }], return_value: null },
  ])("of a job is told, with its file, but where it is whole: %j", (state) => {
    const { folder } = emptyFolder();
    mkdirSync(join(folder, "jobs"));
    writeSealed(jobFile(folder, 0), state);
    const isWhole =
      state.number === 0 && state.attempts.length === 0 && state.status === "completed";
    if (isWhole) expect(readJobState(folder, 0)).toEqual(state);
    else {
      const problem = state.number === 0 ? "it is no state of a job" : "it is that of job #1";
      expect(() => readJobState(folder, 0)).toThrow(`damaged: ${jobFile(folder, 0)}: ${problem}`);
    }
  });
});
