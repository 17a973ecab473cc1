import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readManifest } from "../../../src/app/record/manifest.ts";
import { until } from "../../wait.ts";
import { workplace as newPlace } from "../sweep/program/start.ts";

/** A launcher as the table sees it. */
export interface LauncherCase {
  /** What chooses it on the command line, with what it needs here. */
  readonly overrides: readonly string[];
  /** Whether each job has a process of its own. */
  readonly ownProcesses: boolean;
  /** What its programs find in the environment, once the tests run. */
  readonly env?: () => Readonly<Record<string, string>>;
  /** How many jobs of a sweep a scheduler has still to start, given the sweep's `.sweep` folder; absent where there is none. */
  readonly waiting?: (folder: string) => number;
}

/** What every launcher does: the same table for all of them. */
export function launcherCases({
  env = () => ({}),
  overrides,
  ownProcesses,
  waiting = () => 0,
}: LauncherCase): void {
  const workplace = () => {
    const place = newPlace();
    return { ...place, start: (argv: readonly string[]) => place.start(argv, { env: env() }) };
  };
  const sweep = (place: ReturnType<typeof workplace>, ...argv: readonly string[]) =>
    place.start(["-m", ...argv, ...overrides]);

  test("runs every job once, in its directory, and records it", async () => {
    const place = workplace();
    const { exitCode, stderr } = await sweep(place, "x=1,2,3", "--fast");
    expect(exitCode, String(stderr)).toBe(0);
    if (ownProcesses) expect(stderr).toMatch(/^#2 x=3: completed in \S+ s \(\d of 3\b.*\)$/m);
    else expect(stderr).toBe("");
    const table = join(place.cwd, ownProcesses ? "s" : "s/.sweep", "sweep.csv");
    expect(readFileSync(table, "utf8")).toMatch(/^2,3,completed,1,.*,9,true,/m);
    expect([...place.ran("end")].sort()).toEqual([0, 1, 2]);
    const { jobs } = readManifest(place.folder);
    expect(jobs.map(({ output_dir }) => output_dir)).toEqual(
      [0, 1, 2].map((number) => join(place.cwd, `s/${number}`)),
    );
    for (const number of [0, 1, 2]) {
      expect(place.state(number)).toMatchObject({
        status: "completed",
        return_value: { x: number + 1, square: (number + 1) ** 2, fast: true },
        attempts: [{ exit_code: 0, error: null }],
      });
      const saved = readFileSync(join(place.cwd, `s/${number}/.hydra/overrides.yaml`), "utf8");
      expect(saved).toContain(`- x=${number + 1}\n`);
    }
    expect(existsSync(join(place.cwd, "s/multirun.yaml"))).toBe(true);
    expect(existsSync(join(place.folder, "launcher.json"))).toBe(false);
    const pids = new Set(place.lines("ran.txt").map((line) => line.split(" ")[2]));
    expect(pids.size).toBe(ownProcesses ? 3 : 1);
  });

  test("a failing job fails alone; the exit code says so", async () => {
    const place = workplace();
    const { exitCode, stderr } = await sweep(place, "x=1,2", "do=fail,ok");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("boom 1");
    const states = [0, 1, 2, 3].map((number) => place.state(number)?.status);
    expect(states).toEqual(["failed", "completed", "failed", "completed"]);
    expect(place.state(2)?.attempts[0]?.error).toBe("boom 2");
  });

  test("on_failure=stop starts no job after a failure", async () => {
    const place = workplace();
    const key = overrides.some((one) => /=(local|slurm)$/.test(one)) ? "" : "++";
    // Where a scheduler starts jobs while the launcher is late, the second half lasts until it has decided.
    const running = sweep(
      place,
      "do=fail,hold",
      "x=range(0,20)",
      `${key}hydra.launcher.on_failure=stop_after:2`,
    );
    await until(() => place.ran("begin").length >= 2 && waiting(place.folder) === 0);
    place.release();
    expect((await running).exitCode).toBe(1);
    const begun = place.ran("begin").length;
    expect(begun).toBeGreaterThanOrEqual(2);
    expect(begun).toBeLessThan(40);
  });

  test("--resume runs what is missing, --retry-failed what failed", async () => {
    const place = workplace();
    await sweep(place, "x=1,2,3", "do=flaky");
    expect(place.ran("begin")).toHaveLength(3);
    const nothing = await place.start(["--resume", "s"]);
    expect([nothing.exitCode, place.ran("begin").length]).toEqual([1, 3]);
    await place.start(["--retry-failed", "s"]);
    expect(place.ran("begin")).toHaveLength(6);
    const last = await place.start(["--retry-failed", "s"]);
    expect([last.exitCode, place.ran("begin").length], String(last.stderr)).toEqual([0, 9]);
    expect(place.state(1)).toMatchObject({
      status: "completed",
      attempts: [{ error: "not yet 2" }, { error: "not yet 2" }, { error: null }],
    });
    await place.start(["--retry-failed", "s"]);
    expect(place.ran("begin")).toHaveLength(9);
  });

  test("a changed config is refused unless told otherwise", async () => {
    const place = workplace();
    await sweep(place, "x=1,2", "do=fail");
    const file = join(place.cwd, "conf/config.yaml");
    writeFileSync(file, `${readFileSync(file, "utf8")}more: 1\n`);
    const refused = await place.start(["--retry-failed", "s"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("differs from the one that the sweep started with");
    expect(place.ran("begin")).toHaveLength(2);
    await place.start(["--retry-failed", "s", "--accept-changes"]);
    expect(place.ran("begin")).toHaveLength(4);
    expect(readFileSync(join(place.cwd, "s/0/.hydra/config.yaml"), "utf8")).toContain("more: 1");
  });
}
