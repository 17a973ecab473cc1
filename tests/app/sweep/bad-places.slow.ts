import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { canMount, fill, withDisk } from "../cli/mounts.ts";
import { workplace } from "./program/start.ts";

const LAUNCHERS = [
  ["basic", []],
  ["local", ["hydra/launcher=local", "hydra.launcher.n_jobs=2"]],
] as const;

describe.each(LAUNCHERS)("with the %s launcher", (_, launcher) => {
  test.skipIf(!canMount("sweeps on full disks"))(
    "a disk that is full ends a sweep in words; with space again, it goes on",
    () =>
      withDisk("size=512k", async (disk) => {
        const directory = join(disk, "s");
        const told = new Set<string>();
        for (const pages of [0, 2, 5, 8, 11, 14]) {
          const place = workplace();
          rmSync(directory, { recursive: true, force: true });
          fill(disk);
          for (let page = 0; page < pages; page++) rmSync(join(disk, `.filler-${page}`));
          const full = await place.start([
            "-m",
            "x=1,2,3",
            `hydra.sweep.dir=${directory}`,
            ...launcher,
          ]);
          empty(disk);
          if (full.exitCode === 0) continue;
          expect(full.stderr).toMatch(/ENOSPC: no space left on device, \w+ '\//);
          expect(full.stderr).not.toMatch(/^\s+at /m);
          const isThere = existsSync(join(directory, ".sweep/manifest.json"));
          expect(full.stderr).toContain(
            isThere
              ? `run the rest with node ${place.command[1]} --resume ${directory}, and failed jobs with --retry-failed ${directory}\n`
              : "no job has started; fix this",
          );
          told.add(isThere ? "recorded" : "not begun");
          const more = isThere
            ? ["--resume", directory, "--retry-failed", directory]
            : ["-m", "x=1,2,3", `hydra.sweep.dir=${directory}`];
          const rest = await place.start(more);
          expect(rest.exitCode, String(rest.stderr)).toBe(0);
          expect(new Set(place.ran("end"))).toEqual(new Set([0, 1, 2]));
          expect(
            readdirSync(join(directory, ".sweep/jobs")).filter((name) => /tmp$/.test(name)),
          ).toEqual([]);
        }
        expect(told.size).toBe(2);
      }),
  );

  test("a sweep whose directory was moved goes on where it is now", async () => {
    const place = workplace();
    await place.start(["-m", "x=1,2,3", "do=flaky", "seconds=0", ...launcher]);
    const now = join(place.cwd, "moved here");
    renameSync(join(place.cwd, "s"), now);
    const status = await place.sweep(["status", now]);
    expect(status.stdout).toContain("0 of 3 jobs completed, 3 failed");
    await place.start(["--retry-failed", now]);
    const last = await place.start(["--retry-failed", now]);
    expect(last.exitCode, String(last.stderr)).toBe(0);
    expect(existsSync(join(place.cwd, "s"))).toBe(false);
    const { directory, jobs } = readManifest(join(now, ".sweep"));
    expect([directory, ...jobs.map(({ output_dir }) => output_dir)]).toEqual([
      now,
      join(now, "0"),
      join(now, "1"),
      join(now, "2"),
    ]);
    expect(place.ran("begin")).toHaveLength(9);
  });

  test("directories may have any name", async () => {
    const place = workplace();
    const name = `it's "a" $(dir)\n-é % {x} #1 ☃`;
    const strange = join(place.cwd, name);
    mkdirSync(strange);
    cpSync(join(place.cwd, "conf"), join(strange, "conf"), { recursive: true });
    const run = (...argv: readonly string[]) => place.start(argv, { cwd: strange });
    const first = await run("-m", "x=1,2", "do=fail,ok", ...launcher);
    expect(first.exitCode).toBe(1);
    const states = () =>
      ["0", "1", "2", "3"].map(
        (number) =>
          JSON.parse(readFileSync(join(strange, `s/.sweep/jobs/${number}.json`), "utf8")).status,
      );
    expect(states()).toEqual(["failed", "completed", "failed", "completed"]);
    const left = await run("--retry-failed", "s", "--detach");
    expect([left.exitCode, left.stderr]).toEqual([0, ""]);
    const waited = await place.sweep(["wait", "s"], { cwd: strange });
    expect(waited.exitCode).toBe(1);
    const attempts = JSON.parse(readFileSync(join(strange, "s/.sweep/jobs/0.json"), "utf8"));
    expect(attempts.attempts).toHaveLength(2);
    const collected = await place.sweep(["collect", "s"], { cwd: strange });
    expect(collected.stdout).toContain(`${join(strange, "s")}/sweep.csv`);
  });
});

test.each(["conf/config.yaml", "conf/config.yaml/s"])(
  "a sweep whose directory would be a file, or below one, is refused with the key: %s",
  async (name) => {
    const place = workplace();
    const { exitCode, stderr } = await place.start(["-m", "x=1,2", `hydra.sweep.dir=${name}`]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(" the sweep directory '")]);
    expect(stderr).toContain("choose another directory with hydra.sweep.dir=DIR");
  },
);

