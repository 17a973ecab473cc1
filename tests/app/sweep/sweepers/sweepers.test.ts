import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Task } from "../../../../src/app/job/job.ts";
import { program } from "../../cli/program.ts";

const FILES = {
  "conf/config.yaml":
    "x: 0.0\nmodel: a\nepochs: 1\nhydra:\n  sweep: {dir: s, subdir: '${hydra:job.num}'}\n",
  "conf/space.yaml":
    "defaults: [config]\nhydra:\n  sweeper:\n    params:\n      x: tag(log, interval(1e-3, 1))\n",
};

const RANDOM = [
  "-m",
  "hydra/sweeper=random",
  "hydra.sweeper.seed=1",
  "x=interval(-1,1)",
  "model=a,b",
];

/** Runs a sweep of (x - 0.25)², a little worse for model b, and notes the jobs. */
async function sweep(
  args: readonly string[],
  task: Task = (config) =>
    (Number(config.get("x")) - 0.25) ** 2 + (config.get("model") === "b" ? 0.01 : 0),
) {
  const { cwd, run } = program(FILES);
  const jobs: { overrides: string; result: unknown }[] = [];
  const outcome = await run(args, async (config, job) => {
    const entry = { overrides: job.overrides.join(" "), result: undefined as unknown };
    jobs.push(entry);
    entry.result = await task(config, job);
    return entry.result;
  });
  const file = join(cwd, "s/optimization_results.yaml");
  return {
    ...outcome,
    cwd,
    jobs,
    results: existsSync(file) ? readFileSync(file, "utf8") : undefined,
  };
}

