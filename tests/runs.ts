/**
 * How many random cases a property is tried on: as many as usual, or more of them in the nightly
 * script (`HYDRACONF_PROPERTY_FACTOR`).
 */
export const runs = (usual: number): number =>
  Math.ceil(usual * Number(process.env["HYDRACONF_PROPERTY_FACTOR"] ?? 1));

/** The same for texts that only have to be accepted or refused: `HYDRACONF_FUZZ_RUNS` in all. */
export const fuzzRuns = (usual: number): number =>
  Number(process.env["HYDRACONF_FUZZ_RUNS"] ?? usual);
