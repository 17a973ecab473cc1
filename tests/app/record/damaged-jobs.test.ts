/** What is done about jobs with a damaged record, and what a user is told of them. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  acceptDamaged,
  lastProcessOf,
  refuseDamaged,
  startedState,
  undamagedState,
} from "../../../src/app/record/damage.ts";
import {
  begun,
  type DamagedState,
  type JobState,
  lookAtJob,
  readJobState,
  writeJobStart,
} from "../../../src/app/record/job-state.ts";
import {
  jobFile,
  jobLog,
  jobsFolder,
  startedFile,
  sweepFolder,
} from "../../../src/app/record/layout.ts";
import { jobOf } from "./written.ts";

const ID = { id: "a" };
/** No system gives a process this number. */
const GONE = { pid: 2 ** 30, birth: null };
const ELSEWHERE = { host: "another-machine", pid: 7, birth: null };

const startedAs = (number: number, facts: Partial<JobState["attempts"][number]>): JobState => {
  const state = begun(number, undefined);
  return { ...state, attempts: state.attempts.map((attempt) => ({ ...attempt, ...facts })) };
};

/** A folder with a job of each state, whose records are then lost. */
function damaged(...states: readonly JobState[]) {
  const folder = sweepFolder(mkdtempSync(join(tmpdir(), "hydraconf-damaged-")));
  mkdirSync(jobsFolder(folder), { recursive: true });
  for (const state of states) {
    writeJobStart(folder, state, {});
    rmSync(jobFile(folder, state.number));
  }
  const results = join(dirname(folder), "results");
  mkdirSync(results);
  const jobs = states.map(({ number }) => jobOf(number, { output_dir: results }));
  return { folder, jobs, results };
}

const refusal = (code: string, message: string, hint: unknown = expect.anything()) =>
  expect.objectContaining({
    code,
    message: expect.stringContaining(message),
    details: expect.objectContaining({ hint }),
  });