test("given the directory of a job or of the record, the error names that of the sweep", async () => {
  const place = workplace();
  await place.start(["-m", "x=1,2"]);
  for (const name of ["s/0", "s/.sweep"])
    expect((await place.sweep(["status", name])).stderr).toContain(
      `it is inside the sweep directory ${join(place.cwd, "s")}`,
    );
});

/** Removes what `fill` has left. */
function empty(disk: string): void {
  for (const name of readdirSync(disk)) if (name.startsWith(".filler")) rmSync(join(disk, name));
}

test.skipIf(!canMount("detached sweeps on full disks"))(
  "a disk that is full while a sweep is left says how to go on, too",
  () =>
    withDisk("size=128k", async (disk) => {
      const place = workplace();
      const directory = join(disk, "s");
      fill(disk);
      const sweep = ["-m", "x=1,2", "hydra/launcher=local", `hydra.sweep.dir=${directory}`];
      const full = await place.start([...sweep, "--detach"]);
      expect([full.exitCode, full.stderr]).toEqual([1, expect.stringContaining("ENOSPC")]);
      expect(full.stderr).toContain("no job has started; fix this, or choose another directory");
      empty(disk);
      expect((await place.start(sweep)).exitCode).toBe(0);
    }),
);

test("a sweep that cannot be read is told from one that is not there", async () => {
  const place = workplace();
  for (const name of ["conf", "conf/config.yaml"]) {
    const none = await place.sweep(["status", name]);
    expect(none.stderr).toContain(`There is no sweep in '${join(place.cwd, name)}'`);
  }
  // Of another user it would be refused; that, root cannot try.
  mkdirSync(join(place.folder, "manifest.json"), { recursive: true });
  const unread = await place.sweep(["status", "s"]);
  expect(unread.exitCode).toBe(1);
  expect(unread.stderr).toMatch(/Cannot read the sweep in '.*\/s': .*: it is a directory/);
});

test.skipIf(!canMount("sweeps on read-only disks"))(
  "a sweep that may not be written can be looked at; else the file is named",
  async () => {
    const place = workplace();
    await place.start(["-m", "x=1,2", "do=code", "hydra/launcher=local"]);
    await withDisk("size=4m", async (disk) => {
      cpSync(join(place.cwd, "s"), join(disk, "s"), { recursive: true });
      execFileSync("mount", ["-o", "remount,ro", disk]);
      const run = (...argv: readonly string[]) => place.sweep([...argv, join(disk, "s")]);
      const [status, wait, cancel, collect] = await Promise.all(
        ["status", "wait", "cancel", "collect"].map((action) => run(action)),
      );
      expect([status?.exitCode, status?.stderr]).toEqual([1, ""]);
      const unwritten = `'${join(disk, "s/sweep.md")}': its file system is read-only`;
      expect([wait?.exitCode, wait?.stderr]).toEqual([4, expect.stringContaining(unwritten)]);
      expect([cancel?.exitCode, cancel?.stderr]).toEqual([0, ""]);
      expect([collect?.exitCode, collect?.stderr]).toEqual([1, expect.stringContaining(unwritten)]);
      for (const detach of [[], ["--detach"]]) {
        const resumed = await place.start(["--retry-failed", join(disk, "s"), ...detach]);
        expect(resumed.exitCode).toBe(1);
        expect(resumed.stderr).toContain("Cannot use the sweep directory");
        expect(resumed.stderr).toContain("its file system is read-only");
        // Where it lies is no choice any more.
        expect(resumed.stderr).not.toContain("hydra.sweep.dir=DIR");
        expect(resumed.stderr).toContain("copy the directory and resume the copy");
      }
      const copy = join(place.cwd, "copy");
      cpSync(join(disk, "s"), copy, { recursive: true });
      expect((await place.start(["--retry-failed", copy])).exitCode).toBe(4);
    });
  },
);
