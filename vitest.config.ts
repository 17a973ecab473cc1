import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { isTextFile, textModule } from "./scripts/text-files.mjs";
import { LongestFirst } from "./tests/longest-first.ts";

// `npm run test:slow` sets it.
const isSlow = process.env["HYDRACONF_SLOW"] === "1";

export default defineConfig({
  plugins: [
    {
      // As in bundles: a program in another language is a module whose default export is its text.
      name: "program-text",
      transform: (text, id) => (isTextFile(id) ? { code: textModule(text), map: null } : null),
    },
  ],
  test: {
    include: [isSlow ? "tests/**/*.slow.ts" : "tests/**/*.test.ts"],
    // Only slow tests ask a registry. Where certificates are named, each of the thousands of starts of Node would read them.
    env: isSlow ? {} : { NODE_EXTRA_CA_CERTS: "" },
    // How often a rule is wrong, counted over many random cases, takes seconds: too long for each of thousands of mutations.
    tags: [{ name: "simulation", description: "counts how often a rule is wrong" }],
    globalSetup: ["tests/temporary-folder.ts", "tests/python-on-path.ts"],
    setupFiles: ["tests/setup.ts"],
    // Many tests wait for other programs: more than there are processors, so that none idles meanwhile. Of slow ones fewer,
    // since several kill programs at certain moments.
    maxWorkers: availableParallelism() + (isSlow ? 1 : 2),
    sequence: { sequencer: LongestFirst },
    // The code has no global state, so files may share a process and what it has loaded; what a file
    // leaves behind there is an error (tests/setup.ts).
    isolate: false,
    // Subprocess tests build and run real binaries, on machines that have more to do: give them room, but let a hang
    // fail. Nothing below may depend on how long something takes: tests/wait.ts.
    testTimeout: 300_000,
    hookTimeout: 600_000,
  },
});
