/** What a script would do that reads kernels from JSON and sums them up by region and name: the baseline of `npm run bench assembly`. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { KernelInstance, KernelList } from "../src/profiler/model/timeline.ts";

export type PlainKernel = Pick<KernelInstance, "name" | "startNs" | "endNs">;

/** Calls and time of each name, by the number of its region. */
export type Sums = Map<number, Map<string, { calls: number; ns: number }>>;

/** What nobody can do without: each kernel finds its region's row of its name. */
export function addTo(sums: Sums, region: number, { name, startNs, endNs }: PlainKernel): void {
  const rows = sums.get(region) ?? new Map<string, { calls: number; ns: number }>();
  sums.set(region, rows);
  const row = rows.get(name);
  if (row === undefined) {
    rows.set(name, { calls: 1, ns: endNs - startNs });
  } else {
    row.calls++;
    row.ns += endNs - startNs;
  }
}

/** As a trace is read, some thousands at a time. */
const PER_FILE = 4_096;

/** Writes kernels as JSON into files of a new folder. */
export function writeKernels(folder: string, kernels: KernelList): void {
  mkdirSync(folder);
  let part: string[] = [];
  let files = 0;
  const write = (): void => {
    writeFileSync(partOf(folder, files++), `[${part.join(",")}]`);
    part = [];
  };
  for (const { name, device, stream, launchNs, startNs, endNs } of kernels) {
    part.push(JSON.stringify({ name, device, stream, launchNs, startNs, endNs }));
    if (part.length === PER_FILE) write();
  }
  if (part.length > 0) write();
}

/** Reads what `writeKernels` wrote, and sums it up. */
export function sumUp(folder: string, kernels: number, perRegion: number): Sums {
  const sums: Sums = new Map();
  let index = 0;
  for (let file = 0; index < kernels; file++) {
    const text = readFileSync(partOf(folder, file), "utf8");
    for (const kernel of JSON.parse(text) as readonly PlainKernel[])
      addTo(sums, Math.floor(index++ / perRegion), kernel);
  }
  return sums;
}

const partOf = (folder: string, file: number): string => join(folder, `${file}.json`);
