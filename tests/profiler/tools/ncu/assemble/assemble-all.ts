import {
  type AssembleOptions,
  createNcuAssembly,
} from "../../../../../src/profiler/tools/ncu/assemble/assembly.ts";
import type { NcuResults } from "../results.ts";

/** The regions of results that are all there. */
export function assembleNcu(measured: NcuResults, options: AssembleOptions = {}) {
  const assembly = createNcuAssembly(options);
  for (const result of measured.results) assembly.add(result);
  return assembly.finish(measured);
}
