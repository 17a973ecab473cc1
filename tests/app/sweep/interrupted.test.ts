import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runSweepCommand } from "../../../src/app/cli/sweep-command.ts";
import { begun, ended, writeJobState } from "../../../src/app/record/job-state.ts";
import { jobsFolder, sweepFolder } from "../../../src/app/record/layout.ts";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { capturedConsole } from "../../captured-console.ts";
import { program } from "../cli/program.ts";
import { factsIn, writeSweep } from "../record/written.ts";

const ask = async (directory: string, ...argv: readonly string[]) => {
  const { console, out } = capturedConsole();
  const invocation = { argv: [], env: {}, cwd: directory, now: new Date(), console };
  return { exitCode: await runSweepCommand([...argv, directory], invocation), ...out };
};

test("a sweep that was killed between two batches is not taken for one that is complete", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-cut-off-"));
  const folder = sweepFolder(directory);
  mkdirSync(jobsFolder(folder), { recursive: true });
  writeSweep(folder, factsIn(directory, { more_to_come: true }));
  writeJobState(folder, ended(begun(0, undefined), { endedBy: { by: "itself" }, exitCode: 0 }));
  const status = await ask(directory, "status");
  expect([status.exitCode, status.stdout]).toEqual([1, expect.stringContaining(CUT_OFF)]);
  expect(status.stdout).toContain(`prog --resume ${directory}   runs the missing jobs`);
  const waited = await ask(directory, "wait");
  expect([waited.exitCode, waited.stdout]).toEqual([1, expect.stringContaining(CUT_OFF)]);
  const data = await ask(directory, "status", "--json");
  expect(JSON.parse(data.stdout)).toMatchObject({ exit_code: 1, more_to_come: true });
});

const CUT_OFF = "1 of 1 job completed; no launcher runs it, and more jobs were to come";

test.each([
  ["in one batch", ["x=1,2"], [false, false]],
  ["in two", ["x=1,2", "hydra.sweeper.max_batch_size=1"], [true, false]],
  [
    "of a search, which may always ask for more",
    ["hydra/sweeper=random", "hydra.sweeper.n_trials=2", "x=range(9)"],
    [true, true],
  ],
])(
  "while a sweep runs %s, its record says whether there may be more jobs",
  async (_, argv, seen) => {
    const { cwd, run } = program({ "conf/config.yaml": "x: 1\nhydra: {sweep: {dir: s}}\n" });
    const folder = join(cwd, "s/.sweep");
    const told: (boolean | undefined)[] = [];
    const { exitCode } = await run(["-m", ...argv], (config) => {
      told.push(readManifest(folder).more_to_come);
      return config.get("x");
    });
    expect([exitCode, told]).toEqual([0, seen]);
    expect(readManifest(folder).more_to_come).toBe(false);
  },
);
