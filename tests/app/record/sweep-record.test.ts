import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import type { SweepJob } from "../../../src/app/job/plan-job.ts";
import type { Resumption } from "../../../src/app/job/process/invocation.ts";
import {
  begun,
  ended,
  type JobState,
  readJobState,
  writeJobState,
} from "../../../src/app/record/job-state.ts";
import {
  isCancelled,
  launcherOf,
  noteCancellation,
} from "../../../src/app/record/launcher-claim.ts";
import {
  jobLog,
  jobsFolder,
  launcherFile,
  launcherFolder,
  manifestFile,
  startedFolder,
  sweepFolder,
} from "../../../src/app/record/layout.ts";
import { type ManifestJob, readFacts, readManifest } from "../../../src/app/record/manifest.ts";
import {
  isRecorded,
  openRecord,
  type RecordRequest,
} from "../../../src/app/record/sweep-record.ts";
import { runs } from "../../runs.ts";
import { factsIn, jobOf, writeSweep } from "./written.ts";

const FINGERPRINT = "as recorded";

/** A job of a sweep whose composition is not kept. */
const planned = (number: number, override: string, more: Partial<SweepJob> = {}): SweepJob =>
  ({
    number,
    id: String(number),
    overrides: [override],
    swept: [override],
    typed: [override, "hydra.verbose=true"],
    fingerprint: FINGERPRINT,
    outputDir: `/s/${number}`,
    ...more,
  }) as SweepJob;

const listed = (number: number, override: string): ManifestJob =>
  jobOf(number, { task_overrides: [override], fingerprint: FINGERPRINT });

const RESUMED: Resumption = { missing: true, failed: false, acceptChanges: false };

const newDirectory = () => mkdtempSync(join(tmpdir(), "hydraconf-sweep-record-"));

const open = (directory: string, request: Partial<RecordRequest> = {}) =>
  openRecord({ sweep: factsIn(directory), isSearch: false, retries: 0, ...request });

/** A directory with the record of a sweep, which nobody runs. */
function recorded(jobs: readonly ManifestJob[], states: readonly JobState[] = []): string {
  const directory = newDirectory();
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  writeSweep(folder, factsIn(directory), jobs);
  for (const state of states) writeJobState(folder, state);
  return directory;
}

const itself: Ender = { by: "itself" };
const over = (number: number, endedBy: Ender, exitCode: number | null, starts = 1): JobState => {
  let state: JobState | undefined;
  for (let count = 0; count < starts; count++)
    state = ended(begun(number, state), { endedBy, exitCode });
  return state ?? begun(number, undefined);
};
const completed = (number: number) => over(number, itself, 0);
const failed = (number: number, starts = 1) => over(number, itself, 1, starts);
const pruned = (number: number) => over(number, { by: "pruner", step: 1 }, null);
const stopped = (number: number) => over(number, { by: "cancel" }, null);