describe("a sweep with damaged records", () => {
  test("is not run: the first is named, the others are counted, with what shows how far it came", () => {
    const { folder, jobs, results } = damaged(startedAs(2, ID), startedAs(5, ID));
    refuseDamaged(folder, []);
    const hint = (began: string, ...parts: readonly string[]) =>
      `job #2 may have ended: ${[began, ...parts].join(", ")}: if it has to run again, add --accept-damaged `;
    const began = `it began at ${readStarted(folder, 2)}`;
    const empty = `its directory ${results} holds no result`;
    const told = (hints: string) =>
      refusal(
        "app.sweep_damaged",
        `The record of job #2 (and 1 more) of the sweep in '${dirname(folder)}' is damaged: ${jobFile(folder, 2)}: it is missing although the job has started`,
        hints,
      );
    const rest =
      "2,5, or the numbers of those that have to; otherwise restore the file from a copy";
    expect(() => refuseDamaged(folder, jobs)).toThrow(told(`${hint(began, empty)}${rest}`));

    writeFileSync(jobLog(folder, 2), "");
    const log = `its log is ${jobLog(folder, 2)}`;
    expect(() => refuseDamaged(folder, jobs)).toThrow(told(`${hint(began, empty, log)}${rest}`));

    const names = (count: number, added: string) => {
      for (const name of [".hidden", ...["a", "b", "c", "d", "e", "f", "g"].slice(0, count)])
        writeFileSync(join(results, name), "");
      const holds = `its directory ${results} holds ${added}`;
      expect(() => refuseDamaged(folder, jobs)).toThrow(told(`${hint(began, holds, log)}${rest}`));
    };
    names(5, "a, b, c, d, e");
    names(6, "a, b, c, d, e and 1 other");
    names(7, "a, b, c, d, e and 2 others");

    // One alone, of which not even the start can be read.
    writeFileSync(startedFile(folder, 2), "");
    rmSync(results, { recursive: true });
    expect(() => refuseDamaged(folder, jobs.slice(0, 1))).toThrow(
      refusal(
        "app.sweep_damaged",
        `The record of job #2 of the sweep`,
        `${hint("it has started", empty, log)}2; otherwise restore the file from a copy`,
      ),
    );
  });

  const readStarted = (folder: string, number: number) =>
    startedState(folder, number)?.attempts[0]?.started;

  test("runs those again that are accepted, with what is known of their attempts", () => {
    const { folder, jobs } = damaged(startedAs(2, { ...ID, ...GONE }), startedAs(5, ID));
    writeFileSync(startedFile(folder, 5), "");
    acceptDamaged(folder, jobs, [2, 5]);
    for (const [number, pid] of [
      [2, GONE.pid],
      [5, process.pid],
    ] as const)
      expect(readJobState(folder, number)).toMatchObject({
        status: "stopped",
        attempts: [
          {
            pid,
            exit_code: null,
            ended_by: { by: "unknown" },
            error: `its record was damaged: ${jobFile(folder, number)}: it is missing although the job has started`,
          },
        ],
      });
    refuseDamaged(folder, jobs);
  });

  test("accepts none that is whole, or that it does not have", () => {
    const { folder, jobs } = damaged(startedAs(2, { ...ID, ...GONE }));
    writeJobStart(folder, begun(3, undefined), {});
    for (const number of [3, 4])
      expect(() => acceptDamaged(folder, [...jobs, jobOf(3)], [number])).toThrow(
        refusal("app.usage", `the record of job #${number} is not damaged`),
      );
    // A damaged record of a job that is none of its own.
    expect(() => acceptDamaged(folder, [], [2])).toThrow(refusal("app.usage", "job #2"));
  });

  test.each([
    ["still runs", {}, `as process ${process.pid}`, "wait for its end"],
    ["was running", ELSEWHERE, "as process 7 on another-machine", "on another-machine its process"],
  ])("accepts none that %s", (words, facts, process, hint) => {
    const { folder, jobs } = damaged(startedAs(2, { ...ID, ...facts }));
    expect(() => acceptDamaged(folder, jobs, [2])).toThrow(
      refusal(
        "app.sweep_damaged",
        `Job #2, whose record is damaged, ${words} ${process}`,
        expect.stringContaining(hint),
      ),
    );
    expect(lookAtJob(folder, 2)?.status).toBe("damaged");
  });
});

describe("the last process of a damaged job", () => {
  const stateOf = (started: JobState | undefined): DamagedState => ({
    status: "damaged",
    number: 0,
    file: "f",
    problem: "p",
    started,
  });
  const aliveOf = (facts: Partial<JobState["attempts"][number]>) =>
    lastProcessOf(stateOf(startedAs(0, facts)))?.alive;

  test("is one that runs, or may run elsewhere, for this job alone", () => {
    expect(aliveOf(ID)).toBe(true);
    expect(aliveOf({ details: { slot: "0" } })).toBe(true);
    expect(aliveOf({ ...ID, ...ELSEWHERE })).toBe("elsewhere");
    expect(lastProcessOf(stateOf(startedAs(0, ID)))?.last.pid).toBe(process.pid);
    expect(aliveOf({ ...ID, ...GONE })).toBeUndefined();
    // In the process of its launcher.
    expect(aliveOf({})).toBeUndefined();
    expect(lastProcessOf(stateOf(undefined))).toBeUndefined();
    expect(lastProcessOf(stateOf({ ...begun(0, undefined), attempts: [] }))).toBeUndefined();
    const again = begun(0, startedAs(0, ELSEWHERE), ID);
    expect(lastProcessOf(stateOf(again))?.last.pid).toBe(process.pid);
  });
});

test("a job with a damaged record is known by its start, or not at all", () => {
  const { folder } = damaged(startedAs(2, ID));
  expect(startedState(folder, 2)).toMatchObject({ number: 2, status: "running" });
  expect(undamagedState(folder, 2)).toBeUndefined();
  const whole = begun(3, undefined);
  writeJobStart(folder, whole, {});
  expect([startedState(folder, 3), undamagedState(folder, 3)]).toEqual([whole, whole]);
  expect([startedState(folder, 4), undamagedState(folder, 4)]).toEqual([undefined, undefined]);
});