describe("hydra/sweeper=random", () => {
  test("says that there is no best trial where all have failed, and may", async () => {
    const tolerant = [...RANDOM, "hydra.sweeper.n_trials=3", "hydra.sweeper.max_failure_rate=1"];
    const { exitCode, jobs, results, stdout } = await sweep(tolerant, () => {
      throw new Error("boom");
    });
    expect([exitCode, jobs.length, results]).toEqual([1, 3, undefined]);
    expect(stdout).toContain(
      "No trial has a result (3 trials, 3 failed), so there is no best one, and no optimization_results.yaml",
    );
  });

  test("draws n_trials jobs, and writes down the best as Hydra's optuna sweeper does", async () => {
    const { exitCode, jobs, results, stdout } = await sweep([
      ...RANDOM,
      "hydra.sweeper.n_trials=8",
    ]);
    expect([exitCode, jobs.length]).toEqual([0, 8]);
    const best = jobs.reduce((a, b) => (Number(b.result) < Number(a.result) ? b : a));
    const [x, model] = best.overrides.split(" ").map((text) => text.split("=")[1]);
    expect(results).toBe(
      `name: random\nbest_params:\n  x: ${x}\n  model: ${model}\nbest_value: ${best.result}\n`,
    );
    expect(stdout).toContain(`Best of 8 trials: ${best.overrides} with ${best.result}`);
    expect(stdout.match(/Launching 8 jobs locally/g)).toHaveLength(1);
  });

  test("is the same for the same seed, whatever the size of its batches; other seeds differ", async () => {
    const overrides = async (...more: string[]) =>
      (await sweep([...RANDOM, "hydra.sweeper.n_trials=5", ...more])).jobs.map(
        (job) => job.overrides,
      );
    const first = await overrides();
    expect(await overrides("hydra.sweeper.n_jobs=2")).toEqual(first);
    expect(await overrides("hydra.sweeper.seed=2")).not.toEqual(first);
  });

  test("maximizes, and takes the objective from a key of what the task returns", async () => {
    const { results } = await sweep(
      [...RANDOM, "hydra.sweeper.direction=maximize", "hydra.sweeper.objective=val.acc"],
      (config) => ({ val: { acc: config.get("x") }, loss: 0 }),
    );
    const value = Number(/best_value: (.*)/.exec(results ?? "")?.[1]);
    expect(results).toContain(`  x: ${value}\n`);
    expect(value).toBeGreaterThan(0.5);
  });

  test("failed jobs: more than max_failure_rate of a batch end the sweep, fewer are named", async () => {
    const failing: Task = (config) => {
      if (config.get("model") === "b") throw new Error("boom");
      return Number(config.get("x"));
    };
    const strict = await sweep([...RANDOM, "hydra.sweeper.n_jobs=4"], failing);
    expect([strict.exitCode, strict.jobs.length]).toEqual([1, 4]);
    expect(strict.stderr).toContain("Error executing job with overrides");
    const lenient = await sweep([...RANDOM, "hydra.sweeper.max_failure_rate=0.9"], failing);
    expect([lenient.exitCode, lenient.jobs.length]).toEqual([0, 20]);
    expect(lenient.stderr).toMatch(/^#\d+ .* boom +s\/\d+$/m);
    expect(lenient.stdout).toMatch(/Best of 20 trials, \d+ failed: x=/);
    expect(lenient.results).toContain("model: a\n");
  });

  test("a task that returns no number is told so", async () => {
    const { exitCode, stderr } = await sweep(RANDOM, () => ({ loss: 1 }));
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "job #0: the value that the task returned is not a finite number but an object (there is loss)",
    );
    expect(stderr).toContain("hydra.sweeper.objective");
    const nothing = await sweep([...RANDOM, "hydra.sweeper.objective=acc"], () => ({ loss: 1 }));
    expect(nothing.stderr).toContain(
      "'acc' in the value that the task returned is not a finite number but nothing (there is loss)",
    );
    const nested = await sweep(RANDOM, () => ({ loss: { val: 1, train: { all: 2 } }, name: "a" }));
    expect(nested.stderr).toContain("an object (there is loss.val, loss.train.all)");
    const texts = await sweep(RANDOM, () => ({ name: "a", of: {} }));
    expect(texts.stderr).toContain("an object (there is name, of)");
    const model = { name: "net", layers: [{ size: 3 }] };
    const cyclic = await sweep(RANDOM, () => ({
      model: Object.assign(model, { self: model }),
      loss: 1,
    }));
    expect(cyclic.stderr).toContain("an object (there is loss)");
  });

  test("a misspelt objective is corrected when the sweep goes on: what is done counts", async () => {
    const { cwd, run } = program(FILES);
    const jobs: number[] = [];
    const play = (...argv: readonly string[]) =>
      run(argv, (config, job) => {
        jobs.push(job.number ?? -1);
        return { loss: Number(config.get("x")) ** 2, acc: 1 };
      });
    const argv = ["hydra.sweeper.n_trials=4", "hydra.sweeper.n_jobs=2"];
    const wrong = await play(...RANDOM, ...argv, "hydra.sweeper.objective=los");
    expect([wrong.exitCode, jobs]).toEqual([1, [0, 1]]);
    expect(wrong.stderr).toContain(
      "'los' in the value that the task returned is not a finite number",
    );
    expect(wrong.stderr).toContain(`--resume ${join(cwd, "s")} hydra.sweeper.objective=KEY`);
    const other = await play("--resume", "s", "hydra.sweeper.seed=9");
    expect([other.exitCode, other.stderr]).toEqual([
      2,
      expect.stringContaining("hydra.sweeper.objective"),
    ]);
    const right = await play("--resume", "s", "hydra.sweeper.objective=loss");
    expect([right.exitCode, right.stderr, jobs]).toEqual([0, "", [0, 1, 2, 3]]);
    // It stays corrected.
    expect((await play("--resume", "s")).stdout).toMatch(/Best of 4 trials: x=.* with 0/);
    expect(jobs).toHaveLength(4);
  });

  test.each([
    ["NaN", Number.NaN],
    ["-Infinity", Number.NEGATIVE_INFINITY],
    ["NaN", "NaN"],
  ])(
    "a float that is %s is told as one, and its hint lets the search go on",
    async (float, value) => {
      const { cwd, run } = program(FILES);
      const jobs: number[] = [];
      const play = (...argv: readonly string[]) =>
        run(argv, (config, job) => {
          jobs.push(job.number ?? -1);
          return { loss: job.number === 1 ? value : Number(config.get("x")) ** 2 };
        });
      const first = await play(
        ...RANDOM,
        ...["hydra.sweeper.n_trials=4", "hydra.sweeper.n_jobs=2", "hydra.sweeper.objective=loss"],
      );
      expect([first.exitCode, jobs]).toEqual([1, [0, 1]]);
      expect(first.stderr).toContain(
        `job #1: 'loss' in the value that the task returned is not a finite number but the float ${float}`,
      );
      expect(first.stderr).not.toContain("objective=KEY");
      expect(first.stderr).toContain(`--retry-failed ${join(cwd, "s")} runs the job again`);
      const [, given = ""] = /; (--resume \S+ \S+) continues/.exec(first.stderr) ?? [];
      const resumed = await play(...given.split(" "));
      expect([resumed.exitCode, jobs]).toEqual([0, [0, 1, 2, 3]]);
      expect(resumed.stdout).toMatch(/Best of 4 trials, 1 failed: x=/);
    },
  );

  test("trials of a space that has no dimension are told as such", async () => {
    const argv = ["-m", "hydra/sweeper=random", "hydra.sweeper.n_trials=2", "x=2"];
    const { results, stdout } = await sweep(argv, () => 4);
    expect(stdout).toMatch(/Best of 2 trials: 4\.0 \(nothing was swept\)\n/);
    expect(results).toContain("best_params: {}\n");
  });

  test.each([
    ["hydra.sweeper.direction=up", "must be minimize or maximize, not 'up'"],
    ["hydra.sweeper.direction=[]", "must name a direction"],
    ["hydra.sweeper.n_trials=0", "n_trials must be at least 1"],
    ["hydra.sweeper.max_failure_rate=-1", "max_failure_rate must be at least 0"],
    ["hydra.sweeper.exclude=[{model: '*'}]", "left none"],
    ["hydra.sweeper.n_jobs=0", "n_jobs must be at least 1"],
  ])("%s is refused before anything runs", async (override, problem) => {
    const { exitCode, jobs, stderr } = await sweep([...RANDOM, override]);
    expect([exitCode, jobs]).toEqual([1, []]);
    expect(stderr).toContain(problem);
  });

  test("several directions: a number for each, and all trials that none is better than", async () => {
    const argv = [...RANDOM, "hydra.sweeper.direction=[minimize,maximize]"];
    const task: Task = (config) => {
      const x = Number(config.get("x"));
      return [x ** 2, x];
    };
    const { exitCode, jobs, results, stdout } = await sweep(argv, task);
    expect([exitCode, jobs.length]).toEqual([0, 20]);
    const values = jobs.map(({ result }) => result as readonly [number, number]);
    const front = values.filter(
      ([loss, gain]) =>
        !values.some(
          (other) => other[0] <= loss && other[1] >= gain && (other[0] < loss || other[1] > gain),
        ),
    );
    const written = [...(results ?? "").matchAll(/values:\n {2}- (\S+)\n {2}- (\S+)/g)];
    expect(written.map(([, ...pair]) => pair.map(Number))).toEqual(front);
    expect(stdout).toMatch(/Best of 20 trials: x=.* and \d+ others that none is better than/);
    const named = await sweep([...argv, "hydra.sweeper.objective=[loss,x]"], (config) => {
      const x = Number(config.get("x"));
      return { loss: x ** 2, x };
    });
    expect(named.results).toBe(results);
    const single = await sweep(argv);
    expect(single.exitCode).toBe(1);
    expect(single.stderr).toContain("is not a list of 2 numbers but");
  });

  test("an interval needs such a sweeper", async () => {
    const { stderr } = await sweep(["-m", "x=interval(0,1)"]);
    expect(stderr).toContain("hydra/sweeper=random");
  });
});