describe("the record of a new sweep", () => {
  test("is written once jobs are admitted, with each job as it is planned, and claimed until then", () => {
    const directory = newDirectory();
    const folder = sweepFolder(directory);
    const calls: string[] = [];
    const record = open(directory, { onAdmitted: () => calls.push("admitted") });
    expect([record.folder, record.isResumed, "mode" in record]).toEqual([folder, false, false]);
    const jobs = [planned(0, "x=1", { id: "first" }), planned(1, "x=2")];
    expect(jobs.map((_, place) => record.numberOf(place, ["x=9"]))).toEqual([0, 1]);
    expect(record.due(jobs)).toBe(jobs);
    expect([existsSync(folder), isRecorded(directory)]).toEqual([false, false]);

    record.admit(jobs.slice(0, 1), true);
    expect([isRecorded(directory), launcherOf(folder)?.pid]).toEqual([true, process.pid]);
    expect(readFacts(folder)).toEqual({ ...factsIn(directory), more_to_come: true });
    record.admit(jobs.slice(1), false);
    expect(calls).toEqual(["admitted"]);
    const common = { fingerprint: FINGERPRINT };
    expect(readManifest(folder)).toEqual({
      ...factsIn(directory),
      more_to_come: false,
      jobs: [
        {
          ...common,
          number: 0,
          id: "first",
          overrides: ["x=1", "hydra.verbose=true"],
          task_overrides: ["x=1"],
          output_dir: "/s/0",
        },
        {
          ...common,
          number: 1,
          overrides: ["x=2", "hydra.verbose=true"],
          task_overrides: ["x=2"],
          output_dir: "/s/1",
        },
      ],
    });
    record.release();
    expect(launcherOf(folder)).toBeUndefined();
  });

  test("has nothing of an earlier sweep in its directory, nor of its cancellation", () => {
    const directory = recorded([listed(0, "x=1")], [completed(0)]);
    const folder = sweepFolder(directory);
    noteCancellation(folder);
    const old = [startedFolder(folder), launcherFolder(folder, "slurm")];
    for (const one of old) {
      mkdirSync(one, { recursive: true });
      writeFileSync(join(one, "0.json"), "{}");
    }
    const record = open(directory);
    expect(readJobState(folder, 0)).toMatchObject({ status: "completed" });
    record.admit([planned(0, "x=1")], false);
    expect([...old, jobsFolder(folder)].filter(existsSync)).toEqual([]);
    expect([readJobState(folder, 0), isCancelled(folder)]).toEqual([undefined, false]);
    record.release();
  });

  test("has the rights of hydra.sweep.mode in addition to the user's", () => {
    const directory = newDirectory();
    const record = open(directory, { mode: 0o050 });
    record.admit([planned(0, "x=1")], false);
    record.release();
    expect(record.mode).toBe(0o050);
    expect(statSync(record.folder).mode & 0o777).toBe(0o750);
    expect(statSync(manifestFile(record.folder)).mode & 0o777).toBe(0o640);
  });

  test("says of a job what its record says, with its log if it has one", () => {
    const directory = newDirectory();
    const record = open(directory);
    const job = planned(0, "x=1");
    record.admit([job], false);
    expect(record.resultOf(job)).toBeUndefined();
    writeJobState(record.folder, failed(0));
    const result = record.resultOf(job);
    expect(result).toMatchObject({ number: 0, status: "failed", error: { code: "app.job" } });
    expect(result).not.toHaveProperty("log");
    writeFileSync(jobLog(record.folder, 0), "");
    expect(record.resultOf(job)?.log).toBe(jobLog(record.folder, 0));
    // Nothing else ran it: this process knows how it ended.
    expect(record.endedSince(job)).toBeUndefined();
    record.release();
  });

  test("notes that failed jobs are tolerated", () => {
    const directory = newDirectory();
    const record = open(directory);
    record.admit([planned(0, "x=1")], false);
    record.tolerateFailures();
    expect(readFacts(record.folder).tolerates_failures).toBe(true);
    record.release();
  });
});

describe("the claim of a sweep's record", () => {
  test("is refused, and so is the sweep, while another process has it", () => {
    const directory = newDirectory();
    const first = open(directory);
    first.admit([planned(0, "x=1")], false);
    const held = expect.objectContaining({ code: "app.sweep_record" });
    expect(() => open(directory).admit([planned(0, "x=1")], false)).toThrow(held);
    const again = open(directory, { resumption: RESUMED });
    expect(() => again.due([planned(0, "x=1")])).toThrow(held);
    // What is only shown claims nothing.
    const plan = open(directory, { resumption: RESUMED, isPlan: true });
    expect(plan.due([planned(0, "x=1")])).toHaveLength(1);
    first.release();
    again.due([planned(0, "x=1")]);
    again.release();
  });

  test("that is lost ends this process's sweep; without one there is nothing to lose", () => {
    const directory = newDirectory();
    const record = open(directory);
    record.refuseIfLost();
    record.admit([planned(0, "x=1")], false);
    record.refuseIfLost();
    writeFileSync(launcherFile(record.folder), "{");
    expect(() => record.refuseIfLost()).toThrow(
      expect.objectContaining({
        code: "app.sweep_record",
        message: expect.stringContaining(launcherFile(record.folder)),
      }),
    );
  });

  test("that is handed over is not released by this process", () => {
    const directory = newDirectory();
    const record = open(directory);
    record.admit([planned(0, "x=1")], false);
    record.handOver(process.ppid);
    record.release();
    expect(launcherOf(record.folder)).toMatchObject({ pid: process.ppid, awaited: true });
  });
});

