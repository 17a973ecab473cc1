import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import type { RegionReportBundle } from "../../src/report/index.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";
import { hasSlurm, startSlurm } from "../slurm.ts";
import { commandPath, temporaryDirectory } from "./command.ts";

/** Ranks started by launchers that take long to set up, or by several machines. */

const here = temporaryDirectory();
afterAll(here.remove);

const [client] = availableClients("ranks of launchers");
const program = () => buildFixture("some_work.cc", client ?? "own client");
const LAUNCHER = fileURLToPath(new URL("torchrun_like.py", import.meta.url));
const MINUTES_MS = 5 * 60_000;

const reportsIn = (run: string) =>
  (
    JSON.parse(
      readFileSync(join(here.path, run, "recorder", "regions", "report.json"), "utf8"),
    ) as RegionReportBundle
  ).reports;

/** deep-profile as a rank calls it. */
const profile = async (run: string, work: string): Promise<readonly string[]> => [
  process.execPath,
  commandPath("deep-profile"),
  `hydra.run.dir=${run}`,
  "pipeline.report.html=false",
  "pipeline.static_analysis.enable=false",
  "--",
  work,
];

const expectRanks = (run: string, size: number) => {
  const ranks = Array.from({ length: size }, (_, rank) => rank);
  const [aggregate, ...others] = reportsIn(run);
  expect(others.map(({ scope }) => scope)).toEqual(ranks.map((rank) => `rank:${rank}`));
  expect(aggregate?.ranks?.map(({ rank }) => rank)).toEqual(ranks);
  const compute = aggregate?.regions.find(({ name }) => name === "compute");
  expect(compute?.ranks?.wall_ms).toHaveLength(size);
  return aggregate;
};

const start = async (argv: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const [command = "", ...args] = argv;
  const { exitCode, stderr } = await execa(command, args, { cwd: here.path, env, reject: false });
  expect(exitCode, stderr).toBe(0);
};

describe.skipIf(client === undefined)("ranks", () => {
  it.each([
    ["below one deep-profile", "inside"],
    ["each with a deep-profile of its own", "outside"],
  ])(
    "of a launcher in Python make one run, %s",
    async (_, where) => {
      const work = await program();
      const run = `torch-${where}`;
      const launched = (argv: readonly string[]) => ["python3", LAUNCHER, "3", ...argv];
      if (where === "outside") await start(launched(await profile(run, work)));
      else {
        const [node = "", command = "", ...rest] = await profile(run, work);
        const own = rest.slice(0, rest.indexOf("--") + 1);
        await start([node, command, ...own, ...launched([work])]);
      }
      expectRanks(run, 3);
    },
    MINUTES_MS,
  );

  it(
    "of two hosts that share a directory make one run",
    async () => {
      try {
        execFileSync("unshare", ["--uts", "hostname", "first"], { stdio: "ignore" });
      } catch (error) {
        console.warn(`SKIPPED ranks of two hosts: host names cannot be set here (${error})`);
        return;
      }
      const work = await program();
      const argv = await profile("hosts", work);
      // Each in a UTS namespace of its own, as on a machine of that name.
      const rank = (number: number) =>
        start(
          [
            ...["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"'],
            ...[`host-${number}`, ...argv],
          ],
          {
            OMPI_COMM_WORLD_RANK: `${number}`,
            OMPI_COMM_WORLD_SIZE: "2",
            OMPI_COMM_WORLD_LOCAL_RANK: "0",
          },
        );
      await Promise.all([rank(1), rank(0)]);
      const aggregate = expectRanks("hosts", 2);
      expect(aggregate?.ranks?.map(({ host, local_rank }) => [host, local_rank])).toEqual([
        ["host-0", 0],
        ["host-1", 0],
      ]);
    },
    MINUTES_MS,
  );
});

describe.skipIf(client === undefined || !hasSlurm("ranks of srun"))("ranks of Slurm", () => {
  it(
    "of srun make one run, with and without a deep-profile for each",
    async () => {
      const slurm = await startSlurm();
      try {
        const work = await program();
        const srun = (argv: readonly string[]) =>
          start(["srun", "-n", "2", "--overcommit", ...argv], slurm.env);
        await srun(await profile("srun", work));
        expectRanks("srun", 2);
        const [node = "", command = "", ...rest] = await profile("around", work);
        const own = rest.slice(0, rest.indexOf("--") + 1);
        await start([node, command, ...own, "srun", "-n", "2", "--overcommit", work], slurm.env);
        expectRanks("around", 2);
      } finally {
        await slurm.stop();
      }
    },
    MINUTES_MS,
  );
});
