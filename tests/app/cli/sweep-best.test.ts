import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BestView, wordsOfRun } from "../../../src/app/cli/sweep-best.ts";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import { studentT95 } from "../../../src/app/sweep/best.ts";
import { capturedConsole } from "../../captured-console.ts";
import { workplace } from "../sweep/program/start.ts";
import { program } from "./program.ts";

const SWEEP = "hydra: {sweep: {dir: s, subdir: '${hydra:job.num}'}}\n";

const CONFIG = { "conf/config.yaml": `x: 1\nseed: 0\nname: a\nmode: minimize\n${SWEEP}` };

async function best(cwd: string, ...args: readonly string[]) {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  expect(await runSweepCommand(["best", "s", ...args], invocation)).toBe(0);
  return out.stdout;
}

const bestView = async (cwd: string, ...args: readonly string[]): Promise<BestView> =>
  JSON.parse(await best(cwd, "--json", ...args));

/** The arguments that a shell gives the program. */
const wordsIn = (command: string | null | undefined): readonly string[] =>
  execFileSync("sh", ["-c", `prog() { printf '%s\\0' "$@"; }; ${command}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

const numbers = ({ best }: BestView) => best.map(({ jobs }) => jobs);

test("of a search it shows the best job by the search's own settings, and what runs it again", async () => {
  const { cwd, run } = program(CONFIG);
  await run(
    [
      "-m",
      "hydra/sweeper=random",
      "hydra.sweeper.n_trials=8",
      "hydra.sweeper.seed=1",
      "hydra.sweeper.objective=val.loss",
      "hydra.sweeper.direction=${mode}",
      "mode=maximize",
      "x=interval(0,1)",
      "name='it\\'s','$HOME a b'",
    ],
    (config) => ({ val: { loss: Number(config.get("x")) } }),
  );
  const view = await bestView(cwd);
  const [one] = view.best;
  expect(view).toMatchObject({ directions: ["maximize"], objective: "val.loss", judged: 8 });
  const results = readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8");
  expect(results).toContain(`best_value: ${one?.values[0]}\n`);
  expect(one?.intervals).toBeNull();
  const text = await best(cwd);
  expect(text).toBe(
    `Best of 8 jobs (maximize val.loss):\n#${one?.jobs[0]} ${one?.overrides.join(" ")}: ${one?.values[0]}\n  ${one?.command}\n`,
  );
  const configs: unknown[] = [];
  const again = await run(wordsIn(one?.command), (config) => {
    configs.push([config.get("x"), config.get("name"), config.get("mode")]);
  });
  expect(again.exitCode).toBe(0);
  expect(configs).toEqual([[one?.swept["x"], one?.swept["name"], "maximize"]]);
});

