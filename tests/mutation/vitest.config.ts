/** The tests that `npm run mutation` runs: those nearest to what it mutates. */
import { mergeConfig } from "vitest/config";
import common from "../../vitest.config.ts";

export default mergeConfig(
  // Without what waits until a test file has left its process as it was: a test that a change lets fail leaves more.
  { ...common, test: { ...common.test, include: [], setupFiles: [] } },
  {
    test: {
      include: [process.env["HYDRACONF_MUTATION_TESTS"] ?? ""],
      setupFiles: ["tests/mutation/setup.ts"],
      tagsFilter: ["!simulation"],
      // What failed, and how, interests nobody.
      reporters: [{}],
      diff: { maxDepth: 1, truncateThreshold: 1 },
    },
  },
);