describe("the jobs of a resumed sweep", () => {
  const STATES = {
    "never started": undefined,
    running: begun(0, undefined),
    stopped: stopped(0),
    pruned: over(0, { by: "pruner", step: 3 }, null),
    completed: completed(0),
    failed: failed(0),
    "timed out": over(0, { by: "time_limit", limit_ms: 1 }, null),
  };
  const MISSING = ["never started", "running", "stopped"];
  const FAILED = ["failed", "timed out"];

  test.each([
    [{ missing: true, failed: false }, 0, MISSING],
    [{ missing: false, failed: true }, 0, FAILED],
    [{ missing: true, failed: true }, 0, [...MISSING, ...FAILED]],
    [{ missing: false, failed: false }, 0, []],
    // An earlier launcher ended before it could retry them.
    [{ missing: true, failed: false }, 1, [...MISSING, ...FAILED]],
    [{ missing: false, failed: false }, 1, []],
  ])("that are due for %o with %s retries", (asked, retries, expected) => {
    const due = Object.entries(STATES).filter(([, state]) => {
      const directory = recorded([listed(0, "x=1")], state === undefined ? [] : [state]);
      const record = open(directory, { resumption: { ...RESUMED, ...asked }, retries });
      const jobs = record.due([planned(record.numberOf(0, ["x=1"]), "x=1")]);
      record.release();
      return jobs.length === 1;
    });
    expect(due.map(([name]) => name)).toEqual(expected);
  });

  test("are retried as often as they may be, however often they started", () => {
    const directory = recorded([listed(0, "x=1")], [failed(0, 2)]);
    const dueWith = (retries: number) => {
      const record = open(directory, { resumption: RESUMED, retries });
      const jobs = record.due([planned(0, "x=1")]);
      record.release();
      return jobs.length;
    };
    expect([1, 2].map(dueWith)).toEqual([0, 1]);
  });

  test("run again if the sweeper counts their result as failed, and are recorded as that", () => {
    const directory = recorded([listed(0, "x=1"), listed(1, "x=2")], [completed(0), completed(1)]);
    const jobs = [planned(0, "x=1"), planned(1, "x=2")];
    const problemOf: RecordRequest["problemOf"] = ({ number }) =>
      number === 1 ? "no number" : undefined;
    const only = open(directory, { resumption: RESUMED, problemOf });
    expect(only.due(jobs)).toEqual([]);
    only.admit(jobs, false);
    only.release();
    expect(readJobState(only.folder, 1)?.status).toBe("completed");

    const record = open(directory, { resumption: { ...RESUMED, failed: true }, problemOf });
    expect(record.due(jobs).map(({ number }) => number)).toEqual([1]);
    record.admit(jobs, false);
    record.release();
    expect(readJobState(record.folder, 0)).toEqual(completedAs(record.folder, 0));
    expect(readJobState(record.folder, 1)).toMatchObject({
      status: "failed",
      attempts: [{ error: "no number", exit_code: 0 }],
    });
  });

  const completedAs = (folder: string, number: number) => {
    const state = readJobState(folder, number);
    expect(state?.status).toBe("completed");
    return state;
  };

  test("that another launcher's worker ran meanwhile have a result", () => {
    const directory = recorded(
      [listed(0, "x=1"), listed(1, "x=2"), listed(2, "x=3")],
      [begun(0, undefined), begun(1, undefined), completed(2)],
    );
    const jobs = [planned(0, "x=1"), planned(1, "x=2"), planned(2, "x=3")];
    const record = open(directory, { resumption: RESUMED });
    record.due(jobs);
    writeJobState(record.folder, completed(0));
    expect(jobs.map((job) => record.endedSince(job)?.status)).toEqual([
      "completed",
      undefined,
      undefined,
    ]);
    record.release();
  });

  test("whose config differs are refused unless that is accepted", () => {
    const directory = recorded([listed(0, "x=1")]);
    const other = planned(0, "x=1", { fingerprint: "another" });
    const record = open(directory, { resumption: RESUMED });
    expect(() => record.due([other])).toThrow(
      expect.objectContaining({
        code: "app.sweep_changed",
        message: expect.stringContaining("job #0 (x=1)"),
      }),
    );
    record.release();
    const accepting = open(directory, { resumption: { ...RESUMED, acceptChanges: true } });
    expect(accepting.due([other])).toEqual([other]);
    accepting.release();
  });

  test.each<[string, Partial<Resumption>, boolean, boolean]>([
    ["as they were", {}, false, false],
    ["as they were, of a search", {}, true, false],
    ["changed and accepted", { acceptChanges: true }, false, true],
    ["of another space", { changesSpace: true }, false, true],
    ["of a space that an earlier call changed in part", { changedSpaceInPart: true }, false, true],
    ["of a search whose failed jobs run again", { failed: true }, true, true],
    ["whose failed jobs run again, without a search", { failed: true }, false, false],
    ["of a search that judges anew", { judgesAnew: true }, true, true],
    ["that judge anew, without a search", { judgesAnew: true }, false, false],
  ])("%s: %o takes the place of others: search %s, %s", (_, more, isSearch, isTaken) => {
    const directory = recorded([listed(0, "x=1"), listed(4, "x=2")]);
    const record = open(directory, { resumption: { ...RESUMED, ...more }, isSearch });
    const number = () => record.numberOf(0, ["x=7"]);
    if (isTaken) expect(number()).toBe(5);
    else expect(number).toThrow(expect.objectContaining({ code: "app.sweep_changed" }));
    record.release();
  });

  test("of a search may differ once one of its jobs has run again", () => {
    const jobs = [listed(0, "x=1"), listed(1, "x=2")];
    for (const [starts, isTaken] of [
      [1, false],
      [2, true],
    ] as const) {
      const directory = recorded(jobs, [failed(0, starts)]);
      const record = open(directory, { resumption: RESUMED, isSearch: true });
      record.admit([planned(record.numberOf(0, ["x=1"]), "x=1")], true);
      if (isTaken) expect(record.numberOf(1, ["x=7"])).toBe(2);
      else expect(() => record.numberOf(1, ["x=7"])).toThrow("job #1");
      record.release();
    }
  });

  test.each([
    ["of a search", { isSearch: true, resumption: { ...RESUMED, missing: false, failed: true } }],
    [
      "of another space",
      { isSearch: false, resumption: { ...RESUMED, missing: false, changesSpace: true } },
    ],
  ])("that it did not have before run, %s, whatever is asked for", (_, request) => {
    const directory = recorded([listed(0, "x=1")]);
    const record = open(directory, request);
    const numbers = [record.numberOf(0, ["x=7"]), record.numberOf(1, ["x=1"])];
    expect(numbers).toEqual([1, 0]);
    const jobs = [planned(1, "x=7"), planned(0, "x=1")];
    expect(record.due(jobs).map(({ number }) => number)).toEqual([1]);
    record.release();
  });

  test("keep their numbers by their overrides, in any order, and no two have the same", () => {
    const override = fc.integer({ min: 0, max: 4 }).map((value) => `x=${value}`);
    const list = fc.array(override, { maxLength: 6 });
    fc.assert(
      fc.property(list, list, (before, now) => {
        const jobs = before.map((text, place) => listed(2 * place, text));
        const directory = recorded(jobs);
        const resumption = { ...RESUMED, acceptChanges: true };
        const record = open(directory, { resumption });
        const numbers = now.map((text, place) => record.numberOf(place, [text]));
        record.release();
        expect(new Set(numbers).size).toBe(now.length);
        for (const [place, number] of numbers.entries()) {
          const found = jobs.find((job) => job.number === number);
          if (found !== undefined) expect(found.task_overrides).toEqual([now[place]]);
        }
        for (const text of new Set([...before, ...now])) {
          const count = (texts: readonly string[]) => texts.filter((one) => one === text).length;
          const kept = numbers.filter(
            (number, place) =>
              now[place] === text && number < 2 * before.length && number % 2 === 0,
          );
          expect(kept).toHaveLength(Math.min(count(before), count(now)));
        }
        // New ones follow those that there were.
        const fresh = numbers.filter((number) => !jobs.some((job) => job.number === number));
        const first = before.length === 0 ? 0 : 2 * before.length - 1;
        expect(fresh).toEqual(fresh.map((_, index) => first + index));
      }),
      { numRuns: runs(30) },
    );
  });

  test("have the number of their own place where several have the same overrides", () => {
    const directory = recorded([listed(0, "x=1"), listed(1, "x=2"), listed(2, "x=1")]);
    const record = open(directory, { resumption: { ...RESUMED, acceptChanges: true } });
    expect(record.numberOf(2, ["x=1"])).toBe(2);
    expect(record.numberOf(0, ["x=1"])).toBe(0);
    record.release();
  });

  test("that the sweep no longer has are left out once it is whole; the completed and pruned are told", () => {
    const jobs = [0, 1, 2, 3].map((number) => listed(number, `x=${number}`));
    for (const isWhole of [false, true]) {
      const directory = recorded(jobs, [completed(1), failed(2), pruned(3)]);
      const resumption = { ...RESUMED, acceptChanges: true };
      const record = open(directory, { resumption });
      record.admit([planned(record.numberOf(0, ["x=0"]), "x=0")], true);
      expect(readManifest(record.folder).jobs.map(({ number }) => number)).toEqual([0, 1, 2, 3]);
      expect(record.conclude(isWhole).map(({ number }) => number)).toEqual(isWhole ? [1, 3] : []);
      const { jobs: left, more_to_come } = readManifest(record.folder);
      expect(left.map((job) => job.left_out ?? false)).toEqual([false, isWhole, isWhole, isWhole]);
      expect(more_to_come).toBe(!isWhole);
      record.release();
    }
  });
});

test("a directory has a record if it has a manifest", () => {
  const directory = recorded([listed(0, "x=1")]);
  expect([directory, dirname(directory)].map(isRecorded)).toEqual([true, false]);
});
