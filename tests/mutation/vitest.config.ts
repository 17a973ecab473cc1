/** The tests that `npm run mutation` runs: those nearest to what it mutates. */
import { mergeConfig } from "vitest/config";
import common from "../../vitest.config.ts";

export default mergeConfig(
  { ...common, test: { ...common.test, include: [] } },
  {
    test: {
      include: [process.env["HYDRACONF_MUTATION_TESTS"] ?? ""],
      setupFiles: ["tests/mutation/setup.ts"],
      tagsFilter: ["!simulation"],
      reporters: [{}],
    },
  },
);