test("the command line has the values of the job, whatever they are", async () => {
  const { cwd, run } = program(CONFIG);
  const texts = fc.sample(fc.string({ minLength: 1, maxLength: 8, unit: "grapheme" }), {
    numRuns: 20,
    seed: 4,
  });
  let tried = 0;
  for (const text of [...texts, "a'b", '"', "$(x)", "`", "!", "\\", "a\nb", "~", "-m"]) {
    const value = `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    const began = await run(["-m", `name=${value}`, "x=1,2"], (config) => config.get("x"));
    // The grammar of overrides refuses some characters.
    if (began.exitCode !== 0) continue;
    tried++;
    const { best } = await bestView(cwd);
    const seen: unknown[] = [];
    await run(wordsIn(best[0]?.command), (config) => {
      seen.push(config.get("name"), config.get("x"));
    });
    expect(seen).toEqual([best[0]?.swept["name"], 1]);
  }
  expect(tried).toBeGreaterThan(20);
});

test("of several directions it shows the Pareto front", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=0,1,2,3"], (config) => {
    const x = Number(config.get("x"));
    return { loss: x, score: [1, 5, 4, 6][x] ?? 0 };
  });
  const judged = ["--objective", "loss,score", "--direction", "minimize,maximize"];
  expect(numbers(await bestView(cwd, ...judged))).toEqual([[0], [1], [3]]);
  expect(await best(cwd, ...judged)).toMatch(
    /^3 jobs that no other is better than, of 4 jobs \(minimize loss, maximize score\):\n#0 x=0: 0\.0, 1\.0\n/,
  );
  expect(numbers(await bestView(cwd, "--objective", "loss,score"))).toEqual([[0]]);
});

test("jobs with the same overrides are judged by their mean, with its interval", async () => {
  const { cwd, run } = program(CONFIG);
  const values = [5, 1, 3];
  await run(["-m", "x=5,1,1"], (_, { number }) => values[number ?? 0]);
  const { best: shown } = await bestView(cwd);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({ jobs: [1, 2], values: [2] });
  const [low = 0, high = 0] = shown[0]?.intervals?.[0] ?? [];
  expect([low, high].map((end) => end.toFixed(4))).toEqual(["-10.7062", "14.7062"]);
  expect(await best(cwd)).toContain("#1 #2 x=1: mean of 2: 2.0 (95 %: -10.7062 to 14.7062)\n");
});

test("--average-over judges repetitions together, and their command is that of the first", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2", "seed=1,2,3"], (config) =>
    // The luckiest job has the worse x.
    Number(config.get("x")) === 1 ? [0, 9, 9][Number(config.get("seed")) - 1] : 4,
  );
  expect(numbers(await bestView(cwd))).toEqual([[0]]);
  const { best: shown } = await bestView(cwd, "--average-over", "seed");
  expect(shown).toMatchObject([{ jobs: [3, 4, 5], values: [4], swept: { x: 2 } }]);
  expect(wordsIn(shown[0]?.command)).toEqual(["x=2", "seed=1"]);
  await expect(best(cwd, "--average-over", "sed")).rejects.toThrow(
    "--average-over: no job has an override of 'sed'",
  );
});

test("with a budget only the jobs of the largest one count", async () => {
  const { cwd, run } = program(CONFIG);
  await run(
    [
      "-m",
      "hydra/sweeper=successive_halving",
      "hydra.sweeper.budget_key=+epochs",
      "hydra.sweeper.min_budget=1",
      "hydra.sweeper.max_budget=9",
      "hydra.sweeper.seed=2",
      "x=interval(0,1)",
    ],
    // Smaller budgets have better numbers.
    (config) => Number(config.get("x")) + Number(config.get("epochs")),
  );
  const { best: shown } = await bestView(cwd);
  expect(shown[0]?.swept["epochs"]).toBe(9);
  expect(readFileSync(join(cwd, "s/optimization_results.yaml"), "utf8")).toContain(
    `best_value: ${shown[0]?.values[0]}\n`,
  );
});

test("a sweep without numbers is told so, with what to do", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2"], (config) => ({ loss: config.get("x"), name: "a" }));
  await expect(best(cwd)).rejects.toMatchObject({
    code: "app.objective",
    message: `No job of the sweep in '${join(cwd, "s")}' has a number to judge it by: job #0: the value that the task returned is not a finite number but an object (there is loss) (and 1 more)`,
    details: { hint: expect.stringContaining("--objective loss;") },
  });
  expect(numbers(await bestView(cwd, "--objective", "loss"))).toEqual([[0]]);
  await expect(
    best(cwd, "--objective", "loss", "--direction", "minimize,maximize"),
  ).rejects.toThrow("--objective names 1 key, but there are 2 directions: minimize, maximize");
  await run(["-m", "x=1", "hydra.sweep.dir=s"], () => {
    throw new Error("boom");
  });
  await expect(best(cwd)).rejects.toMatchObject({
    code: "app.sweep_record",
    message: `No job of the sweep in '${join(cwd, "s")}' is completed`,
  });
});

