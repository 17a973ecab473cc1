import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterEach, describe, expect, test } from "vitest";
import { launcherOf } from "../../../src/app/record/launcher-claim.ts";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { liveWorkers, signalWorker } from "../../../src/app/record/orphans.ts";
import { startDriver } from "../../../src/app/sweep/detach.ts";
import { isRunning } from "../../../src/foundation/system/process-identity.ts";
import { until } from "../../wait.ts";
import { workplace as newPlace } from "./program/start.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];
const TERMINAL = fileURLToPath(new URL("terminal.py", import.meta.url));

type Place = ReturnType<typeof workplace>;

const places: ReturnType<typeof newPlace>[] = [];

/** What a failed test left running must not outlive it. */
afterEach(() => {
  for (const { folder } of places.splice(0)) {
    const driver = launcherOf(folder);
    const jobs = existsSync(join(folder, "manifest.json")) ? readManifest(folder).jobs : [];
    const workers = liveWorkers(folder, jobs).map(({ process }) => process);
    for (const { pid } of [...(driver === undefined ? [] : [driver]), ...workers])
      signalWorker(pid, "SIGKILL");
  }
});

function workplace() {
  const place = newPlace();
  places.push(place);
  return {
    ...place,
    /** What a sweep that did not begin would be waited for in vain. */
    async detach(argv: readonly string[]): Promise<void> {
      const { exitCode, stderr } = await place.start([...argv, "--detach"]);
      expect([exitCode, stderr]).toEqual([0, ""]);
    },
  };
}

const driverOf = (place: Place): number => {
  const driver = launcherOf(place.folder);
  if (driver === undefined) throw new Error("nobody drives the sweep");
  return driver.pid;
};

const statuses = (place: Place, count: number) =>
  Array.from({ length: count }, (_, number) => place.state(number)?.status);

/** The sessions of processes: what a terminal reaches is in its own. */
const sessionOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[3]);
};

