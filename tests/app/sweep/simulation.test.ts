import { expect, test } from "vitest";
import { simulations, told } from "./simulation/simulations.ts";

/** Each launcher once with each kind of sweep; more in simulation.slow.ts. */
const RUNS = 20;

test("simulated sweeps with kills and a second driver: each job once, and every end as it was", async () => {
  const found = await simulations(0, RUNS);
  console.log(told(found, 0));
  expect(found.failures).toEqual([]);
  expect(found.runs).toBe(RUNS);
  // Kills come in all of them but a few, and each run has another launcher than the one before.
  expect(found.kills).toBeGreaterThan(RUNS);
  expect(found.drivers).toBeGreaterThan(2 * RUNS);
  expect(found.damages).toBeGreaterThan(RUNS / 10);
  expect(found.reuses).toBeGreaterThan(RUNS);
  expect(found.pruned).toBeGreaterThan(0);
});
