import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { HydraMainOptions } from "../../../src/app/cli/check-main.ts";
import { hydraMain } from "../../../src/app/cli/hydra-main.ts";
import type { Task } from "../../../src/app/job/job.ts";
import { capturedConsole } from "../../captured-console.ts";

/** A program in a directory of its own, run in this process; `--resume` enters the directory of its sweep. */
export function program(
  files: Readonly<Record<string, string>>,
  options: Partial<HydraMainOptions> = {},
) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-app-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  return {
    cwd,
    async run(
      argv: readonly string[],
      task: Task = () => undefined,
      env: Record<string, string> = {},
      terminal: { readonly stdoutWidth?: number } = {},
    ) {
      const { console, out } = capturedConsole();
      const before = process.cwd();
      const exitCode = await hydraMain(
        {
          name: "prog",
          version: "1.2.3",
          base: cwd,
          configPath: "conf",
          configName: "config",
          ...options,
        },
        task,
        {
          argv,
          env,
          cwd,
          now: new Date(2026, 0, 2, 3, 4, 5),
          console: { ...console, ...terminal },
        },
      ).finally(() => {
        // Threads, in which mutants are tested, cannot change it at all.
        if (process.cwd() !== before) process.chdir(before);
      });
      return { exitCode, ...out };
    },
  };
}