describe.each([
  ["basic", []],
  ["local", LOCAL],
])("--detach with the %s launcher", (_, launcher) => {
  test("leaves a driver of its own session, which runs everything once", async () => {
    const place = workplace();
    const started = await place.start(["-m", "x=1,2,3", "do=hold", ...launcher, "--detach"]);
    expect([started.exitCode, started.stderr]).toEqual([0, ""]);
    const directory = join(place.cwd, "s");
    for (const action of ["status", "wait", "cancel", "collect"])
      expect(started.stdout).toContain(`hydraconf sweep ${action} ${directory}`);
    const pid = driverOf(place);
    expect(started.stdout).toContain(`Process ${pid} runs the sweep in ${directory}`);
    expect(sessionOf(pid)).toBe(pid);
    expect(readManifest(place.folder).jobs).toHaveLength(3);
    const second = await place.start(["--resume", "s"]);
    expect([second.exitCode, second.stderr]).toEqual([
      1,
      expect.stringContaining(`is being run by process ${pid}`),
    ]);
    place.release();
    const waited = await place.sweep(["wait", "s"]);
    expect(waited.exitCode).toBe(0);
    expect(waited.stdout).toMatch(/3 of 3 jobs completed$/);
    expect([...place.ran("begin")].sort()).toEqual([0, 1, 2]);
    expect(launcherOf(place.folder)).toBeUndefined();
    expect(readFileSync(join(place.folder, "launcher.log"), "utf8")).toContain("Launching 3 jobs");
  });

  test("outlives the terminal that it was started in", async () => {
    const place = workplace();
    const command = [...place.command, "-m", "x=1,2", "do=hold", ...launcher, "--detach"];
    const shell = `${command.map((word) => `'${word}'`).join(" ")}; sleep 600`;
    const { exitCode, stdout } = await execa(
      "python3",
      [TERMINAL, "sweep collect", "sh", "-c", shell],
      { cwd: place.cwd, reject: false },
    );
    // The shell is gone, by SIGHUP.
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("runs the sweep in")]);
    place.release();
    expect((await place.sweep(["wait", "s"])).exitCode).toBe(0);
    expect(statuses(place, 2)).toEqual(["completed", "completed"]);
  });

  test("a killed driver loses nothing that is done; --resume runs what is missing", async () => {
    const place = workplace();
    await place.detach(["-m", "do=ok,hold", "x=1,2,3", ...launcher]);
    await until(() => place.ran("begin").length > 3 && place.ran("end").length === 3);
    process.kill(driverOf(place), "SIGKILL");
    // What runs in workers of its own goes on.
    place.release();
    const waited = await place.sweep(["wait", "s"]);
    expect(waited.exitCode).toBe(1);
    expect(waited.stdout).toMatch(/no launcher runs it\n {2}node \S+ --resume /);
    const done = place.ran("end");
    expect(done.length).toBeLessThan(6);
    const resumed = await place.start(["--resume", "s", "--detach"]);
    expect([resumed.exitCode, resumed.stderr]).toEqual([0, ""]);
    expect((await place.sweep(["wait", "s"])).exitCode).toBe(0);
    expect([...place.ran("end")].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    for (const number of done)
      expect(place.ran("begin").filter((one) => one === number)).toHaveLength(1);
  });

  test("cancel ends it all, twice as well as once; --resume runs the rest", async () => {
    const place = workplace();
    await place.detach(["-m", "x=1,2,3", "do=ok,hold", ...launcher]);
    await until(
      () => place.state(0)?.status === "completed" && place.state(1)?.status === "running",
    );
    const pid = driverOf(place);
    const cancelled = await place.sweep(["cancel", "s"]);
    expect(cancelled.exitCode).toBe(0);
    expect(cancelled.stderr).toContain(`Ending process ${pid}`);
    expect(cancelled.stdout).toMatch(/^Cancelled; [12] of 6 jobs completed, /);
    expect(launcherOf(place.folder)).toBeUndefined();
    const attempts = [0, 1, 2, 3, 4, 5].flatMap((number) => place.state(number)?.attempts ?? []);
    expect(attempts.filter((one) => isRunning(one) !== false)).toEqual([]);
    expect(place.state(1)?.status).toBe("stopped");
    const before = place.lines("ran.txt");
    const again = await place.sweep(["cancel", "s"]);
    expect([again.exitCode, again.stdout]).toEqual([
      0,
      expect.stringMatching(/^Nothing of it is running; [12] of 6 jobs completed, /),
    ]);
    expect(place.lines("ran.txt")).toEqual(before);
    const done = statuses(place, 6).flatMap((status, number) =>
      status === "completed" ? [number] : [],
    );
    const resumed = place.start(["--resume", "s"]);
    await until(
      () => place.ran("begin").length > before.filter((one) => one.startsWith("begin")).length,
    );
    resumed.kill("SIGTERM");
    await resumed;
    const since = place.lines("ran.txt").slice(before.length);
    const restarted = since.flatMap((one) =>
      one.startsWith("begin ") ? [Number(one.split(" ")[1])] : [],
    );
    expect(restarted.filter((number) => done.includes(number))).toEqual([]);
  });

  test("jobs that fail decide the exit code of wait as they do in the foreground", async () => {
    const place = workplace();
    const sweep = ["-m", "x=1", "do=ok,code,fail", ...launcher];
    const foreground = await place.start(sweep);
    const detached = await place.start([...sweep, "--detach", "hydra.sweep.dir=t"]);
    expect(detached.exitCode).toBe(0);
    const waited = await place.sweep(["wait", "t"]);
    expect([foreground.exitCode, waited.exitCode]).toEqual([4, 4]);
    expect(waited.stdout).toMatch(/2 failed\n {2}node \S+ --retry-failed /);
  });
});

