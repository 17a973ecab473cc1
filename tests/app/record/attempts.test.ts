/** What a job's record says of its attempts, and which of them may be looked at again. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import { failedJob, type JobResult } from "../../../src/app/job/job.ts";
import {
  begun,
  createRecordLook,
  type DamagedState,
  ended,
  hasEnded,
  hasFailed,
  type JobState,
  lookAtJob,
  readJobState,
  recordedEnder,
  restoreJobState,
  scheduledBy,
  timesFailed,
  writeJobStart,
  writeJobState,
} from "../../../src/app/record/job-state.ts";
import { jobFile, jobsFolder, prunedFile, startedFile } from "../../../src/app/record/layout.ts";
import {
  beginJob,
  endOf,
  endWhenAsked,
  firstLine,
  forgetPruned,
  notePruned,
  recordJob,
  whyFailed,
} from "../../../src/app/record/recorded-job.ts";
import { ConfigError } from "../../../src/engine/values/errors.ts";

const newFolder = () => mkdtempSync(join(tmpdir(), "hydraconf-attempts-"));
const itself: Ender = { by: "itself" };
const TIME_LIMIT: Ender = { by: "time_limit", limit_ms: 5 };

describe("a job's start", () => {
  test("is recorded with its notes and its id, and with those before it", () => {
    const first = begun(3, undefined);
    expect(Object.keys(first.attempts[0] ?? {})).not.toContain("id");
    expect(Object.keys(first.attempts[0] ?? {})).not.toContain("details");
    const again = begun(3, ended(first, { endedBy: itself, exitCode: 1 }), {
      id: "a",
      details: { slot: "2" },
    });
    expect(again).toMatchObject({
      number: 3,
      status: "running",
      attempts: [{ exit_code: 1 }, { id: "a", details: { slot: "2" }, pid: process.pid }],
      return_value: null,
    });
  });

  test("knows how many there were before, and forgets that its pruner ended one of them", () => {
    const folder = newFolder();
    const job = beginJob(folder, 3, { details: { slot: "1" } });
    expect(job.earlierAttempts).toBe(0);
    expect(readJobState(folder, 3)?.attempts[0]?.details).toEqual({ slot: "1" });
    job.end({ endedBy: itself, exitCode: 1 });
    // Only the first end counts.
    job.end({ endedBy: itself, exitCode: 0 });
    expect(readJobState(folder, 3)).toMatchObject({
      status: "failed",
      attempts: [{ exit_code: 1 }],
    });
    notePruned(folder, 3, 7);
    expect(existsSync(prunedFile(folder, 3))).toBe(true);
    expect(beginJob(folder, 3).earlierAttempts).toBe(1);
    expect(existsSync(prunedFile(folder, 3))).toBe(false);
    forgetPruned(folder, 3);
    const state = begun(4, begun(4, begun(4, undefined)));
    expect(recordJob(folder, state, {}).earlierAttempts).toBe(2);
  });

  test("that failed leaves the record as it was before", () => {
    const folder = newFolder();
    const before = ended(begun(0, undefined), { endedBy: itself, exitCode: 1 });
    writeJobState(folder, before);
    writeJobStart(folder, begun(0, before), {});
    restoreJobState(folder, 0, before);
    expect(readJobState(folder, 0)).toEqual(before);
    writeJobStart(folder, begun(1, undefined), {});
    restoreJobState(folder, 1, undefined);
    expect([existsSync(jobFile(folder, 1)), existsSync(startedFile(folder, 1))]).toEqual([
      false,
      false,
    ]);
    expect(readJobState(folder, 1)).toBeUndefined();
    restoreJobState(folder, 1, undefined);
  });

  test("whose state is lost or replaced is damage, with what began if that is known", () => {
    const folder = newFolder();
    const state = begun(2, undefined);
    writeJobStart(folder, state, {});
    rmSync(jobFile(folder, 2));
    const problem = "it is missing although the job has started";
    expect(lookAtJob(folder, 2)).toMatchObject({ status: "damaged", problem, started: state });
    writeFileSync(startedFile(folder, 2), "");
    expect(lookAtJob(folder, 2)).toMatchObject({ status: "damaged", problem, started: undefined });
    writeJobState(folder, state);
    expect(lookAtJob(folder, 2)).toEqual(state);
    expect(lookAtJob(folder, 5)).toBeUndefined();
    // A folder in place of the file: neither absent nor damaged, but the system's error.
    mkdirSync(jobFile(folder, 6));
    expect(() => lookAtJob(folder, 6)).toThrow("EISDIR");
  });
});

describe("a job's end", () => {
  const running = begun(0, undefined);

  test.each<[string, Ender, number | null, string | undefined, JobState["status"], string | null]>([
    ["completed", itself, 0, undefined, "completed", null],
    ["failed by its code", itself, 3, undefined, "failed", null],
    ["failed by an error, whatever its code", itself, 0, "boom", "failed", "boom"],
    ["pruned", { by: "pruner", step: 3 }, null, undefined, "pruned", expect.any(String)],
    ["out of time", TIME_LIMIT, null, undefined, "timed_out", expect.any(String)],
    ["cancelled", { by: "cancel" }, null, "own words", "stopped", "own words"],
  ])("of one that %s", (_, endedBy, exitCode, error, status, recorded) => {
    const state = ended(running, { endedBy, exitCode, ...(error !== undefined && { error }) });
    expect(state.status).toBe(status);
    expect(state.attempts).toMatchObject([
      { ended_by: endedBy, exit_code: exitCode, error: recorded },
    ]);
    expect(recordedEnder(state)).toEqual(endedBy);
  });

  test("without an attempt is none", () => {
    const state = ended({ ...running, attempts: [] }, { endedBy: itself, exitCode: 0 });
    expect(state).toMatchObject({ status: "completed", attempts: [] });
    expect(recordedEnder({ ...running, status: "stopped", attempts: [] })).toEqual({
      by: "unknown",
    });
    expect(recordedEnder({ ...running, status: "timed_out", attempts: [] })).toEqual({
      by: "time_limit",
      limit_ms: 0,
    });
  });

  test("is known of ended jobs only", () => {
    for (const status of ["queued", "running"] as const)
      expect(recordedEnder({ ...running, status })).toBeUndefined();
  });

  test("counts as one of its own: it is done, was not worth going on, or failed", () => {
    const damaged: DamagedState = {
      status: "damaged",
      number: 0,
      file: "f",
      problem: "p",
      started: undefined,
    };
    const states = [
      undefined,
      damaged,
      ...(
        ["queued", "running", "stopped", "completed", "pruned", "failed", "timed_out"] as const
      ).map((status): JobState => ({ ...running, status })),
    ];
    const names = (chosen: readonly (JobState | DamagedState | undefined)[]) =>
      chosen.map((state) => state?.status);
    expect(names(states.filter(hasEnded))).toEqual(["completed", "pruned", "failed", "timed_out"]);
    expect(names(states.filter(hasFailed))).toEqual(["failed", "timed_out"]);
  });

  test("is counted as a failure of the job if nobody else ended it", () => {
    const enders: readonly Ender[] = [
      itself,
      TIME_LIMIT,
      { by: "cancel" },
      { by: "pruner", step: 1 },
      { by: "launcher", signal: "SIGTERM" },
      itself,
    ];
    let state: JobState | undefined;
    for (const endedBy of enders)
      state = ended(begun(0, state), { endedBy, exitCode: endedBy === TIME_LIMIT ? null : 1 });
    expect(state && timesFailed(state)).toBe(3);
    expect(timesFailed(begun(0, state))).toBe(3);
    // Early versions did not say who.
    const early = (state?.attempts ?? []).map(({ ended_by: _, ...attempt }) => attempt);
    expect(state && timesFailed({ ...state, attempts: early })).toBe(enders.length);
  });

  test.each([
    ["completed", itself, 0, undefined],
    ["failed before", itself, 1, undefined],
    ["failed after", itself, 1, { by: "cancel" }],
  ] as const)(
    "of one that %s it was asked to, is that of whoever asked: %o with %s",
    (when, endedBy, exitCode, expected) => {
      const state = ended(running, { endedBy, exitCode, returnValue: [1] });
      const [attempt] = state.attempts;
      const end = (attempt?.uptime_ms ?? 0) + (attempt?.took_ms ?? 0);
      const asked = {
        ender: { by: "cancel" } as const,
        uptimeMs: when === "failed before" ? end + 1 : end,
      };
      const judged = endWhenAsked(state, asked);
      expect(judged?.attempts[0]?.ended_by).toEqual(expected);
      if (expected !== undefined)
        expect(judged).toMatchObject({
          status: "stopped",
          return_value: [1],
          attempts: [{ exit_code: 1, ended: attempt?.ended }],
        });
    },
  );

  test("that no clock can place is that of whoever asked; without one it stays open", () => {
    const asked = { ender: { by: "cancel" } as const, uptimeMs: Number.MAX_SAFE_INTEGER };
    const failed = ended(running, { endedBy: itself, exitCode: 1 });
    expect(endWhenAsked(failed, asked)).toBeUndefined();
    for (const lacking of ["uptime_ms", "took_ms", "birth"] as const) {
      const attempts = failed.attempts.map((attempt) => ({
        ...attempt,
        [lacking]: lacking === "birth" ? null : undefined,
      }));
      expect(endWhenAsked({ ...failed, attempts }, asked)?.status).toBe("stopped");
    }
    expect(endWhenAsked(running, asked)).toBeUndefined();
    expect(endWhenAsked({ ...failed, attempts: [] }, asked)).toBeUndefined();
  });
});

describe("the words of a failed job", () => {
  const place = { outputDir: "/o", overrides: [] };
  const done: JobResult = {
    ...place,
    status: "completed",
    returnValue: { loss: 1 },
    error: undefined,
    exitCode: 0,
  };
  const hide = (text: string) => text.replaceAll("sesame", "***");

  it("are the first line of its error, with its kind unless that says nothing", () => {
    expect(firstLine(new Error("boom\nat 1"))).toBe("boom");
    expect(firstLine(new RangeError("too far"))).toBe("RangeError: too far");
    expect(firstLine(new ConfigError({ code: "app.job", message: "no" }))).toBe("no");
    expect(firstLine("\n  text\nmore")).toBe("text");
    expect(firstLine(undefined)).toBe("undefined");
    expect(firstLine(new Error("a sesame"), hide)).toBe("a ***");
  });

  it("are its error, else its reason, else its exit code", () => {
    const reason = "sesame ran out";
    expect(whyFailed({ error: new Error("boom"), reason, exitCode: 3 })).toBe("boom");
    expect(whyFailed({ error: undefined, reason, exitCode: 3 }, hide)).toBe("*** ran out");
    expect(whyFailed({ error: undefined, exitCode: 3 })).toBe("exit code 3");
    expect(whyFailed({ error: new Error(""), exitCode: 4 })).toBe("exit code 4");
  });

  it("are recorded of the job itself, and beside those of whoever ended it", () => {
    expect(endOf(done)).toEqual({ endedBy: itself, exitCode: 0, returnValue: { loss: 1 } });
    const failed = { ...failedJob(place, new Error("a sesame")), reason: "why" };
    expect(endOf(failed, hide)).toMatchObject({ endedBy: itself, exitCode: 1, error: "a ***" });
    const endedBy: Ender = { by: "cancel" };
    const cancelled = endOf({ ...failed, endedBy }, hide);
    expect(cancelled.error).toMatch(/.+: a \*\*\*$/);
    const quiet = { ...failed, error: undefined, endedBy };
    expect(endOf({ ...quiet, reason: "sesame" }, hide).error).toBe("***");
    const { reason: _, ...wordless } = quiet;
    expect(endOf(wordless)).toEqual({ endedBy, exitCode: 1, returnValue: null });
  });
});

describe("a look at the records of jobs", () => {
  test("finds those with a record, and is worth while once more after each change", () => {
    const folder = newFolder();
    const look = createRecordLook(folder);
    // There is no folder yet.
    expect(look()).toEqual(new Set());
    mkdirSync(jobsFolder(folder));
    for (const name of ["3.json", "12.json", "4.log", "x5.json", "6.json.draft"])
      writeFileSync(join(jobsFolder(folder), name), "");
    const change = (time: number) => utimesSync(jobsFolder(folder), time, time);
    change(1_000);
    expect([look(), look(), look(), look()]).toEqual([
      new Set([3, 12]),
      new Set([3, 12]),
      undefined,
      undefined,
    ]);
    writeFileSync(join(jobsFolder(folder), "7.json"), "");
    change(1_001);
    expect(look()).toEqual(new Set([3, 7, 12]));
    expect(look()).toEqual(new Set([3, 7, 12]));
    expect(look()).toBeUndefined();
  });
});

test("an attempt of a scheduler's job says by which of its jobs", () => {
  expect(scheduledBy({ id: "7_1" })).toEqual({ scheduler: "7_1" });
});
