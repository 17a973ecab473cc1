import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { program } from "../cli/program.ts";

const RESULTS = { resultFiles: ["report.md"] };

describe("the directory of a run with results", () => {
  const files = {
    "conf/config.yaml": "out: first\nother: second\nhydra: {run: {dir: '${out}'}}\n",
    "first/report.md": "",
    "second/report.md": "",
  };

  test("moves on where the config made it up", async () => {
    const { cwd, run } = program(files, RESULTS);
    expect((await run([])).exitCode).toBe(0);
    expect(existsSync(join(cwd, "first-2"))).toBe(true);
  });

  test("is meant where an override named it, also through an interpolation", async () => {
    const { cwd, run } = program(files, RESULTS);
    for (const override of ["hydra.run.dir=second", "out=second", "hydra.run.dir=${other}"]) {
      const { exitCode, stderr } = await run([override]);
      expect(exitCode).toBe(1);
      expect(stderr).toContain("holds the results of another run: report.md");
    }
    expect(existsSync(join(cwd, "second-2"))).toBe(false);
  });
});

test("jobs of a sweep must not share a directory where they leave results", async () => {
  const files = { "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s, subdir: same}}\n" };
  const { exitCode, stderr } = await program(files, RESULTS).run(["-m", "x=1,2"]);
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Jobs #0 and #1 would share the directory");
  expect((await program(files).run(["-m", "x=1,2"])).exitCode).toBe(0);
});

test("only a program with results keeps others out of its directory", async () => {
  const files = { "conf/config.yaml": "hydra: {run: {dir: out}}\n" };
  const claims: boolean[] = [];
  for (const options of [RESULTS, {}])
    await program(files, options).run([], (_, job) => {
      claims.push(existsSync(join(job.outputDir, ".running")));
    });
  expect(claims).toEqual([true, false]);
});
