import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    globalSetup: ["tests/temporary-folder.ts"],
    setupFiles: ["tests/setup.ts"],
    // Subprocess tests build and run real binaries: give them room, but let a hang fail.
    testTimeout: 60_000,
    hookTimeout: 600_000,
  },
});
