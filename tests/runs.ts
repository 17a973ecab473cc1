/** The most random cases where there are fewer than usual: a few properties have thousands. */
const MOST_OF_FEW = 50;

/**
 * How many random cases a property is tried on: as many as usual, or more of them in the nightly
 * script, and fewer in mutation tests (`HYDRACONF_PROPERTY_FACTOR`).
 */
export function runs(usual: number): number {
  const factor = Number(process.env["HYDRACONF_PROPERTY_FACTOR"] ?? 1);
  const count = Math.ceil(usual * factor);
  return factor < 1 ? Math.min(MOST_OF_FEW, count) : count;
}

/** The same for texts that only have to be accepted or refused: `HYDRACONF_FUZZ_RUNS` in all. */
export const fuzzRuns = (usual: number): number =>
  Number(process.env["HYDRACONF_FUZZ_RUNS"] ?? usual);
