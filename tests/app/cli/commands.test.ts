import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { program } from "./program.ts";

const CONFIG = { "conf/config.yaml": "x: 1\nnum: ${hydra:job.num}\n" };

test("a program that only shows shows every job of a sweep, as YAML documents", async () => {
  const { run, cwd } = program(CONFIG, { whenBare: "show" });
  const { exitCode, stderr, stdout } = await run(["-m", "x=1,2", "--resolve"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout).toBe("# job 0: x=1\nx: 1\nnum: 0\n---\n# job 1: x=2\nx: 2\nnum: 1\n");
  expect(readdirSync(cwd)).toEqual(["conf"]);
});

test("as one JSON array", async () => {
  const { run } = program(CONFIG, { whenBare: "show" });
  const json = async (...argv: string[]) => JSON.parse((await run(["--json", ...argv])).stdout);
  expect(await json("-m", "x=1,2")).toEqual([
    { x: 1, num: "${hydra:job.num}" },
    { x: 2, num: "${hydra:job.num}" },
  ]);
  expect(await json("-m", "x=range(0)")).toEqual([]);
  expect(await json("x=3")).toEqual({ x: 3, num: "${hydra:job.num}" });
});

test("every document of --json has its version, and an error is one, too", async () => {
  const { run } = program({ "conf/config.yaml": "db: {port: 1}\nhydra: {sweep: {dir: s}}\n" });
  const json = async (...argv: readonly string[]) =>
    JSON.parse((await run([...argv, "--json"])).stdout);
  for (const argv of [
    ["--dry-run"],
    ["--dry-run", "-m", "db.port=1,2"],
    ["--explain", "db.port"],
    ["--info"],
    ["--cfg", "job", "--origins"],
    ["db.port=2", "--diff", "db.port=3"],
  ])
    expect((await json(...argv)).version, argv.join(" ")).toBe(1);
  expect(await json("--explain", "db.prt")).toEqual({
    version: 1,
    error: {
      code: "key.not_found",
      message: "Key 'db.prt' not found in config",
      key: "db.prt",
      available: ["db.port"],
      nearest: "db.port",
    },
  });
  const mistyped = await run(["--cfg", "job", "--json", "db.port=[1"]);
  expect(mistyped.exitCode).toBe(1);
  expect(JSON.parse(mistyped.stdout).error).toMatchObject({
    code: "override.syntax",
    place: { override: "db.port=[1" },
    proposals: ["db.port=[1]"],
  });
  expect(
    JSON.parse((await run(["--cfg", "job", "db.prt=3", "--json"])).stdout).error.proposals,
  ).toEqual(["db.port=3", "+db.prt=3"]);
  // Replaced together with the hint.
  const flag = await run(["--cfg", "job", "version", "--json"]);
  expect(JSON.parse(flag.stdout).error.proposals).toBe(undefined);
  expect(mistyped.stderr).toContain("db.port=[1");
  const usage = await run(["--nonsense", "--json"]);
  expect([usage.exitCode, JSON.parse(usage.stdout).error.code]).toEqual([2, "app.usage"]);
  expect((await run(["--explain", "db.prt"])).stdout).toBe("");
});
