import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { isRecorded } from "../../../src/app/record/sweep-record.ts";
import { isRunning } from "../../../src/foundation/system/process-identity.ts";
import { runs } from "../../runs.ts";
import { workplace } from "./program/start.ts";

const JOBS = 12;
const KILLS = runs(50);
/** Sweeps that are killed side by side, as this machine allows. */
const SIDE_BY_SIDE = 2;

const SWEEP = ["-m", `x=range(0,${JOBS})`, "hydra/launcher=local", "hydra.launcher.n_jobs=2"];

type Place = ReturnType<typeof workplace>;

const numbers = Array.from({ length: JOBS }, (_, number) => number);

/** Kills workers with their launcher, or the launcher alone, whose workers then end by themselves. */
function killSomething(place: Place, launcher: { kill(signal: "SIGKILL"): unknown }): void {
  const workers = numbers.flatMap((number) => {
    const state = place.state(number);
    const last = state?.attempts.at(-1);
    return state?.status === "running" && last !== undefined && isRunning(last) === true
      ? [last.pid]
      : [];
  });
  if (Math.random() < 0.6)
    for (const pid of workers)
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended meanwhile.
      }
  launcher.kill("SIGKILL");
}

/** Completed jobs, and how often each of them has begun. */
const completed = (place: Place) =>
  new Map(
    numbers
      .filter((number) => place.state(number)?.status === "completed")
      .map((number) => [number, place.ran("begin").filter((one) => one === number).length]),
  );

/** One sweep, killed until it is done or that was enough; then left to end. How often it was hit. */
async function survive(kills: number): Promise<number> {
  const place = workplace();
  let hits = 0;
  for (;;) {
    const done = completed(place);
    const launcher = place.start(isRecorded(join(place.cwd, "s")) ? ["--resume", "s"] : SWEEP);
    if (hits < kills) {
      await sleep(150 + Math.random() * 500);
      if (completed(place).size < JOBS) hits++;
      killSomething(place, launcher);
    }
    const { exitCode, stderr } = await launcher;
    const after = completed(place);
    for (const [number, begun] of done)
      expect(after.get(number), `job ${number} is done`).toBe(begun);
    if (exitCode === undefined) continue;
    expect(exitCode, String(stderr)).toBe(0);
    expect([...after.keys()]).toEqual(numbers);
    for (const number of numbers)
      expect(place.state(number)?.return_value).toMatchObject({ x: number });
    return hits;
  }
}

async function surviveAll(kills: number): Promise<number> {
  let hits = 0;
  while (hits < kills) hits += await survive(kills - hits);
  return hits;
}

test("killed again and again, a sweep loses nothing and repeats nothing that is done", {
  timeout: 1_800_000,
}, async () => {
  const rounds = Array.from({ length: SIDE_BY_SIDE }, () => surviveAll(KILLS / SIDE_BY_SIDE));
  const killed = (await Promise.all(rounds)).reduce((sum, one) => sum + one, 0);
  expect(killed).toBeGreaterThanOrEqual(KILLS);
});
