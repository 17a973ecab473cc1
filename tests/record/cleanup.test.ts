import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { slurmLauncher } from "../../src/plugins/slurm/launcher.ts";
import { createJobList } from "../../src/record/job-list.ts";
import {
  awaitOrder,
  claimSweep,
  claimToOrder,
  launcherOf,
} from "../../src/record/launcher-claim.ts";
import { draftFile, manifestFile, sweepFolder } from "../../src/record/layout.ts";
import { readFacts } from "../../src/record/manifest.ts";
import { cancelSweep } from "../../src/sweep/cancel.ts";
import { readSweepStatus } from "../../src/sweep/status.ts";
import { bundled } from "../bundled.ts";
import { canMount, withDisk } from "../cli/mounts.ts";
import { atPoints, changesOf, killAt, WITHIN } from "../sweep/program/killed.ts";
import { workplace } from "../sweep/program/start.ts";
import { until } from "../wait.ts";
import { factsIn, jobOf, writeSweep } from "./written.ts";

/** A sweep in a directory, and beside its list one of a killed launcher, and half of another. */
function withStrays(directory: string) {
  const folder = sweepFolder(directory);
  mkdirSync(folder, { recursive: true });
  createJobList(folder, [jobOf(0)], []);
  writeSweep(folder, factsIn(directory));
  writeFileSync(draftFile(folder, "half"), "{");
  const names = () => readdirSync(folder).filter((name) => name.startsWith("manifest"));
  return { folder, names };
}

const temporary = () => mkdtempSync(join(tmpdir(), "hydraconf-strays-"));

test("the next process removes what a killed launcher left of a record, and keeps its jobs", async () => {
  const directory = temporary();
  const { names } = withStrays(directory);
  expect(names()).toHaveLength(4);
  const { view } = await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(view.counts).toEqual({ missing: 1 });
  expect(names()).toHaveLength(2);
});

test("while a launcher runs the sweep, only it does so", async () => {
  const directory = temporary();
  const { folder, names } = withStrays(directory);
  const claim = claimSweep(folder);
  await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(names()).toHaveLength(4);
  claim.release();
});

test("so it is while the sweep is handed to this process, which has not taken it up yet", async () => {
  const directory = temporary();
  const { folder, names } = withStrays(directory);
  claimSweep(folder).handOver(process.pid, { awaited: true });
  await readSweepStatus({ directory, env: {}, launchers: [slurmLauncher] });
  expect(names()).toHaveLength(4);
  expect(launcherOf(folder)).toMatchObject({ pid: process.pid, awaited: true });
});

test("a process that repairs a record runs no jobs, and a launcher that starts meanwhile waits for it", async () => {
  const directory = temporary();
  const { folder } = withStrays(directory);
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
  const { folder } = withStrays(directory);
  const said: string[] = [];
  await awaitOrder(folder, (line) => said.push(line));
  const driving = claimSweep(folder);
  await awaitOrder(folder, (line) => said.push(line));
  driving.release();
  expect(said).toEqual([]);
  const claim = claimToOrder(folder);
  await awaitOrder(folder, (line) => {
    said.push(line);
    // As what else this process does.
    setImmediate(() => claim?.release());
  });
  expect(said).toEqual([
    `Waiting for process ${process.pid} on ${hostname()}, which is repairing the record of the sweep in '${directory}'`,
  ]);
  claimSweep(folder).release();
});

test.skipIf(!canMount("strays on read-only disks"))("who may only look leaves all as it is", () =>
  withDisk("size=64k", async (disk) => {
    const { names } = withStrays(disk);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    expect(
      (await readSweepStatus({ directory: disk, env: {}, launchers: [slurmLauncher] })).view.counts,
    ).toEqual({ missing: 1 });
    expect(names()).toHaveLength(4);
  }),
);

/** A sweep of which only the second batch shows that a word of the first is a secret. */
const SECRET = "opaque-opaque";
const TELLTALE = ["-m", `+name=${SECRET}`, "+db=open,closed", "hydra.sweeper.max_batch_size=1"];

function telltale() {
  const place = workplace();
  const write = (name: string, text: string) => writeFileSync(join(place.cwd, "conf", name), text);
  mkdirSync(join(place.cwd, "conf/db"));
  write("db/open.yaml", "password: null\n");
  write("db/closed.yaml", `password: ${SECRET}\n`);
  const password = { type: ["string", "null"], writeOnly: true };
  write("schema.json", JSON.stringify({ properties: { db: { properties: { password } } } }));
  return place;
}

test("wherever a launcher is killed, nothing of a record that masks a secret has it", {
  timeout: 600_000,
}, async () => {
  const run = (place: ReturnType<typeof telltale>) => (env: Readonly<Record<string, string>>) =>
    place.startHooked(TELLTALE, { ...WITHIN, ...env });
  const whole = telltale();
  const changes = await changesOf(whole, "launcher", run(whole));
  expect(readFacts(whole.folder).holds_secrets).toBe(true);
  const masked: number[] = [];
  await atPoints(changes, { sideBySide: 2, step: 1 }, async (at) => {
    // The secret comes with the second batch.
    if (at < changes / 2) return;
    const place = telltale();
    await run(place)({ KILL_AT: killAt("launcher", at) });
    if (!existsSync(manifestFile(place.folder))) return;
    await (at % 2 === 0 ? place.sweep(["status", "s"]) : place.start(["--resume", "s"]));
    if (!readFacts(place.folder).holds_secrets) return;
    masked.push(at);
    const files = readdirSync(place.folder, { withFileTypes: true }).filter((one) => one.isFile());
    for (const { name } of files)
      expect(readFileSync(join(place.folder, name), "utf8"), `${at}: ${name}`).not.toContain(
        SECRET,
      );
  });
  expect(masked.length).toBeGreaterThan(3);
});
