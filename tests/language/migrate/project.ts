/** Projects in temporary folders, and what `hydraconf migrate` says of them. */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runMigrate } from "../../../src/language/migrate/migrate-command.ts";

/** A folder with these files. */
export function project(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-migrate-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** Runs the command in a folder. */
export async function runIn(cwd: string, ...args: readonly string[]) {
  let [stdout, stderr] = ["", ""];
  const code = await runMigrate(args, {
    argv: args,
    env: {},
    cwd,
    now: new Date(2026, 0, 1),
    console: {
      stdout: (text) => {
        stdout += text;
      },
      stderr: (text) => {
        stderr += text;
      },
    },
  });
  return { code, stdout, stderr };
}

interface Reported {
  readonly findings: readonly {
    readonly file: string;
    readonly line: number;
    readonly level: string;
    readonly rule: string;
    readonly fixable: boolean;
  }[];
}

/** What is found, as `file:line level rule`. */
export async function foundIn(cwd: string, ...args: readonly string[]) {
  const { stdout } = await runIn(cwd, "--json", ...args);
  const { findings } = JSON.parse(stdout) as Reported;
  return findings.map(({ file, level, line, rule }) => `${file}:${line} ${level} ${rule}`);
}