describe("--detach", () => {
  test("without a sweep is a wrong command line", async () => {
    const place = workplace();
    for (const argv of [["x=1"], ["--cfg", "job"], ["--run"]]) {
      const { exitCode, stderr } = await place.start([...argv, "--detach"]);
      expect([exitCode, stderr]).toEqual([
        2,
        expect.stringMatching(/error: argument --detach: .*\n {2}use it with --multirun/),
      ]);
    }
    expect(place.ran("begin")).toEqual([]);
  });

  test("checks all batches before anything is made", async () => {
    const place = workplace();
    const size = "hydra.sweeper.max_batch_size=1";
    mkdirSync(join(place.cwd, "conf/db"));
    writeFileSync(join(place.cwd, "conf/db/a.yaml"), "host: a\n");
    const wrong = await place.start(["-m", "+db=a,b", size, "--detach"]);
    expect([wrong.exitCode, wrong.stderr]).toEqual([
      1,
      expect.stringContaining("Could not find 'db/b'"),
    ]);
    expect(existsSync(join(place.cwd, "s"))).toBe(false);
    const good = await place.start(["-m", "x=1,2,3", size, "--detach", "hydra.sweep.dir=u"]);
    expect(good.exitCode).toBe(0);
    expect(readManifest(join(place.cwd, "u/.sweep")).jobs).toHaveLength(3);
    expect((await place.sweep(["wait", "u"])).exitCode).toBe(0);
  });

  test("carries a search on, round by round", async () => {
    const place = workplace();
    const { exitCode } = await place.start([
      "-m",
      "hydra/sweeper=successive_halving",
      "hydra.sweeper.budget_key=+epochs",
      "hydra.sweeper.min_budget=1",
      "hydra.sweeper.max_budget=3",
      "hydra.sweeper.objective=square",
      "x=interval(0,1)",
      "--detach",
    ]);
    expect(exitCode).toBe(0);
    expect((await place.sweep(["wait", "s"])).exitCode).toBe(0);
    expect(place.ran("end")).toEqual([0, 1, 2, 3]);
    expect(existsSync(join(place.cwd, "s/optimization_results.yaml"))).toBe(true);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGQUIT", 131],
    ["SIGTERM", 143],
  ] as const)("is taken back by %s before the sweep is on its way", async (signal, code) => {
    const place = workplace();
    const leaving = place.startHooked(["-m", "x=1,2", "--detach"], { STALL_AT: "driver" });
    await until(() => launcherOf(place.folder)?.awaited === true);
    const driver = launcherOf(place.folder);
    if (driver === undefined) throw new Error("nobody drives the sweep");
    leaving.kill(signal);
    const { exitCode, stderr, stdout } = await leaving;
    expect([exitCode, stdout]).toEqual([code, ""]);
    expect(stderr).toMatch(
      /^Ending process \d+.*\nThe sweep in \S+ was stopped before it started.*\n {2}node .*prog.cjs --resume \S+ {3}runs it\n?$/,
    );
    expect(isRunning(driver)).toBe(false);
    expect(place.ran("begin")).toEqual([]);
    expect((await place.start(["--resume", "s"])).exitCode).toBe(0);
    expect(place.ran("end")).toEqual([0, 1]);
  });

  test("is not taken back by a terminal that is closed before the sweep is on its way", async () => {
    const place = workplace();
    const leaving = place.startHooked(["-m", "x=1,2", "--detach"], { STALL_AT: "driver" });
    await until(() => launcherOf(place.folder)?.awaited === true);
    const driver = launcherOf(place.folder);
    if (driver === undefined) throw new Error("nobody drives the sweep");
    leaving.kill("SIGHUP");
    const { signal, stderr } = await leaving;
    expect([signal, stderr]).toEqual(["SIGHUP", ""]);
    expect(isRunning(driver)).toBe(true);
  });

  test("is taken over also by a driver that is there before it is handed the sweep", async () => {
    const place = workplace();
    const hook = { STALL_MS: "2000" };
    const { exitCode, stderr } = await place.startHooked(["-m", "x=1", "--detach"], hook);
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect((await place.sweep(["wait", "s"])).exitCode).toBe(0);
    expect(place.ran("end")).toEqual([0]);
  });

  test("says what a driver said that ended before it took over", async () => {
    const { cwd } = workplace();
    const log = join(cwd, "launcher.log");
    const started = startDriver({
      command: [process.execPath],
      args: ["-e", 'console.error("no such thing"); process.exit(3)'],
      cwd,
      env: process.env,
      log,
      onStart: () => {},
    });
    await expect(started).rejects.toThrow(/ended with code 3:\nno such thing/);
  });
});