test("jobs without a number are counted beside those that have one", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2,3"], (config) => (config.get("x") === 1 ? Number.NaN : config.get("x")));
  expect(await best(cwd)).toMatch(
    /^Best of 2 jobs, 1 more without a number \(minimize\):\n#1 x=2: 2\.0\n/,
  );
});

test("a sweep with a secret among its overrides has no command", async () => {
  const password = { type: ["string", "null"], writeOnly: true };
  const schema = { properties: { password } };
  const files = { "conf/config.yaml": `x: 1\npassword: null\n${SWEEP}` };
  const { cwd, run } = program(files, { schema });
  await run(["-m", "x=2,1", "password=sesame-sesame"], (config) => config.get("x"));
  const { best: shown } = await bestView(cwd);
  expect(shown).toMatchObject([{ jobs: [1], command: null }]);
  const text = await best(cwd);
  expect(text).toContain("cannot be run again from here: its command line held a secret");
  expect(text + JSON.stringify(shown)).not.toContain("sesame");
});

test("the command runs the job in a shell, from any directory", async () => {
  const place = workplace();
  await place.start(["--fast", "-m", "x=3,2", "hydra/launcher=local", "--", "one", "two words"]);
  const shown = await place.sweep(["best", join(place.cwd, "s"), "--objective", "square"], {
    cwd: "/",
  });
  const command = String(shown.stdout).split("\n")[2]?.trim() ?? "";
  expect(command).toMatch(/^cd \S+ && .* --fast x=2 -- one 'two words'$/);
  const before = place.ran("end").length;
  execFileSync("sh", ["-c", command], { cwd: "/", stdio: "ignore" });
  expect(place.lines("ran.txt").filter((line) => line.startsWith("end undefined "))).toHaveLength(
    1,
  );
  expect(place.ran("end")).toHaveLength(before + 1);
});

test.each([
  [["-m", "x=1,2"], ["x=1,2"], ["x=1"]],
  [["-cn", "other", "--multirun", "x=1,2", "--detach"], ["x=1,2"], ["-cn", "other", "x=1"]],
  [["--pass", "env", "-m", "x=1,2"], ["x=1,2"], ["--pass", "env", "x=1"]],
  [
    ["-m", "hydra.job.chdir=true", "hydra/launcher=slurm", "x=1,2"],
    ["hydra.job.chdir=true", "hydra/launcher=slurm", "x=1,2"],
    ["hydra.job.chdir=true", "x=1"],
  ],
  // The sweep behind the program.
  [
    ["--", "python", "-m", "train", "-m", "x=1,2", "--own"],
    ["x=1,2"],
    ["x=1", "--", "python", "-m", "train", "--own"],
  ],
  [["-m", "x=1,2", "--", "prog", "-m", "x=1,2"], ["x=1,2"], ["x=1", "--", "prog", "-m", "x=1,2"]],
  [["hydra.mode=MULTIRUN", "x=1,2"], ["hydra.mode=MULTIRUN", "x=1,2"], ["x=1"]],
  // A config file has the mode.
  [["x=1,2"], ["x=1,2"], ["x=1", "hydra.mode=RUN"]],
])("of a sweep by %j one job is run by other words", (argv, overrides, words) => {
  const ofHydra = overrides.filter((override) => override.startsWith("hydra"));
  const job = { overrides: [...ofHydra, "hydra.mode=MULTIRUN", "x=1"], task_overrides: ["x=1"] };
  const manifest = { overrides, program: { name: "prog", command: null, argv } };
  expect(wordsOfRun(manifest, job, job.task_overrides)).toEqual(words);
});

// Tables of Student's t, two-sided 5 %.
test.each([
  [1, 12.7062],
  [2, 4.3027],
  [3, 3.1824],
  [4, 2.7764],
  [9, 2.2622],
  [30, 2.0423],
  [100, 1.984],
])("Student's t with %i degrees of freedom", (freedom, t) => {
  expect(studentT95(freedom)).toBeCloseTo(t, 4);
});
