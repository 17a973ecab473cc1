/** Simulates sweeps in a process of its own, whose threads wait for each other without an event loop. */
import { execa } from "execa";
import { bundled } from "../../../bundled.ts";
import type { Simulations } from "./main.ts";

export async function simulations(first: number, count: number): Promise<Simulations> {
  const program = bundled(new URL("main.ts", import.meta.url), "simulation");
  const { stdout } = await execa(process.execPath, [program, String(first), String(count)]);
  return JSON.parse(stdout) as Simulations;
}

/** A line with what was simulated. */
export const told = (
  { drivers, kills, runs, seconds, turns }: Simulations,
  first: number,
): string =>
  `${runs} sweeps of 12 jobs (seeds ${first} to ${first + runs - 1}), ${drivers} drivers, ${kills} kills, ${turns} turns in ${seconds.toFixed(1)} s: ${Math.round((runs * 60) / seconds)} a minute`;