const HALVING = [
  "-m",
  "hydra/sweeper=successive_halving",
  "hydra.sweeper.budget_key=epochs",
  "hydra.sweeper.min_budget=1",
  "hydra.sweeper.max_budget=9",
  "hydra.sweeper.seed=1",
  "x=interval(-1,1)",
];

describe("hydra/sweeper=successive_halving", () => {
  test("spends more on what does well; the best has the largest budget", async () => {
    const { exitCode, jobs, results } = await sweep(HALVING);
    expect(exitCode).toBe(0);
    const epochs = jobs.map(({ overrides }) => Number(/epochs=(\d+)/.exec(overrides)?.[1]));
    expect(epochs).toEqual([1, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 9]);
    const last = jobs.at(-1);
    const least = Math.min(...jobs.map(({ result }) => Number(result)));
    expect(last?.result).toBe(least);
    expect(results).toContain("name: successive_halving\n");
    expect(results).toContain(`best_value: ${least}\n`);
    expect(results).not.toContain("epochs");
  });

  test("batches of n_jobs change nothing but the batches", async () => {
    const whole = (await sweep(HALVING)).jobs;
    const cut = await sweep([...HALVING, "hydra.sweeper.n_jobs=2"]);
    expect(cut.jobs).toEqual(whole);
    expect(cut.stdout.match(/Launching \d jobs? locally/g)).toEqual(
      [2, 2, 2, 2, 1, 2, 1, 1].map((count) => `Launching ${count} jobs locally`),
    );
  });

  test("--dry-run shows the first rung and says what depends on results; nothing is made", async () => {
    const { cwd, exitCode, stdout } = await sweep([...HALVING, "--dry-run"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("9 jobs would run in");
    expect(stdout).toContain(
      "Which trials continue depends on results: 3 with epochs=3, then 1 with epochs=9.\n",
    );
    expect(readdirSync(cwd)).toEqual(["conf"]);
    const json = await sweep([...HALVING, "--dry-run", "--json"]);
    expect(JSON.parse(json.stdout).note).toMatch(/^Which trials/);
    expect(JSON.parse((await sweep([...RANDOM, "--dry-run", "--json"])).stdout).jobs).toHaveLength(
      20,
    );
  });

  test.each([
    [["hydra.sweeper.budget_key=x"], "is 'x', which the sweep also sets"],
    [["hydra.sweeper.min_budget=0"], "min_budget must be above 0"],
    [["hydra.sweeper.max_budget=0.5"], "max_budget must be at least min_budget"],
    [["hydra.sweeper.eta=1"], "eta must be at least 2"],
    [["hydra.sweeper.min_budget=few"], "min_budget must be a number"],
  ])("%s is refused", async (overrides, problem) => {
    const { exitCode, jobs, stderr } = await sweep([...HALVING, ...overrides]);
    expect([exitCode, jobs]).toEqual([1, []]);
    expect(stderr).toContain(problem);
  });

  test("the budget must be given", async () => {
    const { stderr } = await sweep(["-m", "hydra/sweeper=successive_halving", "x=interval(0,1)"]);
    expect(stderr).toContain("hydra.sweeper.budget_key");
  });

  test("there is one direction", async () => {
    const { exitCode, stderr } = await sweep([
      ...HALVING,
      "hydra.sweeper.direction=[minimize,maximize]",
    ]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("hydra.sweeper.direction has several directions");
  });
});
