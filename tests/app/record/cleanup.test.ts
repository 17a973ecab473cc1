import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { slurmLauncher } from "../../../src/app/plugins/slurm/slurm-launcher.ts";
import { removeDraftsOfSweep } from "../../../src/app/record/cleanup.ts";
import { createJobList } from "../../../src/app/record/job-list.ts";
import {
  awaitOrder,
  claimSweep,
  claimToOrder,
  launcherOf,
} from "../../../src/app/record/launcher-claim.ts";
import {
  draftFile,
  jobsFolder,
  launcherFile,
  sweepFolder,
} from "../../../src/app/record/layout.ts";
import { cancelSweep } from "../../../src/app/sweep/cancel.ts";
import { readSweepStatus } from "../../../src/app/sweep/status.ts";
import { draftBeside } from "../../../src/foundation/system/atomic-write.ts";
import { bundled } from "../../bundled.ts";
import { until } from "../../wait.ts";
import { canMount, withDisk } from "../cli/mounts.ts";
import { factsIn, jobOf, writeSweep } from "./written.ts";

/** A sweep in a directory, and beside its list one of a killed launcher, and half of another. */
function withAbandonedFiles(directory: string) {
  const folder = sweepFolder(directory);
  mkdirSync(folder, { recursive: true });
  createJobList(folder, [jobOf(0)], []);
  writeSweep(folder, factsIn(directory));
  writeFileSync(draftFile(folder, "half"), "{");
  const names = () => readdirSync(folder).filter((name) => name.startsWith("manifest"));
  return { folder, names };
}

const temporary = () => mkdtempSync(join(tmpdir(), "hydraconf-abandoned-"));

test("the next process removes what a killed launcher left of a record, and keeps its jobs", async () => {
  const directory = temporary();
  const { names } = withAbandonedFiles(directory);
  expect(names()).toHaveLength(6);
  const { view } = await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(view.counts).toEqual({ missing: 1 });
  expect(names()).toHaveLength(3);
  expect(existsSync(launcherFile(sweepFolder(directory)))).toBe(false);
});

test("drafts of killed processes go, also in folders of a launcher's own, and no others", () => {
  const directory = temporary();
  const { folder } = withAbandonedFiles(directory);
  const places = [directory, folder, jobsFolder(folder), join(folder, "slurm/batch")];
  for (const place of places) mkdirSync(place, { recursive: true });
  mkdirSync(join(directory, "results"));
  const left = (place: string) => {
    const ours = draftBeside(join(place, "file"));
    // No system gives a process this number.
    return [ours, ours.replace(`+${process.pid}+`, `+${2 ** 30}+`)] as const;
  };
  const drafts = [...places, join(directory, "results")].map(left);
  for (const name of drafts.flat()) writeFileSync(name, "");
  removeDraftsOfSweep(folder);
  expect(drafts.map(([ours, dead]) => [existsSync(ours), existsSync(dead)])).toEqual([
    ...places.map(() => [true, false]),
    // A directory of results is its job's.
    [true, true],
  ]);
});

test("while a launcher runs the sweep, only it does so", async () => {
  const directory = temporary();
  const { folder, names } = withAbandonedFiles(directory);
  const claim = claimSweep(folder);
  await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(names()).toHaveLength(6);
  claim.release();
});

test("so it is while the sweep is handed to this process, which has not taken it up yet", async () => {
  const directory = temporary();
  const { folder, names } = withAbandonedFiles(directory);
  claimSweep(folder).handOver(process.pid, { awaited: true });
  await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(names()).toHaveLength(6);
  expect(launcherOf(folder)).toMatchObject({ pid: process.pid, awaited: true });
});

test("a process that repairs a record runs no jobs, and a launcher that starts meanwhile waits for it", async () => {
  const directory = temporary();
  const { folder } = withAbandonedFiles(directory);
  const ready = join(directory, "ready");
  const program = bundled(new URL("claims.ts", import.meta.url), "claims");
  const claim = claimToOrder(folder);
  expect(claim).toBeDefined();
  expect(claimToOrder(folder)).toBeUndefined();
  const { view } = await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect([view.driver, view.counts]).toEqual([null, { missing: 1 }]);
  expect(await cancelSweep({ directory, env: {}, launchers: [slurmLauncher], say: () => {} })).toBe(
    false,
  );
  const launcher = execa(process.execPath, [program, folder, ready], { reject: false });
  await until(() => existsSync(ready));
  claim?.release();
  expect(await launcher).toMatchObject({ exitCode: 0, stderr: "" });
});

test("a launcher waits for that without holding up its own process, and says for whom", async () => {
  const directory = temporary();
  const { folder } = withAbandonedFiles(directory);
  const said: string[] = [];
  await awaitOrder(folder, (line) => said.push(line));
  const driving = claimSweep(folder);
  await awaitOrder(folder, (line) => said.push(line));
  driving.release();
  expect(said).toEqual([]);
  const claim = claimToOrder(folder);
  const start = performance.now();
  await awaitOrder(folder, (line) => {
    said.push(line);
    // A hundred looks, 10 ms apart, the first of them at once; timers may be early by a millisecond.
    expect(performance.now() - start).toBeGreaterThanOrEqual(99 * 9);
    // As what else this process does.
    setImmediate(() => claim?.release());
  });
  expect(said).toEqual([
    `Waiting for process ${process.pid} on ${hostname()}, which is repairing the record of the sweep in '${directory}'`,
  ]);
  claimSweep(folder).release();
});

test.skipIf(!canMount("abandoned files on read-only disks"))(
  "who may only look leaves all as it is",
  () =>
    withDisk("size=64k", async (disk) => {
      const { names } = withAbandonedFiles(disk);
      execFileSync("mount", ["-o", "remount,ro", disk]);
      expect(
        (await readSweepStatus({ directory: disk, env: {}, launchers: [slurmLauncher] })).view
          .counts,
      ).toEqual({ missing: 1 });
      expect(names()).toHaveLength(6);
    }),
);
