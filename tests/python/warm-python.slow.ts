// Programs that share one import: of numpy and torch, and killed with their workers.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { readJobState } from "../../src/app/record/job-state.ts";
import { statOf } from "../../src/foundation/system/process-identity.ts";
import { commandPath } from "../e2e/command.ts";
import { until } from "../wait.ts";
import { program, project, STAND_IN_ENV, sweep } from "./warm-sweep.ts";

const DEBIAN = "/usr/bin/python3";

/** Whether Debian's Python has a module. */
function hasModule(name: string): boolean {
  const has = existsSync(DEBIAN) && spawnSync(DEBIAN, ["-c", `import ${name}`]).status === 0;
  if (!has) console.warn(`SKIPPED one import of ${name}: apt-get install python3-${name}`);
  return has;
}

const CHECK = 1;

describe.skipIf(!hasModule("numpy"))("numpy", () => {
  test("whose idle threads of OpenBLAS start again in each job", () => {
    const { imports, jobs } = sweep(
      program(
        `os.environ["OPENBLAS_NUM_THREADS"] = "2"
import numpy
numpy.ones((300, 300)) @ numpy.ones((300, 300))`,
        `square = numpy.ones((300, 300)) @ numpy.ones((300, 300))
return [square[0, 0].item(), numpy.random.rand()]`,
      ),
      ["x=1,2,3"],
      [DEBIAN, "train.py"],
    );
    expect(jobs).toMatchObject(Array(3).fill({ status: "completed" }));
    const results = jobs.map(({ result }) => result as readonly [number, number]);
    expect(results.map(([sum]) => sum)).toEqual([300, 300, 300]);
    // Nobody has seeded them.
    expect(new Set(results.map(([, random]) => random)).size).toBe(3);
    expect(imports).toBe(CHECK + 1);
  });

  test("of which the import seeds the random numbers", () => {
    const { jobs } = sweep(
      program("import numpy\nnumpy.random.seed(1)", "return numpy.random.rand()"),
      ["x=1,2"],
      [DEBIAN, "train.py"],
    );
    expect(jobs.map(({ result }) => result)).toEqual([0.417022004702574, 0.417022004702574]);
  });
});

describe.skipIf(!hasModule("torch"))("torch", () => {
  test("is imported once in each worker for 20 jobs", () => {
    const { imports, jobs } = sweep(
      program("import torch", "return (torch.ones(500, 500) @ torch.ones(500, 500)).mean().item()"),
      ["x=range(20)", "hydra/launcher=local", "hydra.launcher.n_jobs=2"],
      [DEBIAN, "train.py"],
    );
    expect(jobs.map(({ result }) => result)).toEqual(Array(20).fill(500));
    expect(imports).toBe(CHECK + 2);
  });

  test("that has computed in threads of OpenMP while it is imported is imported by each job", () => {
    const { imports, jobs, stderr } = sweep(
      program(
        "import torch\ntorch.set_num_threads(2)\nhead = torch.ones(2000, 2000).add(1).sum()",
        "return torch.ones(2000, 2000).add(1).mean().item()",
      ),
      ["x=1,2"],
      [DEBIAN, "train.py"],
    );
    expect(jobs.map(({ result }) => result)).toEqual([2, 2]);
    expect(stderr).toContain("the program has started threads while it is imported");
    expect(imports).toBe(CHECK + 2);
  });
});

const isAlive = (pid: number): boolean => statOf(String(pid))?.isDead === false;

/** A sweep whose first job waits for the file `go`, and the processes of it. */
async function running() {
  const cwd = project(
    program(
      "",
      `with open("pids", "w") as file:
    file.write("%d %d\\n" % (os.getpid(), os.getppid()))
while not os.path.exists("go"):
    time.sleep(0.02)
return cfg.x`,
    ),
  );
  const launcher = execa(
    process.execPath,
    [
      ...[commandPath("hydraconf"), "run", "-m", "x=1,2", "hydra.sweep.dir=s"],
      ...["hydra/launcher=local", "hydra.launcher.n_jobs=1", "--", "python3", "train.py"],
    ],
    { cwd, env: STAND_IN_ENV, reject: false },
  );
  const noted = join(cwd, "pids");
  const read = (): string => (existsSync(noted) ? readFileSync(noted, "utf8") : "");
  await until(() => read().endsWith("\n"));
  const [job = 0, interpreter = 0] = read().trim().split(" ").map(Number);
  const worker = readJobState(join(cwd, "s/.sweep"), 0)?.attempts.at(-1)?.pid ?? 0;
  return { cwd, interpreter, job, launcher, worker };
}

describe("the processes of a sweep", () => {
  test("end with their worker, also where the launcher was killed before", async () => {
    const { cwd, interpreter, job, launcher, worker } = await running();
    launcher.kill("SIGKILL");
    await launcher;
    expect([isAlive(job), isAlive(interpreter)]).toEqual([true, true]);
    process.kill(worker, "SIGKILL");
    await until(() => !isAlive(job) && !isAlive(interpreter));
    expect(readJobState(join(cwd, "s/.sweep"), 0)?.status).toBe("running");
    writeFileSync(join(cwd, "go"), "");
    const resumed = await execa(
      process.execPath,
      [commandPath("hydraconf"), "run", "--resume", "s"],
      { cwd, env: STAND_IN_ENV },
    );
    expect(resumed.stderr).toContain("2 of 2 jobs completed");
  });

  test("end where the sweep is stopped", async () => {
    const { cwd, interpreter, job, launcher, worker } = await running();
    launcher.kill("SIGTERM");
    await launcher;
    await until(() => ![interpreter, job, worker].some(isAlive));
    expect(readJobState(join(cwd, "s/.sweep"), 0)?.status).toBe("stopped");
  });

  test("go on to the end of the job where the launcher is killed", async () => {
    const { cwd, interpreter, job, launcher, worker } = await running();
    launcher.kill("SIGKILL");
    await launcher;
    writeFileSync(join(cwd, "go"), "");
    await until(() => ![interpreter, job, worker].some(isAlive));
    expect(readJobState(join(cwd, "s/.sweep"), 0)).toMatchObject({
      status: "completed",
      return_value: 1,
    });
  });

  test("fail as a job where the interpreter is killed", async () => {
    const { cwd, interpreter, job, launcher } = await running();
    process.kill(interpreter, "SIGKILL");
    await until(() => !isAlive(job));
    writeFileSync(join(cwd, "go"), "");
    await launcher;
    const status = (number: number) => readJobState(join(cwd, "s/.sweep"), number)?.status;
    expect([status(0), status(1)]).toEqual(["stopped", "completed"]);
  });
});
