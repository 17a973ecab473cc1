import { pathLines } from "../region-path.ts";
import type { SweepRegion } from "./document.ts";

/** What a sweep's reports call its regions. */
export const regionNames = (regions: readonly SweepRegion[]): readonly string[] =>
  regions.map(pathLines(regions));
