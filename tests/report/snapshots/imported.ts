import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runImport } from "../../../src/profiler/cli/subcommand-lines.ts";
import { NOW } from "./neutral.ts";

export interface Imported {
  /** Absolute path of the directory with the reports. */
  readonly directory: string;
  /** What the terminal showed. */
  readonly terminal: string;
  text(file: string): string;
}

/**
 * Makes every report of real files, by the command that a user would call where the files lie: so
 * that no report names a directory of this machine.
 */
export async function importReal(
  name: string,
  cwd: string,
  files: readonly string[],
  options: readonly string[] = [],
): Promise<Imported> {
  let terminal = "";
  const made = mkdtempSync(join(tmpdir(), "hydraconf-snapshots-"));
  const directory = join(made, name);
  const code = await runImport([...files, "-o", directory, ...options], {
    cwd,
    env: { COLUMNS: "100" },
    now: NOW,
    console: {
      stdout: (text) => {
        terminal += text;
      },
      stderr: () => {},
    },
  });
  if (code !== 0) throw new Error(`the import of ${files.join()} ended with ${code}`);
  return {
    directory,
    terminal: terminal.replaceAll(`${made}/`, ""),
    text: (file) => readFileSync(join(directory, file), "utf8"),
  };
}
