/** What tests that kill a process of a sweep at each of its changes have in common (`system/kill-at`). */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { launcherOf } from "../../../../src/app/record/launcher-claim.ts";
import { isRecorded } from "../../../../src/app/record/sweep-record.ts";
import { until } from "../../../wait.ts";
import type { workplace } from "./start.ts";

export type Place = ReturnType<typeof workplace>;

/** A process of a sweep. */
export type Role = "launcher" | "worker" | "driver";

export const WITHIN = { KILL_WITHIN: "/.sweep" };

/** How the hook is told where to kill: every other time when half of what is written then is there. */
export const killAt = (role: Role, at: number): string =>
  `${role}:${at}${at % 2 === 0 ? ":half" : ""}`;

/**
 * How many changes a process makes when nobody kills it.
 *
 * @param run starts what has such processes, with these variables, until it has ended
 * @param expected how many there are
 */
export async function changesOf(
  place: Place,
  role: Role,
  run: (env: Readonly<Record<string, string>>) => PromiseLike<unknown>,
  expected = 1,
): Promise<number> {
  await run({ ...WITHIN, KILL_COUNTS: join(place.cwd, "counts") });
  const lines = () => place.lines("counts").filter((line) => line.startsWith(`${role} `));
  await until(() => lines().length >= expected);
  return Math.max(...lines().map((line) => Number(line.split(" ")[1])));
}

/**
 * Kills at points of so many, side by side.
 *
 * @param step for a share of them; all of them in `npm run nightly`
 */
export async function atPoints(
  changes: number,
  { sideBySide, step }: { readonly sideBySide: number; readonly step: number },
  tryPoint: (at: number) => Promise<void>,
): Promise<void> {
  const isNightly = process.env["HYDRACONF_PROPERTY_FACTOR"] !== undefined;
  const points = Array.from({ length: changes }, (_, index) => index + 1)
    .filter((at) => isNightly || at % step === step - 1 || step === 1)
    .values();
  const tryPoints = async () => {
    for (const at of points) await tryPoint(at);
  };
  await Promise.all(Array.from({ length: sideBySide }, tryPoints));
}

/** Everything in the record that a process would read must be whole. */
export function expectWhole({ folder }: Place): void {
  for (const one of [folder, join(folder, "jobs"), join(folder, "slurm")])
    for (const name of existsSync(one) ? readdirSync(one) : [])
      if (/^[^.].*\.jsonl?$/.test(name))
        for (const text of textsIn(join(one, name))) JSON.parse(text);
}

/** Nothing of a killed process lies about in the sweep once somebody else has come by. */
export function expectTidy({ cwd }: Place, where: string): void {
  const names = readdirSync(join(cwd, "s"), { encoding: "utf8", recursive: true });
  expect(
    names.filter((name) => name.endsWith(".tmp") || name.endsWith(".draft")),
    where,
  ).toEqual([]);
}

/** Behind the last whole line of a file that grows may stand half of one. */
const textsIn = (file: string): readonly string[] =>
  file.endsWith("l")
    ? readFileSync(file, "utf8").split("\n").slice(0, -1)
    : [readFileSync(file, "utf8")];

export const begun = (place: Place, number: number): number =>
  place.ran("begin").filter((one) => one === number).length;

/** Each run of the task is an attempt in the record, and none follows the one that is completed. */
export function expectDone(place: Place, numbers: readonly number[], where: string): void {
  for (const number of numbers) {
    const state = place.state(number);
    expect(state, where).toMatchObject({ status: "completed", return_value: { x: number + 1 } });
    expect(begun(place, number), where).toBeLessThanOrEqual(state?.attempts.length ?? 0);
    expect(
      state?.attempts.slice(0, -1).every(({ exit_code }) => exit_code !== 0),
      where,
    ).toBe(true);
  }
  expect(launcherOf(place.folder), where).toBeUndefined();
}

/** As a user would: waits for what still runs, then resumes, or begins anew where nothing was recorded. */
export async function goOn(
  place: Place,
  argv: readonly string[],
  where: string,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  for (;;) {
    if (!isRecorded(join(place.cwd, "s"))) {
      const anew = argv.filter((word) => word !== "--detach");
      const { exitCode, stderr } = await place.start(anew, { env });
      return expect(exitCode, `${where}: ${stderr}`).toBe(0);
    }
    if ((await place.sweep(["wait", "s"], { env })).exitCode === 0) return;
    await expectSaysHowToGoOn(place, where, env);
    const resumed = await place.start(["--resume", "s", "--retry-failed", "s"], { env });
    if (resumed.exitCode === 0) return;
    // A driver that has just come up: it is waited for.
    expect(resumed.stderr, where).toContain("is being run by process");
  }
}

/** Unless somebody has come up who runs it: nothing waits, and the command is named. */
async function expectSaysHowToGoOn(
  place: Place,
  where: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const { exitCode, stdout } = await place.sweep(["status", "s"], { env });
  if (exitCode === 0 || /; process \d+ on|; the scheduler has/.test(String(stdout))) return;
  expect(stdout, where).toMatch(/\n {2}.*prog(?:\.cjs)? --(resume|retry-failed) \S+ {3}runs /);
  expect(stdout, where).not.toMatch(/\| (queued|running) /);
}