describe("hydraconf sweep", () => {
  test("wait ends by Ctrl-C or in time, and the sweep goes on", async () => {
    const place = workplace();
    await place.detach(["-m", "x=1", "do=hold"]);
    await until(() => place.ran("begin").length === 1);
    const late = await place.sweep(["wait", "s", "--timeout", "0.1"]);
    expect([late.exitCode, late.stderr]).toEqual([
      124,
      expect.stringContaining("Timeout: the waiting has ended"),
    ]);
    const waiting = place.sweep(["wait", "s"]);
    // Or it has ended, and says why.
    await Promise.race([new Promise((heard) => waiting.stderr?.once("data", heard)), waiting]);
    waiting.kill("SIGINT");
    expect((await waiting).exitCode).toBe(130);
    const { exitCode, stdout } = await place.sweep(["status", "s", "--json"]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(String(stdout))).toMatchObject({
      program: "prog",
      driver: { pid: driverOf(place) },
      exit_code: null,
      counts: { running: 1 },
      jobs: [{ number: 0, status: "running", scheduler: null }],
    });
    expect((await place.sweep(["cancel", "s"])).exitCode).toBe(0);
    const over = await place.sweep(["wait", "s", "--json"]);
    expect(over.exitCode).toBe(JSON.parse(String(over.stdout)).exit_code);
    expect(over.exitCode).not.toBe(0);
  });

  test("wait tells how the sweep ended also where it may not write its tables", async () => {
    const place = workplace();
    await place.start(["-m", "x=1", "do=code", ...LOCAL]);
    rmSync(join(place.cwd, "s/sweep.csv"));
    mkdirSync(join(place.cwd, "s/sweep.csv"));
    const { exitCode, stderr, stdout } = await place.sweep(["wait", "s"]);
    expect([exitCode, stdout]).toEqual([4, expect.stringContaining("1 failed")]);
    expect(stderr).toMatch(/Cannot write the tables of the sweep: .*sweep\.csv/);
  });

  test("cancel kills what does not end by itself", async () => {
    const place = workplace();
    await place.detach(["-m", "x=1,2", "do=stubborn", ...LOCAL]);
    await until(() => place.ran("begin").length === 2);
    expect((await place.sweep(["cancel", "s"])).exitCode).toBe(0);
    expect(statuses(place, 2)).toEqual(["stopped", "stopped"]);
  });

  test("a job that fails because it is asked to end was stopped", async () => {
    const place = workplace();
    await place.detach(["-m", "x=1", "do=touchy", ...LOCAL]);
    await until(() => place.lines("ran.txt").includes("listens 0"));
    await place.sweep(["cancel", "s"]);
    expect(place.state(0)?.status).toBe("stopped");
  });
});

test("a sweep that is refused leaves what the one that runs wrote", async () => {
  const place = workplace();
  await place.detach(["-m", "x=1", "do=hold"]);
  const written = () => readFileSync(join(place.cwd, "s/multirun.yaml"), "utf8");
  const before = written();
  for (const more of [[], ["--detach"]]) {
    const refused = await place.start(["-m", "x=1", "seconds=7", ...more]);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("is being run by process"),
    ]);
    expect(written()).toBe(before);
  }
});

test("two that resume at once: each job is run by one of them", async () => {
  const place = workplace();
  const launcher = place.start(["-m", "x=1", "do=ok,hold,ok,ok,ok"]);
  await until(() => place.ran("begin").length === 2);
  launcher.kill("SIGKILL");
  await launcher;
  place.release();
  const before = new Set(place.ran("begin"));
  const both = [place.start(["--resume", "s"]), place.start(["--resume", "s"])];
  for (const { exitCode, stderr } of await Promise.all(both))
    if (exitCode !== 0) expect(stderr).toContain("is being run by process");
  const times = [2, 3, 4].map(
    (number) => place.ran("begin").filter((one) => one === number).length,
  );
  expect([before.size, times]).toEqual([2, [1, 1, 1]]);
  expect(statuses(place, 5)).toEqual(Array.from({ length: 5 }, () => "completed"));
});

test("basic waits for a worker that another launcher left, and runs nothing twice", async () => {
  const place = workplace();
  // Without settings, which the other launcher would refuse.
  const launcher = place.start(["-m", "x=1,2", "do=hold", "hydra/launcher=local"]);
  await until(() => place.ran("begin").length > 0);
  launcher.kill("SIGKILL");
  await launcher;
  const resumed = place.start(["--resume", "s", "hydra/launcher=basic"]);
  // Or it has ended, and says why.
  await Promise.race([until(() => launcherOf(place.folder)?.pid === resumed.pid), resumed]);
  place.release();
  const { exitCode, stderr } = await resumed;
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect([...place.ran("begin")].sort()).toEqual([0, 1]);
});

test("a single run outlives its terminal where it is started as the refusal of --detach says", async () => {
  const place = workplace();
  const refused = await place.start(["--detach"]);
  const line = /'([^']*COMMAND[^']*)'/.exec(String(refused.stderr))?.[1] ?? "";
  const command = [...place.command, "do=hold"].map((word) => `'${word}'`).join(" ");
  // Short sleeps: a hangup right before the shell waits is seen only when what it waits for has ended.
  const begun =
    "while [ ! -e ran.txt ]; do sleep 0.05; done; echo begun; while :; do sleep 0.1; done";
  const shell = `${line.replace("COMMAND", command)} ${begun}`;
  // One that passes a hangup on to its jobs, as people's shells do.
  const bash = ["bash", "--norc", "-i", "-c", shell];
  await execa("python3", [TERMINAL, "begun", ...bash], { cwd: place.cwd, reject: false });
  place.release();
  await until(() => place.ran("end").length === 1);
});
