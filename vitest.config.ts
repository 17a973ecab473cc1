import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./tests/longest-first.ts";

export default defineConfig({
  plugins: [
    {
      // As in bundles: a Python file beside our code is a module whose default export is its text.
      name: "python-text",
      transform: (text, id) =>
        id.endsWith(".py") ? { code: `export default ${JSON.stringify(text)};`, map: null } : null,
    },
  ],
  test: {
    // `npm run test:slow` sets it.
    include: [process.env["HYDRACONF_SLOW"] === "1" ? "tests/**/*.slow.ts" : "tests/**/*.test.ts"],
    globalSetup: ["tests/temporary-folder.ts"],
    setupFiles: ["tests/setup.ts"],
    // Many tests wait for other programs: one more than there are processors, so that none idles meanwhile.
    maxWorkers: availableParallelism() + 1,
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
