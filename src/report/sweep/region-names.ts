import { pathLines } from "../region-path.ts";
import type { SweepRegion } from "./document.ts";

/** What a sweep's reports call its regions: their paths, and the kind of those that are alike. */
export function regionNames(regions: readonly SweepRegion[]): readonly string[] {
  const names = regions.map(pathLines(regions));
  const uses = new Map<string, number>();
  for (const name of names) uses.set(name, (uses.get(name) ?? 0) + 1);
  return names.map((name, at) =>
    uses.get(name) === 1 ? name : `${name} (${regions[at]?.kind.replace("_", "/")})`,
  );
}
