import type { NcuResult } from "../ncu/results.ts";

/** Finds tables of one report that are given side by side, in which each kernel stands again. */
export interface RepeatedResults {
  see(file: string, result: NcuResult): void;
  notes(): readonly string[];
}

/** As many of a file are looked at: tables of one report share their first results. */
const MOST = 1000;

export function createRepeatedResults(): RepeatedResults {
  const fileOf = new Map<string, string>();
  const seen = new Map<string, number>();
  const repeats = new Map<string, { readonly files: readonly string[]; readonly what: string }>();

  return {
    see(file, { kind, processId, id, kernelName }) {
      const count = seen.get(file) ?? 0;
      if (kind !== "kernel" || count >= MOST) return;
      seen.set(file, count + 1);
      const key = `${processId} ${id} ${kernelName}`;
      const first = fileOf.get(key);
      if (first === undefined) fileOf.set(key, file);
      else if (first !== file && !repeats.has(`${first}\0${file}`))
        repeats.set(`${first}\0${file}`, {
          files: [first, file],
          what: `result ${id} of process ${processId}`,
        });
    },
    notes: () =>
      [...repeats.values()].map(
        ({ files, what }) =>
          `${files.join(" and ")} both have ${what}: if both are tables of one report, its kernels count twice; give only one of them`,
      ),
  };
}
