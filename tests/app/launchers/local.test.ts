import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { workplace } from "../sweep/program/start.ts";
import { launcherCases } from "./common.case.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];

describe("the local launcher", () => {
  launcherCases({ overrides: LOCAL, ownProcesses: true });

  test("retries a job that fails", async () => {
    const place = workplace();
    const { exitCode } = await place.start([
      "-m",
      "x=1,2",
      "do=flaky",
      ...LOCAL,
      "hydra.launcher.max_retries=2",
    ]);
    expect(exitCode).toBe(0);
    expect(place.state(0)?.attempts).toHaveLength(3);
    expect(place.state(1)?.status).toBe("completed");
  });

  test("ends a job that takes too long", async () => {
    const place = workplace();
    const { exitCode } = await place.start([
      "-m",
      "x=1",
      "seconds=60",
      ...LOCAL,
      "hydra.launcher.timeout_min=0.01",
    ]);
    expect(exitCode).not.toBe(0);
    expect(place.state(0)).toMatchObject({
      status: "timed_out",
      attempts: [{ error: "took longer than 0.6 s" }],
    });
  });

  test("never gives a slot to two jobs at a time", async () => {
    const place = workplace();
    await place.start([
      "-m",
      "x=range(0,6)",
      "seconds=0.1",
      "hydra/launcher=local",
      "hydra.launcher.n_jobs=4",
      "+hydra.launcher.resources.gpu=[5,7]",
    ]);
    const spans = new Map<string, { gpu: string; begin: number; end: number }>();
    for (const line of place.lines("ran.txt")) {
      const [kind = "", number = "", , gpu = "", time = ""] = line.split(" ");
      const span = spans.get(number) ?? { gpu, begin: 0, end: 0 };
      spans.set(number, { ...span, [kind]: Number(time) });
    }
    expect(spans.size).toBe(6);
    expect([...new Set([...spans.values()].map(({ gpu }) => gpu))].sort()).toEqual(["5", "7"]);
    const all = [...spans.values()];
    for (const [index, one] of all.entries())
      for (const other of all.slice(index + 1))
        if (one.gpu === other.gpu)
          expect(one.end <= other.begin || other.end <= one.begin).toBe(true);
  });

  test.each(["kill", "exit", "crash"])("records a worker that ends by '%s'", async (how) => {
    const place = workplace();
    const { exitCode } = await place.start(["-m", "x=1", `do=${how}`, ...LOCAL]);
    expect(exitCode).toBe({ kill: 1, exit: 3, crash: 1 }[how]);
    const state = place.state(0);
    expect(state?.status).toBe("failed");
    if (how === "kill") expect(state?.attempts[0]?.error).toBe("killed by SIGKILL");
  });

  test("passes a signal on to its workers and starts no other", async () => {
    const place = workplace();
    const launcher = place.start(["-m", "x=1,2,3", "seconds=60", ...LOCAL]);
    while (place.ran("begin").length < 2) await sleep(20);
    launcher.kill("SIGTERM");
    expect((await launcher).exitCode).toBe(143);
    expect([0, 1, 2].map((number) => place.state(number)?.status)).toEqual([
      "stopped",
      "stopped",
      undefined,
    ]);
  });

  test("refuses settings that cannot be", async () => {
    for (const [override, message] of [
      ["hydra.launcher.n_jobs=0", "n_jobs cannot be '0'"],
      ["hydra.launcher.on_failure=shrug", "on_failure cannot be 'shrug'"],
      ["+hydra.launcher.resources.gpu=[1,1]", "without repetitions"],
    ] as const) {
      const place = workplace();
      const { exitCode, stderr } = await place.start(["-m", ...LOCAL, override]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(message);
    }
  });

  test.each(["joblib", "submitit_local"])("is what runs hydra/launcher=%s", async (name) => {
    const place = workplace();
    const { exitCode, stdout } = await place.start(["-m", "x=1,2", `hydra/launcher=${name}`]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Launching 2 jobs in \d process/);
  });
});
