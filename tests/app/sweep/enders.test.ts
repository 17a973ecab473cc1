/** Who ended a job, whatever its program answers: states, words, exit codes and what runs again follow from that. */
import { describe, expect, test } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import { readJobState } from "../../../src/app/record/job-state.ts";
import { launcherOf } from "../../../src/app/record/launcher-claim.ts";
import { until } from "../../wait.ts";
import { ALONE, ANSWERS, answeringSweep, endsBy } from "./enders.ts";
import { timeLimitCases } from "./time-limit.case.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=20"];

describe.concurrent("a time limit", () => {
  timeLimitCases("local", [...LOCAL, "hydra.launcher.timeout_min=0.2"], 12_000);
});

describe.concurrent.each([
  ["local", LOCAL],
  ["local, a process for each job", [...LOCAL, "hydra.launcher.reuse_workers=false"]],
])("%s", (_, launcher) => {
  test("a signal to the sweep stops what it ends, and counts for its exit code", async () => {
    const sweep = answeringSweep([...ANSWERS, ...ALONE], launcher);
    const running = sweep.start();
    await sweep.ready();
    await until(() => ended(sweep.folder, [7, 8, 9]));
    running.kill("SIGTERM");
    expect((await running).exitCode).toBe(143);
    sweep.expectEnds(endsBy("stopped", { by: "launcher", signal: "SIGTERM" }));
    const waited = await sweep.hydraconf("sweep", "wait", "s");
    expect(waited.exitCode).toBe(143);
  });

  test("cancel stops what it ends", async () => {
    const sweep = answeringSweep([...ANSWERS, ...ALONE], launcher);
    const running = sweep.start();
    await sweep.ready();
    await until(() => ended(sweep.folder, [7, 8, 9]));
    await sweep.hydraconf("sweep", "cancel", "s");
    expect((await running).exitCode).toBe(143);
    sweep.expectEnds(endsBy("stopped", { by: "cancel" }));
  });
});

test.concurrent.each(["SIGTERM", "SIGKILL"] as const)(
  "%s to one program, or to its worker, stops that job alone, which --resume runs",
  async (signal) => {
    const sweep = answeringSweep(["dies", "node", "exits_0", "exits_143"], LOCAL);
    const running = sweep.start();
    await sweep.ready();
    const pidOf = (answer: string) =>
      sweep.started().findLast((one) => one.answer === answer)?.pid ?? 0;
    process.kill(pidOf("dies"), signal);
    process.kill(readJobState(sweep.folder, 1)?.attempts[0]?.pid ?? 0, signal);
    for (const answer of ["exits_0", "exits_143"]) process.kill(pidOf(answer), "SIGTERM");
    const { exitCode, stderr } = await running;
    const by: Ender = { by: "signal", signal };
    sweep.expectEnds({
      dies: ["stopped", by],
      node: ["stopped", by],
      exits_0: ["completed", { by: "itself" }, 0],
      // Nobody saw the signal: it ended with a code of its own.
      exits_143: ["failed", { by: "itself" }, 143],
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("2 stopped")]);
    const before = sweep.started().length;
    const resumed = sweep.hydraconf("run", "--resume", "s");
    await until(() => sweep.started().length === before + 2);
    expect(
      sweep
        .started()
        .slice(before)
        .map(({ answer }) => answer)
        .sort(),
    ).toEqual(["dies", "node"]);
    resumed.kill("SIGINT");
    expect((await resumed).exitCode).toBe(130);
  },
);

describe.concurrent("basic", () => {
  test.each(ANSWERS)("a signal to the sweep, whose program %s", async (answer) => {
    const sweep = answeringSweep([answer, "well"], []);
    const running = sweep.start();
    await sweep.ready([answer]);
    running.kill("SIGTERM");
    expect((await running).exitCode).toBe(143);
    const ends = endsBy("stopped", { by: "launcher", signal: "SIGTERM" });
    const state = readJobState(sweep.folder, 0);
    expect([state?.status, state?.attempts[0]?.ended_by]).toEqual(ends[answer]?.slice(0, 2));
    expect(readJobState(sweep.folder, 1)).toBeUndefined();
    expect(launcherOf(sweep.folder)).toBeUndefined();
  });

  test("a program that ends with the code of a signal has failed by itself, and the sweep goes on", async () => {
    const sweep = answeringSweep(ALONE, []);
    const { exitCode } = await sweep.start();
    expect(exitCode).toBe(1);
    sweep.expectEnds(endsBy("", { by: "itself" }));
  });
});

const ended = (folder: string, numbers: readonly number[]): boolean =>
  numbers.every((number) => readJobState(folder, number)?.attempts.at(-1)?.ended != null);
