import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import type { ComparisonView } from "../../../src/app/cli/sweep-compare.ts";
import type { ConfigError } from "../../../src/engine/values/errors.ts";
import { capturedConsole } from "../../captured-console.ts";
import { program } from "./program.ts";

const CONFIG = { "conf/config.yaml": "x: 1\nbase: 0\nhydra: {sweep: {dir: s}}\n" };

async function compare(cwd: string, ...args: readonly string[]) {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd, now: new Date(), console };
  const exitCode = await runSweepCommand(["compare", ...args], invocation);
  return { ...out, exitCode };
}

async function threeSweeps() {
  const { cwd, run } = program(CONFIG);
  const loss = (offset: number) => (config: { get(key: string): unknown }) => ({
    loss: (Number(config.get("x")) - 2) ** 2 + offset,
  });
  await run(["-m", "x=1,2,3", "hydra.sweep.dir=a"], loss(0));
  await run(["-m", "x=1,2,3,4", "hydra.sweep.dir=b"], loss(-0.5));
  await run(["-m", "x=8,9", "hydra.sweep.dir=c"], loss(0));
  return cwd;
}

test("shows the best of each sweep, and how jobs with the same overrides differ", async () => {
  const cwd = await threeSweeps();
  const { exitCode, stdout } = await compare(cwd, "a", "b", "c", "--objective", "loss");
  expect(exitCode).toBe(0);
  const rows = stdout.split("\n").filter((line) => !line.startsWith("---"));
  expect(rows.map((line) => line.replaceAll(/ +/g, " ").trim())).toEqual([
    "| Sweep | Jobs | Completed | Seconds | Best (minimize loss) | Job |",
    expect.stringMatching(/^\| a \| 3 \| 3 \| \d+\.\d \| 0\.0 \| #1 x=2 \|$/),
    expect.stringMatching(/^\| b \| 4 \| 4 \| \d+\.\d \| -0\.5 \| #1 x=2 \|$/),
    expect.stringMatching(/^\| c \| 2 \| 2 \| \d+\.\d \| 36\.0 \| #0 x=8 \|$/),
    "b: 3 jobs have the same overrides as in the first sweep; mean difference -0.5 (95 %: -0.5 to -0.5)",
    "c: no job has the same overrides as one of the first sweep",
    "",
  ]);
});

test("gives the same as data", async () => {
  const cwd = await threeSweeps();
  const json = ["--objective", "loss", "--direction", "maximize", "--json"];
  const view: ComparisonView = JSON.parse((await compare(cwd, "a", "b", ...json)).stdout);
  expect(view).toMatchObject({
    version: 1,
    objective: "loss",
    directions: ["maximize"],
    sweeps: [
      { directory: join(cwd, "a"), jobs: 3, judged: 3, best: [{ jobs: [0] }], common: null },
      { best: [{ jobs: [3] }], common: { count: 3, differences: [-0.5] } },
    ],
  });
});

test("writes a page with all of them, with links to their jobs", async () => {
  const cwd = await threeSweeps();
  const { stderr } = await compare(cwd, "a", "b", "--objective", "loss", "--page", "out/both.html");
  expect(stderr).toBe("The page: out/both.html\n");
  const html = readFileSync(join(cwd, "out/both.html"), "utf8");
  const data = JSON.parse(/id="data">(.*?)<\/script>/s.exec(html)?.[1] ?? "null");
  expect(data).toMatchObject({ sweeps: ["a", "b"], sweep: [0, 0, 0, 1, 1, 1, 1] });
  expect(data.judgement).toEqual([{ column: "loss", direction: "minimize" }]);
  const files = data.links.files.map((at: number) => data.texts[at]);
  expect(files.at(-1)).toBe("../b/3");
  for (const path of files) expect(existsSync(join(cwd, "out", path))).toBe(true);
});

test("says why a sweep is not compared whose jobs return another thing than those of the first", async () => {
  const { cwd, run } = program(CONFIG);
  const x = (config: { get(key: string): unknown }) => Number(config.get("x"));
  await run(["-m", "x=1,2", "hydra.sweep.dir=a"], x);
  await run(["-m", "x=1,2", "hydra.sweep.dir=b"], (config) => ({ loss: x(config) }));
  await run(["-m", "x=2,3", "hydra.sweep.dir=c"], x);
  const { exitCode, stdout } = await compare(cwd, "a", "b", "c");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^\| a .* 1\.0 .*#0 x=1 .*\n\| b +\| 2 +\| 2 .*\n\| c .* 2\.0 /m);
  expect(stdout).toMatch(
    /^b: not compared: No job of the sweep in '.*b' has a number to judge it by: job #0: .*\(there is loss\).*\n {2}Hint: no key has a number in all of these sweeps/m,
  );
  expect(stdout).toContain("c: 1 job has the same overrides as in the first sweep");
  const view: ComparisonView = JSON.parse((await compare(cwd, "a", "b", "--json")).stdout);
  expect(view.sweeps).toMatchObject([
    { problem: null },
    {
      jobs: 2,
      completed: 2,
      judged: 0,
      best: [],
      common: null,
      problem: expect.stringMatching(/^No job/),
    },
  ]);
  await expect(compare(cwd, "b", "a")).rejects.toThrow(/No job of the sweep in '.*b' has a number/);
});

test("without an objective the hint is the comparison by the only key that all return", async () => {
  const { cwd, run } = program(CONFIG);
  const x = (config: { get(key: string): unknown }) => Number(config.get("x"));
  await run(["-m", "x=1,2", "hydra.sweep.dir=a"], (config) => ({ loss: x(config), size: 1 }));
  await run(["-m", "x=1,2", "hydra.sweep.dir=b"], (config) => ({ loss: x(config) }));
  const hintOf = (...argv: string[]) =>
    compare(cwd, ...argv).then(
      () => "",
      (error: ConfigError) => error.details.hint,
    );
  expect(await hintOf("a", "b")).toBe(
    `name the key of a number that jobs of all sweeps return: hydraconf sweep compare ${join(cwd, "a")} ${join(cwd, "b")} --objective loss`,
  );
  expect((await compare(cwd, "a", "b", "--objective", "loss")).exitCode).toBe(0);
  expect(await hintOf("a", "a")).toMatch(/ --objective KEY, where KEY is one of loss, size$/);
});

test("a later sweep without the number has the hint with the key that all return", async () => {
  const { cwd, run } = program(CONFIG);
  const x = (config: { get(key: string): unknown }) => Number(config.get("x"));
  await run(["-m", "x=1,2", "hydra.sweep.dir=a"], (config) => ({ size: 1, loss: x(config) }));
  await run(["-m", "x=1,2", "hydra.sweep.dir=b"], (config) => ({ loss: x(config) }));
  const { stdout } = await compare(cwd, "a", "b", "--objective", "size");
  const [, flag = ""] = /^ {2}Hint: .* (--objective \S+)$/m.exec(stdout) ?? [];
  expect(flag).toBe("--objective loss");
  const after = await compare(cwd, "a", "b", ...flag.split(" "));
  expect(after.stdout).toContain("b: 2 jobs have the same overrides");
});

test("a sweep of which no job is completed has the hint that shows why", async () => {
  const { cwd, run } = program(CONFIG);
  await run(["-m", "x=1,2", "hydra.sweep.dir=a"], (config) => Number(config.get("x")));
  await run(["-m", "x=1,2", "hydra.sweep.dir=b"], () => {
    throw new Error("no");
  });
  const { exitCode, stdout } = await compare(cwd, "a", "b");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(
    /^b: not compared: No job of the sweep in '.*b' is completed\n {2}Hint: (.*)$/m,
  );
  expect(stdout).toMatch(/^ {2}Hint: hydraconf sweep status .*b shows why$/m);
  expect(stdout).not.toContain("--objective");
  const view: ComparisonView = JSON.parse((await compare(cwd, "a", "b", "--json")).stdout);
  expect(view.sweeps).toMatchObject([
    { problem: null, hint: null },
    { problem: expect.stringMatching(/completed$/), hint: expect.stringMatching(/shows why$/) },
  ]);
});

test("refuses a single sweep, and a sweep without a number", async () => {
  const cwd = await threeSweeps();
  await expect(compare(cwd, "a")).rejects.toThrow(/expected the directories of two or more sweeps/);
  await expect(compare(cwd, "a", "b")).rejects.toThrow(/No job of the sweep in '.*a' has a number/);
  await expect(compare(cwd, "a", "missing")).rejects.toThrow(/missing/);
});
