import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { launcherOf } from "../../../src/app/sweep/record/launcher-claim.ts";
import { isRecorded } from "../../../src/app/sweep/record/sweep-record.ts";
import { until } from "../../wait.ts";
import { workplace } from "./program/start.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];
const JOBS = [0, 1];

const WITHIN = { KILL_WITHIN: "/.sweep" };

type Place = ReturnType<typeof workplace>;

/** A process of a sweep, and the command that starts a sweep in which there is one. */
interface Case {
  readonly role: "launcher" | "worker" | "driver";
  readonly how: string;
  readonly argv: readonly string[];
}

const CASES: readonly Case[] = [
  { role: "launcher", how: "basic", argv: ["-m", "x=1,2"] },
  { role: "launcher", how: "local", argv: ["-m", "x=1,2", ...LOCAL] },
  { role: "worker", how: "local", argv: ["-m", "x=1,2", ...LOCAL] },
  { role: "launcher", how: "detaching", argv: ["-m", "x=1,2", ...LOCAL, "--detach"] },
  { role: "driver", how: "detached", argv: ["-m", "x=1,2", ...LOCAL, "--detach"] },
];

/** Points that are tried side by side. */
const SIDE_BY_SIDE = 3;

/** How many changes of files such a process makes when nobody kills it. */
async function changesOf({ argv, role }: Case): Promise<number> {
  const place = workplace();
  const counts = join(place.cwd, "counts");
  await place.startHooked(argv, { ...WITHIN, KILL_COUNTS: counts });
  const lines = () => place.lines("counts").filter((line) => line.startsWith(`${role} `));
  const expected = role === "worker" ? JOBS.length : 1;
  await until(() => lines().length >= expected);
  await atRest(place);
  return Math.max(...lines().map((line) => Number(line.split(" ")[1])));
}

/** Until nobody drives the sweep and no worker runs. */
const atRest = (place: Place) =>
  until(
    () =>
      launcherOf(place.folder) === undefined &&
      !JOBS.some((number) => place.state(number)?.status === "running" && isLive(place, number)),
  );

function isLive(place: Place, number: number): boolean {
  const pid = place.state(number)?.attempts.at(-1)?.pid ?? 0;
  return existsSync(`/proc/${pid}/stat`);
}

/** Everything in the record that a process would read must be whole. */
function expectWhole(place: Place): void {
  for (const folder of [place.folder, join(place.folder, "jobs")])
    for (const name of existsSync(folder) ? readdirSync(folder) : [])
      if (/^[^.].*\.json$/.test(name)) JSON.parse(readFileSync(join(folder, name), "utf8"));
}

const begun = (place: Place, number: number) =>
  place.ran("begin").filter((one) => one === number).length;

/** As a user would: waits for what still runs, then resumes, or begins anew where nothing was recorded. */
async function goOn(place: Place, argv: readonly string[], where: string): Promise<void> {
  for (;;) {
    if (!isRecorded(join(place.cwd, "s"))) {
      const { exitCode, stderr } = await place.start(argv.filter((word) => word !== "--detach"));
      return expect(exitCode, `${where}: ${stderr}`).toBe(0);
    }
    if ((await place.sweep(["wait", "s"])).exitCode === 0) return;
    const resumed = await place.start(["--resume", "s", "--retry-failed", "s"]);
    if (resumed.exitCode === 0) return;
    // A driver that has just come up: it is waited for.
    expect(resumed.stderr, where).toContain("is being run by process");
  }
}

async function killedAt({ argv, role }: Case, at: number): Promise<void> {
  const place = workplace();
  const half = at % 2 === 0 ? ":half" : "";
  const where = `killed at change ${at}${half} of the ${role}`;
  await place.startHooked(argv, { ...WITHIN, KILL_AT: `${role}:${at}${half}` });
  expectWhole(place);
  await goOn(place, argv, where);
  expectWhole(place);
  for (const number of JOBS) {
    const state = place.state(number);
    expect(state, where).toMatchObject({ status: "completed", return_value: { x: number + 1 } });
    // Each run of the task is an attempt in the record, and none follows the one that is completed.
    expect(begun(place, number), where).toBeLessThanOrEqual(state?.attempts.length ?? 0);
    expect(
      state?.attempts.slice(0, -1).every(({ exit_code }) => exit_code !== 0),
      where,
    ).toBe(true);
  }
  expect(launcherOf(place.folder), where).toBeUndefined();
}

describe("killed at each change that it makes to a file", { timeout: 1_800_000 }, () => {
  test.each(CASES)(
    "the $role of a sweep ($how): resumed, all is done, and nothing twice",
    async (one) => {
      const changes = await changesOf(one);
      expect(changes).toBeGreaterThan(4);
      const points = Array.from({ length: changes }, (_, index) => index + 1).values();
      const tryPoints = async () => {
        for (const at of points) await killedAt(one, at);
      };
      await Promise.all(Array.from({ length: SIDE_BY_SIDE }, tryPoints));
    },
  );
});
