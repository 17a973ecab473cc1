/** The order of test files: those that take longest first, so that no processor waits for the last of them at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * What takes long though its file is small, longest first; of the quick suite, what mostly waits (enders, common, search-time-limit)
 * among what computes, so that the processors have work. Of files that it has not run yet, as in a fresh clone, Vitest runs
 * the largest first.
 */
export const LONG = [
  "native/harmless.slow.ts",
  "native/recorder-faults.slow.ts",
  "app/plugins/slurm/enders.slow.ts",
  "repo/package.slow.ts",
  "e2e/ncu-failures.slow.ts",
  "e2e/bounded.slow.ts",
  "repo/consumers.slow.ts",
  "app/sweep/failing-files.slow.ts",
  "conformance/dialects.slow.ts",
  "conformance/searches.slow.ts",
  "app/plugins/slurm/real-slurm.slow.ts",
  "app/sweep/simulation.slow.ts",
  "e2e/failing-files.slow.ts",
  "app/sweep/fault-points.slow.ts",
  "native/causes.slow.ts",
  "app/sweep/enders.slow.ts",
  "app/plugins/slurm/preemption.slow.ts",
  "app/sweep/search-time-limit.slow.ts",
  "app/plugins/slurm/killed-programs.slow.ts",
  "app/sweep/killed-rounds.slow.ts",
  "conformance/conformance.test.ts",
  "app/sweep/enders.test.ts",
  "native/harmless.test.ts",
  "app/plugins/slurm/common.test.ts",
  "repo/measures.test.ts",
  "app/sweep/simulation.test.ts",
  "app/sweep/fault-points.test.ts",
  "app/sweep/search-time-limit.test.ts",
];

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = LONG.findIndex((name) => moduleId.endsWith(`/tests/${name}`));
  return place < 0 ? LONG.length : place;
};

/** A class, because Vitest wants one. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}
