/** Simulates sweeps in a process of its own, whose threads wait for each other without an event loop. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { execa } from "execa";
import { bundled } from "../../../bundled.ts";
import type { Simulations } from "./main.ts";

/** A defect that is put into the program, as text of its bundle. */
export interface Fault {
  /** The name of its files. */
  readonly name: string;
  readonly replaced: RegExp;
  readonly by: string;
}

/** @throws Error where the text is not there once */
function faulty(program: string, { by, name, replaced }: Fault): string {
  const copy = program.replace(/\.cjs$/, `-${name}.cjs`);
  const bundle = (file: string) => file.replace(/\.cjs$/, ".bundle.js");
  const text = readFileSync(bundle(program), "utf8");
  if ([...text.matchAll(new RegExp(replaced, "g"))].length !== 1)
    throw new Error(`the bundle has no ${replaced}, or several`);
  writeFileSync(bundle(copy), text.replace(replaced, by));
  if (!existsSync(copy)) writeFileSync(copy, readFileSync(program));
  return copy;
}

/** @param fault of the program, looked for in grids; undefined for the program as it is */
export async function simulations(
  first: number,
  count: number,
  fault?: Fault,
): Promise<Simulations> {
  const sound = bundled(new URL("main.ts", import.meta.url), "simulation");
  const program = fault === undefined ? sound : faulty(sound, fault);
  const { stdout } = await execa(process.execPath, [
    ...[program, String(first), String(count)],
    ...(fault === undefined ? [] : ["grid"]),
  ]);
  return JSON.parse(stdout) as Simulations;
}

/** A line with what was simulated. */
export const told = (
  { drivers, kills, runs, seconds, turns }: Simulations,
  first: number,
): string =>
  `${runs} sweeps (seeds ${first} to ${first + runs - 1}), ${drivers} drivers, ${kills} kills, ${turns} turns in ${seconds.toFixed(1)} s: ${Math.round((runs * 60) / seconds)} a minute`;
