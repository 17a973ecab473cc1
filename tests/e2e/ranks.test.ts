import { existsSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import type { RegionReportBundle } from "../../src/report/index.ts";
import { callCommand } from "../called-command.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";
import { commandPath, runCommand, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const [client] = availableClients("ranks");
const quick = ["pipeline.report.html=false", "pipeline.static_analysis.enable=false"];

const reportsOf = (run: string) =>
  (
    JSON.parse(
      readFileSync(join(here.path, run, "recorder", "regions", "report.json"), "utf8"),
    ) as RegionReportBundle
  ).reports;

describe.skipIf(client === undefined)("ranks", () => {
  const program = () => buildFixture("some_work.cc", client ?? "own client");

  it("of a launcher like torchrun make one run, which the first leads", async () => {
    const work = await program();
    const rank = (number: number) =>
      runCommand("deep-profile", ["hydra.run.dir=torch", ...quick, "--", work, `${1 + number}`], {
        cwd: here.path,
        env: { RANK: `${number}`, WORLD_SIZE: "2", LOCAL_RANK: `${number}` },
      });
    const [first, second] = await Promise.all([rank(0), rank(1)]);
    expect([first.code, second.code]).toEqual([0, 0]);
    expect(second.stdout).toBe("");
    expect(first.stdout).toContain("2 ranks: wall time of each");
    const [aggregate, ...others] = reportsOf("torch");
    expect(others.map(({ scope }) => scope)).toEqual(["rank:0", "rank:1"]);
    expect(aggregate?.ranks?.map(({ rank, local_rank }) => [rank, local_rank])).toEqual([
      [0, 0],
      [1, 1],
    ]);
    const compute = aggregate?.regions.find(({ name }) => name === "compute");
    expect(compute?.ranks?.wall_ms).toHaveLength(2);
    expect(compute?.invocations).toBe(10);
    expect((await callCommand("deep-profile", ["report", "torch"], { cwd: here.path })).code).toBe(
      0,
    );
    expect(reportsOf("torch")).toHaveLength(3);
  });

  it("that record apart are merged", async () => {
    const work = await program();
    for (const number of [0, 1]) {
      const { code } = await callCommand(
        "deep-profile",
        [`hydra.run.dir=apart${number}`, ...quick, "--", work],
        {
          cwd: here.path,
          env: {
            RANK: `${number}`,
            WORLD_SIZE: "2",
            LOCAL_RANK: "0",
            HYDRACONF_RANKS: "separate",
          },
        },
      );
      expect(code).toBe(0);
    }
    const merge = ["report", "--merge", "apart0", "apart1", "-o", "merged"];
    const { code, stdout } = await callCommand("deep-profile", merge, { cwd: here.path });
    expect(code).toBe(0);
    expect(stdout).toContain("2 ranks: wall time of each");
    expect(reportsOf("merged")[0]?.ranks?.map(({ rank }) => rank)).toEqual([0, 1]);
  });

  it.each([
    ["mpirun.openmpi", ["--allow-run-as-root", "--oversubscribe"]],
    ["mpirun.mpich", []],
  ] as const)("of %s make one run", async (launcher, options) => {
    if (
      !(process.env["PATH"] ?? "").split(delimiter).some((dir) => existsSync(join(dir, launcher)))
    ) {
      console.warn(`SKIPPED ranks of ${launcher}: not installed (Debian: openmpi-bin, mpich)`);
      return;
    }
    const run = launcher.replace(".", "-");
    const { exitCode } = await execa(
      launcher,
      [
        ...[...options, "-n", "2", process.execPath, commandPath("deep-profile")],
        ...[`hydra.run.dir=${run}`, ...quick, "--", await program()],
      ],
      { cwd: here.path, reject: false },
    );
    expect(exitCode).toBe(0);
    expect(reportsOf(run).map(({ scope }) => scope)).toEqual(["aggregate", "rank:0", "rank:1"]);
  });
});
