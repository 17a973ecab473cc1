import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect, test } from "vitest";

// docs/programs.md shows these command lines.
const PROGRAM = fileURLToPath(new URL("../../docs/examples/train/train.mjs", import.meta.url));

const cwd = mkdtempSync(join(tmpdir(), "hydraconf-example-"));
const train = (...args: readonly string[]) =>
  execa(process.execPath, [PROGRAM, ...args], { cwd, reject: false });

test("runs once, with options and values", async () => {
  const { exitCode, stdout } = await train("optimizer=decaying", "steps=50", "hydra.run.dir=o");
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/\[train\]\[INFO\] - line: weight 2\.0000 after 50 steps: loss \d/);
  expect(readdirSync(join(cwd, "o")).sort()).toEqual([".hydra", "train.log"]);
});

test("sweeps, and its callback shows the results", async () => {
  const { exitCode, stdout } = await train(
    "-m",
    "optimizer=sgd,decaying",
    "steps=5,20",
    "hydra.sweep.dir=s",
  );
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/\noptimizer=sgd steps=5 +1\.95e-2\noptimizer=sgd steps=20 /);
});

test("explains a key, and refuses what the schema does not allow", async () => {
  expect((await train("--help", "optimizer.lr")).stdout).toContain("The learning rate.");
  const { exitCode, stderr } = await train("optimizer.lr=-1");
  expect(exitCode).toBe(1);
  expect(stderr).toContain("more than 0");
});
