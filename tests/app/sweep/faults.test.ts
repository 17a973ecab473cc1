import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { isRunning } from "../../../src/app/worker/process-identity.ts";
import { runs } from "../../runs.ts";
import { workplace } from "./program/start.ts";

const JOBS = 25;
const KILLS = runs(50);
/** Sweeps that are killed side by side, as this machine allows. */
const SIDE_BY_SIDE = 2;

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

async function survive(kills: number): Promise<number> {
  const place = workplace();
  const argv = [
    "-m",
    `x=range(0,${JOBS})`,
    "hydra/launcher=local",
    "hydra.launcher.n_jobs=2",
    "hydra.launcher.max_retries=3",
  ];
  let killed = 0;
  for (let next = argv; ; next = place.state(0) === undefined ? argv : ["--resume", "s"]) {
    const done = completed(place);
    const launcher = place.start(next);
    if (killed < kills) {
      await sleep(150 + Math.random() * 500);
      killSomething(place, launcher);
      killed++;
    }
    const { exitCode, stderr } = await launcher;
    for (const [number, begun] of done)
      expect(completed(place).get(number), `job ${number} ran again`).toBe(begun);
    if (exitCode !== undefined && killed >= kills) {
      expect([exitCode, stderr]).toEqual([0, ""]);
      break;
    }
  }
  expect([...completed(place).keys()]).toEqual(numbers);
  for (const number of numbers)
    expect(place.state(number)?.return_value).toMatchObject({ x: number });
  return killed;
}

test("killed again and again, a sweep loses nothing and repeats nothing that is done", {
  timeout: 600_000,
}, async () => {
  const rounds = Array.from({ length: SIDE_BY_SIDE }, () => survive(KILLS / SIDE_BY_SIDE));
  const killed = (await Promise.all(rounds)).reduce((sum, one) => sum + one, 0);
  expect(killed).toBeGreaterThanOrEqual(KILLS);
});
