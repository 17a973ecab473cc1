import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { simulations, told } from "./simulation/simulations.ts";

/** More in `npm run nightly`. */
const RUNS = Number(process.env["HYDRACONF_SIMULATIONS"] ?? 1_000);
const FIRST = Number(process.env["HYDRACONF_SIMULATION_SEED"] ?? 1_000_000);
const sideBySide = Math.min(8, availableParallelism());

test("thousands of simulated sweeps: each job once, and every end as it was", {
  timeout: 12 * 3_600_000,
}, async () => {
  const share = Math.ceil(RUNS / sideBySide);
  const parts = await Promise.all(
    Array.from({ length: sideBySide }, (_, part) => simulations(FIRST + part * share, share)),
  );
  for (const [part, found] of parts.entries()) console.log(told(found, FIRST + part * share));
  expect(parts.flatMap(({ failures }) => failures)).toEqual([]);
});
