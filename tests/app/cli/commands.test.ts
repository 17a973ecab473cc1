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
