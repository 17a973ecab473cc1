import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { workerCommand } from "../../../src/app/launch/worker.ts";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { until } from "../../wait.ts";
import { forgetJob } from "../record/written.ts";
import { workplace } from "../sweep/program/start.ts";

/** A recorded sweep of which nothing has run. */
async function recorded(argv: readonly string[]) {
  const place = workplace();
  const launcher = place.start(["-m", ...argv]);
  // A job that would last is killed with its launcher.
  await Promise.race([launcher, begun(place).then(() => launcher.kill("SIGKILL"))]);
  await launcher;
  for (const { number } of readManifest(place.folder).jobs) forgetJob(place.folder, number);
  rmSync(join(place.cwd, "ran.txt"), { force: true });
  return place;
}

const begun = (place: ReturnType<typeof workplace>) => until(() => place.ran("begin").length > 0);

function runWorker(
  place: ReturnType<typeof workplace>,
  number: number,
  more: Readonly<Record<string, string>> = {},
) {
  const command = workerCommand(readManifest(place.folder), { folder: place.folder, number });
  const env = { ...command.env, ...more };
  return execa(command.file, command.args, { cwd: command.cwd, env, reject: false });
}

describe("a worker", () => {
  test("runs one job as the sweep would, and leaves its record", async () => {
    const place = await recorded(["x=1,2", "--fast", "--", "a", "b"]);
    const worker = await runWorker(place, 1);
    expect([worker.exitCode, worker.stdout]).toEqual([0, "x is 2"]);
    expect(place.ran("end")).toEqual([1]);
    expect(place.state(0)).toBeUndefined();
    expect(place.state(1)).toMatchObject({
      number: 1,
      status: "completed",
      return_value: { x: 2, square: 4, fast: true, rest: ["a", "b"] },
      attempts: [{ exit_code: 0, error: null }],
    });
    expect(readFileSync(join(place.cwd, "s/1/.hydra/overrides.yaml"), "utf8")).toContain("- x=2\n");
  });

  test("what is completed does not run again", async () => {
    const place = await recorded(["x=1,2"]);
    await runWorker(place, 0);
    expect((await runWorker(place, 0)).exitCode).toBe(0);
    expect(place.ran("begin")).toEqual([0]);
  });

  test("refuses a config that was changed, and says so in the record", async () => {
    const place = await recorded(["x=1,2"]);
    writeFileSync(
      join(place.cwd, "conf/config.yaml"),
      "x: 1\ndo: ok\nseconds: 0\nextra: 1\nhydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n",
    );
    const worker = await runWorker(place, 0);
    expect(worker.exitCode).toBe(1);
    expect(worker.stderr).toContain("differs from the one that the sweep started with");
    expect(place.state(0)).toMatchObject({ status: "failed" });
    expect(place.ran("begin")).toEqual([]);
  });

  test.each([
    ["fail", 1, { status: "failed", attempts: [{ exit_code: 1, error: "boom 1" }] }],
    ["code", 4, { status: "failed", attempts: [{ exit_code: 4, error: "exit code 4" }] }],
    [
      "exit",
      3,
      {
        status: "failed",
        attempts: [{ exit_code: 3, error: "the process ended with code 3 before the job did" }],
      },
    ],
    ["crash", 1, { status: "failed", attempts: [{ error: "TypeError: out of the blue" }] }],
  ])("a job that ends by '%s' is recorded", async (how, code, state) => {
    const place = await recorded(["x=1,2", `do=${how}`]);
    expect((await runWorker(place, 0)).exitCode).toBe(code);
    expect(place.state(0)).toMatchObject(state);
  });

  test.each([
    ["hold", { status: "stopped", attempts: [{ exit_code: 143, error: "stopped by SIGTERM" }] }],
    ["graceful", { status: "stopped", return_value: "stopped in its own way" }],
  ])("a signal ends a job that behaves as '%s'; the record says so", async (how, state) => {
    const place = await recorded(["x=1,2", `do=${how}`]);
    const worker = runWorker(place, 0);
    await begun(place);
    worker.kill("SIGTERM");
    expect((await worker).exitCode).toBe(143);
    expect(place.state(0)).toMatchObject(state);
  });

  test("a task that saves its work since it was told by TERM is not ended by the scheduler's own signal", async () => {
    const place = await recorded(["x=1,2", "do=saves slowly"]);
    const worker = runWorker(place, 0, { SLURM_ARRAY_JOB_ID: "7", SLURM_ARRAY_TASK_ID: "0" });
    await begun(place);
    worker.kill("SIGTERM");
    await until(() => place.lines("ran.txt").includes("saves 0"));
    worker.kill("SIGUSR2");
    // Its work is done by the time of the next one, which it gets later.
    worker.kill("SIGTERM");
    expect((await worker).exitCode).toBe(0);
    expect(place.state(0)).toMatchObject({ status: "completed", return_value: "saved in time" });
  });
});
