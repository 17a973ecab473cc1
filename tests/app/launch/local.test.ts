import { existsSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { begun, ended, writeJobState } from "../../../src/app/record/job-state.ts";
import { jobLog, jobsFolder } from "../../../src/app/record/layout.ts";
import { identityOf, isRunning } from "../../../src/foundation/system/process-identity.ts";
import { LAUNCHER, openPlan, underPlan } from "../../foundation/system/fault-at/plan.ts";
import { until } from "../../wait.ts";
import { endWorkplaces, workplace } from "../sweep/program/start.ts";
import { launcherCases } from "./common.case.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];

/** Until a process has printed this. */
const said = (process: { readonly stdout: Readable | null }, words: string) =>
  new Promise<void>((done) => {
    let text = "";
    process.stdout?.on("data", (piece) => {
      text += piece;
      if (text.includes(words)) done();
    });
  });

/** Every operation of the launcher on its records fails, until the function that it returns is called. */
function failingDisk(env: Readonly<Record<string, string>>): () => void {
  const plan = openPlan(env);
  plan.arm({ role: LAUNCHER, at: "all", error: "EIO" });
  return () => plan.arm();
}

function linkToItself(folder: string): () => void {
  renameSync(folder, `${folder}.away`);
  symlinkSync(basename(folder), folder);
  return () => {
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
  };
}

afterEach(endWorkplaces);

describe("the local launcher", () => {
  launcherCases({ overrides: LOCAL, ownProcesses: true });

  test("retries a job that fails", async () => {
    const place = workplace();
    const { exitCode } = await place.launch([
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

  test.each([
    [1, true],
    [2, false],
  ])("a job that failed %i times, with one retry, is resumed: %s", async (attempts, isResumed) => {
    const place = workplace();
    const retrying = [...LOCAL, "hydra.launcher.max_retries=1"];
    expect((await place.start(["-m", "x=1,2", ...retrying])).exitCode).toBe(0);
    // As a launcher leaves it that is killed after the end of an attempt and before the next one.
    const folder = join(place.cwd, "s/.sweep");
    for (let attempt = 1; attempt <= attempts; attempt++) {
      const before = attempt === 1 ? undefined : place.state(0);
      const lost = {
        endedBy: { by: "itself" },
        exitCode: null,
        error: "killed by SIGSEGV",
      } as const;
      writeJobState(folder, ended(begun(0, before), lost));
    }
    const { exitCode } = await place.start(["--resume", "s"]);
    expect(exitCode).toBe(isResumed ? 0 : 1);
    expect(place.ran("begin").filter((job) => job === 0)).toHaveLength(isResumed ? 2 : 1);
    expect(place.state(0)?.status).toBe(isResumed ? "completed" : "failed");
  });

  test("ends a job that takes too long", async () => {
    const place = workplace();
    const { exitCode } = await place.launch([
      "-m",
      "x=1",
      "do=hold",
      ...LOCAL,
      "hydra.launcher.timeout_min=0.01",
    ]);
    expect(exitCode).not.toBe(0);
    expect(place.state(0)).toMatchObject({
      status: "timed_out",
      attempts: [{ error: "took longer than 0.6 s" }],
    });
  });

  test.each(["100000", "inf"])("lets a job run that may take %s minutes", async (minutes) => {
    const place = workplace();
    const limit = `hydra.launcher.timeout_min=${minutes}`;
    const argv = ["-m", "x=1", "seconds=0.5", ...LOCAL, limit];
    expect((await place.launch(argv)).exitCode).toBe(0);
    expect(place.state(0)?.status).toBe("completed");
  });

  test("never gives a slot to two jobs at a time", async () => {
    const place = workplace();
    await place.launch([
      "-m",
      "x=range(0,6)",
      "seconds=0.1",
      "hydra/launcher=local",
      "hydra.launcher.n_jobs=4",
      "+hydra.launcher.resources.gpu=[5,7]",
    ]);
    const spans = slotSpans(place);
    expect(spans).toHaveLength(6);
    expect([...new Set(spans.map(({ gpu }) => gpu))].sort()).toEqual(["5", "7"]);
    expectApart(spans);
  });

  describe("with reuse_workers", () => {
    const REUSED = ["hydra/launcher=local", "hydra.launcher.reuse_workers=true"];
    const pids = (place: ReturnType<typeof workplace>) =>
      place.lines("ran.txt").flatMap((line) => /^begin (\d+) (\d+)/.exec(line)?.[2] ?? []);
    const logOf = ({ folder }: ReturnType<typeof workplace>, number: number) =>
      readFileSync(jobLog(folder, number), "utf8");

    test("a process runs one job after the other, each with its own record, directory and log", async () => {
      const place = workplace();
      const argv = ["-m", "x=1,2,3,4", ...REUSED, "hydra.launcher.n_jobs=1"];
      const { exitCode, stderr } = await place.launch(argv);
      expect(exitCode, String(stderr)).toBe(0);
      expect(new Set(pids(place)).size).toBe(1);
      for (const number of [0, 1, 2, 3]) {
        expect(place.state(number)).toMatchObject({
          status: "completed",
          attempts: [{ pid: Number(pids(place)[0]) }],
          return_value: { x: number + 1 },
        });
        expect(logOf(place, number)).toBe(`x is ${number + 1}\n`);
        expect(existsSync(join(place.cwd, `s/${number}/.hydra/config.yaml`))).toBe(true);
      }
      // What it wrote to in between is not left.
      expect(readdirSync(jobsFolder(place.folder)).filter((name) => /^\./.test(name))).toEqual([]);
    });

    test("a job that fails, or is ended, has its process to itself from then on", async () => {
      const place = workplace();
      const argv = ["-m", "do=ok,fail,ok,exit,ok", ...REUSED, "hydra.launcher.n_jobs=1"];
      expect((await place.launch(argv)).exitCode).toBe(1);
      const statuses = [0, 1, 2, 3, 4].map((number) => place.state(number)?.status);
      expect(statuses).toEqual(["completed", "failed", "completed", "failed", "completed"]);
      const [first, second, third, fourth, fifth] = pids(place);
      expect(second).toBe(first);
      expect(third).not.toBe(first);
      expect(fourth).toBe(third);
      expect(fifth).not.toBe(third);
      expect(place.state(3)?.attempts.at(-1)?.exit_code).toBe(3);
      expect(logOf(place, 1)).toContain("boom 1");
    });

    test("a process that ends between two jobs costs the next one nothing: a new one runs it", async () => {
      const place = workplace();
      const argv = ["-m", "do='gone after',ok,ok", ...REUSED, "hydra.launcher.n_jobs=1"];
      const { exitCode, stderr } = await place.launch(argv);
      expect(exitCode, String(stderr)).toBe(0);
      expect(place.ran("begin")).toEqual([0, 1, 2]);
      expect([0, 1, 2].map((number) => place.state(number)?.attempts.length)).toEqual([1, 1, 1]);
      const [first, second, third] = pids(place);
      expect(second).not.toBe(first);
      expect(third).toBe(second);
      expect(logOf(place, 1)).toBe("x is 1\n");
    });

    test("attempts of a job share its log, and a time limit ends only its own job", async () => {
      const place = workplace();
      const argv = ["-m", "do=ok,flaky,ok", ...REUSED, "hydra.launcher.n_jobs=1"];
      expect((await place.launch([...argv, "hydra.launcher.max_retries=3"])).exitCode).toBe(0);
      expect(place.state(1)?.attempts).toHaveLength(3);
      expect(logOf(place, 1).match(/^x is 1$/gm)).toHaveLength(3);
      expect(logOf(place, 2)).toBe("x is 1\n");
      const slow = workplace();
      const limited = ["-m", "do=ok,stubborn,ok", ...REUSED, "hydra.launcher.n_jobs=1"];
      await slow.launch([...limited, "hydra.launcher.timeout_min=0.03"]);
      expect([0, 1, 2].map((number) => slow.state(number)?.status)).toEqual([
        "completed",
        "timed_out",
        "completed",
      ]);
    });

    test("a process keeps its slots as its environment has them, and gives them back in between", async () => {
      const place = workplace();
      const gpus = "+hydra.launcher.resources.gpu=[61,62]";
      const argv = ["-m", "x=range(0,8)", "seconds=0.05", ...REUSED, gpus];
      const others = workplace();
      const outcomes = await Promise.all([place.launch(argv), others.start(argv)]);
      expect(outcomes.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
      expectApart([place, others].flatMap(slotSpans));
      for (const { lines } of [place, others]) {
        const of = new Map<string, Set<string>>();
        for (const line of lines("ran.txt")) {
          const [, , pid = "", gpu = ""] = line.split(" ");
          of.set(pid, (of.get(pid) ?? new Set()).add(gpu));
        }
        expect([...of.values()].every(({ size }) => size === 1)).toBe(true);
      }
    });

    test("a launcher that is killed leaves the job, which ends and is recorded, and then its process", async () => {
      const place = workplace();
      const argv = ["-m", "x=1,2", "do=hold", ...REUSED, "hydra.launcher.n_jobs=1"];
      const launcher = place.start(argv);
      await until(() => place.ran("begin").length === 1);
      launcher.kill("SIGKILL");
      await launcher;
      const [pid = ""] = pids(place);
      place.release();
      await until(() => place.state(0)?.status === "completed");
      await until(() => !existsSync(`/proc/${pid}`));
      expect((await place.start(["--resume", "s"])).exitCode).toBe(0);
      expect(place.ran("begin")).toEqual([0, 1]);
    });
  });

  test("gives each job as many slots as its own config asks for", async () => {
    const place = workplace();
    const { exitCode, stderr } = await place.launch([
      "-m",
      "x=1,2,3",
      "hydra/launcher=local",
      "+hydra.launcher.resources.gpu.slots=[41,42,43]",
      "+hydra.launcher.resources.gpu.per_job=${x}",
    ]);
    expect(exitCode, String(stderr)).toBe(0);
    const counts = slotSpans(place).map(({ gpu }) => gpu.split(",").length);
    expect(counts.sort()).toEqual([1, 2, 3]);
    const refused = await workplace().launch([
      "-m",
      "x=1,4",
      "hydra/launcher=local",
      "+hydra.launcher.resources.gpu.slots=[41,42,43]",
      "+hydra.launcher.resources.gpu.per_job=${x}",
    ]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("resources.gpu cannot be '4': it must be at most 3");
  });

  test("a job that needs more memory than Node gives it says so, and what gives it more", async () => {
    const place = workplace();
    const env = { NODE_OPTIONS: "--max-old-space-size=60" };
    await place.start(["-m", "x=1", "do=hungry", "hydra/launcher=local"], { env });
    expect(place.state(0)?.attempts[0]?.error).toBe(
      "killed by SIGABRT: out of memory; NODE_OPTIONS=--max-old-space-size=MB gives each job more",
    );
  });

  test("nor do two sweeps at the same time, unless each has its own slots", async () => {
    const sweep = [
      "-m",
      "x=range(0,3)",
      "seconds=0.2",
      "hydra/launcher=local",
      "hydra.launcher.n_jobs=2",
      "+hydra.launcher.resources.gpu=[21,22]",
    ];
    const places = [workplace(), workplace()];
    const shared = await Promise.all(places.map(({ start }) => start(sweep)));
    expect(shared.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expectApart(places.flatMap(slotSpans));
    const holding = workplace();
    const long = holding.start([...sweep, "do=hold"]);
    await until(() => holding.ran("begin").length === 2);
    const own = workplace();
    expect((await own.start([...sweep, "hydra.launcher.slot_scope=sweep"])).exitCode).toBe(0);
    const other = workplace();
    const waiting = other.start(sweep);
    await said(waiting, "Waiting for a slot");
    expect(other.ran("begin")).toEqual([]);
    const third = workplace();
    const given = third.start(sweep);
    await said(given, "Waiting for a slot");
    given.kill("SIGINT");
    expect((await given).exitCode).toBe(130);
    expect(third.ran("begin")).toEqual([]);
    long.kill("SIGTERM");
    const { exitCode, stdout } = await waiting;
    expect([exitCode, (await long).exitCode]).toEqual([0, 143]);
    expect(stdout).toMatch(
      /Waiting for a slot of gpu: process \d+ holds 21 \(job #0 of the sweep in /,
    );
  });

  test("a worker that a killed launcher left keeps its slot", async () => {
    const place = workplace();
    const launcher = place.start([
      "-m",
      "do=hold,ok",
      "x=1,2",
      "hydra/launcher=local",
      "hydra.launcher.n_jobs=2",
      "+hydra.launcher.resources.gpu=[31,32]",
    ]);
    await until(() => place.ran("begin").length === 2);
    launcher.kill("SIGKILL");
    await launcher;
    const resumed = place.start(["--resume", "s", "hydra.launcher.n_jobs=4"]);
    // It follows both that go on: theirs are all the slots that there are.
    await said(resumed, "#1 : ");
    place.release();
    expect((await resumed).exitCode).toBe(0);
    expect([...place.ran("begin")].sort()).toEqual([0, 1, 2, 3]);
    expectApart(slotSpans(place));
  });

  test.each([
    ["exit", 3],
    ["crash", 1],
  ])("records a worker that ends by '%s'", async (how, code) => {
    const place = workplace();
    const { exitCode } = await place.launch(["-m", "x=1", `do=${how}`, ...LOCAL]);
    expect([exitCode, place.state(0)?.status]).toEqual([code, "failed"]);
  });

  describe.each(["local", "joblib", "local hydra.launcher.reuse_workers=true"])(
    "a sweep (%s) that cannot read its records any more",
    (launcher) => {
      const [chosen = "", ...settings] = launcher.split(" ");
      const argv = ["-m", "x=1,2,3", "do=hold", `hydra/launcher=${chosen}`, ...settings];

      test.each(["ELOOP", "EIO"] as const)(
        "%s: says so and ends, and its jobs go on",
        async (error) => {
          const place = workplace();
          const jobs = jobsFolder(place.folder);
          const env = error === "EIO" ? underPlan(".sweep/jobs") : {};
          const running = place.start([...argv, "hydra.launcher.n_jobs=2"], { env });
          await until(() => place.ran("begin").length === 2);
          const pids = [0, 1].map((number) => place.state(number)?.attempts[0]?.pid ?? 0);
          const mend = error === "EIO" ? failingDisk(env) : linkToItself(jobs);
          // Its launcher is told of the end, and looks at the record.
          process.kill(pids[0] ?? 0, "SIGKILL");
          const { exitCode, stderr } = await running;
          expect([exitCode, String(stderr)]).toEqual([1, expect.stringContaining(error)]);
          expect(stderr).toMatch(/^Jobs #0, #1 are left to their processes: '.* sweep wait/m);
          expect(existsSync(join(place.folder, "launcher.json"))).toBe(false);
          mend();
          place.release();
          await until(() => isRunning(identityOf(pids[1] ?? 0)) !== true);
          expect(place.state(1)?.status).toBe("completed");
          expect((await place.start(["--resume", "s"])).exitCode).toBe(0);
          expect([...place.ran("end")].sort()).toEqual([0, 1, 2]);
        },
      );
    },
  );

  test("a worker that somebody kills is stopped, the others run, and --resume runs its job", async () => {
    const place = workplace();
    const sweep = place.start([
      ...["-m", "x=1,2", "do=hold", "hydra/launcher=local"],
      ...["hydra.launcher.n_jobs=1", "hydra.launcher.max_retries=1"],
    ]);
    await until(() => place.ran("begin").includes(0));
    process.kill(place.state(0)?.attempts[0]?.pid ?? 0, "SIGKILL");
    place.release();
    const { exitCode, stderr } = await sweep;
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringMatching(/run the rest with node \S+prog\.cjs --resume s$/),
    ]);
    expect(stderr).not.toContain("--retry-failed");
    expect([place.state(0), place.state(1)]).toMatchObject([
      { status: "stopped", attempts: [{ exit_code: null, error: "killed by SIGKILL" }] },
      { status: "completed" },
    ]);
    expect((await place.start(["--resume", "s"])).exitCode).toBe(0);
    expect(place.ran("begin")).toEqual([0, 1, 0]);
    expect(place.state(0)?.status).toBe("completed");
  });

  test("a job that is done before its launcher has noted it stays done", async () => {
    const place = workplace();
    const { exitCode, stderr } = await place.startHooked(["-m", "x=1,2", ...LOCAL], {
      STALL_MS: "1500",
    });
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining("2 of 2")]);
    expect([0, 1].map((number) => place.state(number))).toMatchObject([
      { status: "completed", attempts: [{ exit_code: 0 }] },
      { status: "completed", attempts: [{ exit_code: 0 }] },
    ]);
    expect([...place.ran("begin")].sort()).toEqual([0, 1]);
  });

  test("a worker whose launcher is killed before it has noted it runs nothing", async () => {
    const place = workplace();
    const launcher = place.startHooked(["-m", "x=1,2", ...LOCAL], {
      STALL_MS: "Infinity",
      LOOKS: join(place.cwd, "looks"),
    });
    const log = join(place.folder, "jobs/0.log");
    // The worker has long begun to wait.
    await until(() => place.lines("looks").length > 2);
    launcher.kill("SIGKILL");
    await launcher;
    await until(() => readFileSync(log, "utf8").includes("nothing was run"));
    expect([place.ran("begin"), place.state(0)]).toEqual([[], undefined]);
    expect((await place.start(["--resume", "s"])).exitCode).toBe(0);
    expect([...place.ran("begin")].sort()).toEqual([0, 1]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGQUIT", 131],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("passes %s on to its workers and starts no other", async (signal, code) => {
    const place = workplace();
    const launcher = place.start(["-m", "x=1,2,3", "do=hold", ...LOCAL]);
    await until(() => place.ran("begin").length === 2);
    launcher.kill(signal);
    expect((await launcher).exitCode).toBe(code);
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
      const { exitCode, stderr } = await place.launch(["-m", ...LOCAL, override]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain(message);
    }
  });

  test("is what runs hydra/launcher=submitit_local", async () => {
    const place = workplace();
    const { exitCode, stdout } = await place.launch([
      "-m",
      "x=1,2",
      "hydra/launcher=submitit_local",
    ]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/Launching 2 jobs in \d process/);
  });

  test("as hydra/launcher=joblib says what that says, shows what jobs print, and names them so", async () => {
    const place = workplace();
    const joblib = [
      "hydra/launcher=joblib",
      "hydra.launcher.n_jobs=2",
      "hydra.launcher.timeout=60",
    ];
    const subdir = "hydra.sweep.subdir=${hydra:job.id}";
    const { exitCode, stdout } = await place.launch(["-m", "x=3,4", ...joblib, subdir]);
    expect(exitCode).toBe(0);
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.replace(/^\[[^\]]*\]/, ""));
    expect(lines.slice(0, 4)).toEqual([
      "[HYDRA] Joblib.Parallel(n_jobs=2,backend=loky,prefer=processes,require=None,verbose=0,timeout=60.0," +
        "pre_dispatch=2*n_jobs,batch_size=auto,temp_folder=None,max_nbytes=None,mmap_mode=r) is launching 2 jobs",
      "[HYDRA] Launching jobs, sweep output dir : s",
      "[HYDRA] \t#0 : x=3",
      "[HYDRA] \t#1 : x=4",
    ]);
    expect(lines.slice(4).sort()).toEqual(["x is 3", "x is 4"]);
    for (const [number, id] of ["prog_0", "prog_1"].entries()) {
      const saved = readFileSync(join(place.cwd, "s", id, ".hydra/hydra.yaml"), "utf8");
      expect(saved).toContain(`    id: ${id}\n    num: ${number}\n`);
    }
  });
});

interface Span {
  readonly gpu: string;
  readonly begin: number;
  readonly end: number;
}

/** When each job of a sweep had which slot, as the jobs themselves saw it. */
function slotSpans(place: ReturnType<typeof workplace>): readonly Span[] {
  const spans = new Map<string, Span>();
  for (const line of place.lines("ran.txt")) {
    const [kind = "", number = "", , gpu = "", time = ""] = line.split(" ");
    const span = spans.get(number) ?? { gpu, begin: 0, end: 0 };
    spans.set(number, { ...span, [kind]: Number(time) });
  }
  return [...spans.values()];
}

function expectApart(spans: readonly Span[]): void {
  for (const [index, one] of spans.entries())
    for (const other of spans.slice(index + 1))
      if (one.gpu === other.gpu)
        expect(one.end <= other.begin || other.end <= one.begin, JSON.stringify([one, other])).toBe(
          true,
        );
}
