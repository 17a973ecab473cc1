import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/model/document.ts";

const bin = fileURLToPath(new URL("../../dist/bin", import.meta.url));

export interface CommandResult {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Path of a built command: `npm test` builds them before the tests run. */
export function commandPath(name: string, from = bin): string {
  const path = join(from, `${name}.js`);
  if (!existsSync(path)) throw new Error(`${path} is absent: npm run build:ts makes it`);
  return path;
}

interface CommandOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Another directory of commands than the one that was built. */
  readonly bin?: string;
}

/** Runs a built command as a process of its own, as a user would. */
export async function runCommand(
  name: "deep-profile" | "hydraconf" | "validate-regions",
  args: readonly string[],
  { bin: from = bin, ...options }: CommandOptions,
): Promise<CommandResult> {
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [commandPath(name, from), ...args],
    {
      ...options,
      reject: false,
      stdin: "ignore",
    },
  );
  return { code: exitCode, stdout, stderr };
}

/** Starts `deep-profile` without waiting for it. */
export function startProfile(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): ChildProcess {
  return spawn(process.execPath, [commandPath("deep-profile"), ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** A directory to stand in, and the means to leave no trace. */
export function temporaryDirectory(): { readonly path: string; readonly remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "hydraconf e2e-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function readBundle(directory: string, collector = "recorder"): RegionReportBundle {
  return JSON.parse(readFileSync(join(directory, collector, "regions/report.json"), "utf8"));
}

/** The regions of the first report by their paths, joined with ` > `. */
export function regionsByPath(bundle: RegionReportBundle): ReadonlyMap<string, NCUProfileRegion> {
  const regions = bundle.reports[0]?.regions ?? [];
  return new Map(regions.map((region) => [region.path.join(" > "), region]));
}
