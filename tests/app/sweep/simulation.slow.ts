import { availableParallelism } from "node:os";
import { expect, test } from "vitest";
import { type Fault, simulations, told } from "./simulation/simulations.ts";

/** More in `npm run nightly`. */
const RUNS = Number(process.env["HYDRACONF_SIMULATIONS"] ?? 1_000);
const FIRST = Number(process.env["HYDRACONF_SIMULATION_SEED"] ?? 1_000_000);
const sideBySide = Math.min(8, availableParallelism());

/** What the simulation is to find. */
const FAULTS: readonly Fault[] = [
  {
    name: "begins-unnoted",
    replaced:
      /(async function awaitNotedStart\(\{ folder, number: (\w+) \}[\s\S]*?)if \(!mayStillCome\) return void 0;/,
    by: "$1return state ?? begun($2, void 0, { id });",
  },
  {
    name: "forgets-workers",
    replaced: /const worker = orphanOf\(/,
    by: "const worker = void 0 && orphanOf(",
  },
  {
    name: "starts-without-claim",
    replaced: /if \(claim !== void 0\) refuseIfLost\(folder, claim\);/,
    by: "",
  },
];

const FOUND =
  /^#\d+ (begins in \d+ while \d+ runs it|is completed and begins again|was completed and is running)$/;

test.each(FAULTS)("it finds a planted fault: $name", { timeout: 3_600_000 }, async (fault) => {
  const told: string[] = [];
  // At the latest in the hundredth.
  for (let first = 0; first < 100 && !told.some((problem) => FOUND.test(problem)); first += 20) {
    const { failures } = await simulations(first, 20, fault);
    told.push(...failures.flatMap(({ problems }) => problems));
  }
  expect(told).toContainEqual(expect.stringMatching(FOUND));
});

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

test("a seed gives the same run again", async () => {
  const { seconds: _first, ...first } = await simulations(7, 3);
  const { seconds: _second, ...second } = await simulations(7, 3);
  expect(second).toEqual(first);
});
