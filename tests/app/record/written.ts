import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createJobList } from "../../../src/app/record/job-list.ts";
import { jobFile, manifestFile, startedFile } from "../../../src/app/record/layout.ts";
import {
  type ManifestJob,
  type SweepFacts,
  writeManifest,
} from "../../../src/app/record/manifest.ts";
import { sealedLinesText, sealedText } from "../../../src/foundation/system/sealed-json.ts";

/** What a sweep is that nothing can start again. */
export const factsIn = (directory: string, facts: Partial<SweepFacts> = {}): SweepFacts => ({
  program: { name: "prog", command: null, argv: [] },
  cwd: directory,
  now: "2026-01-02T03:04:05.000Z",
  dialect: "1.3",
  directory,
  overrides: [],
  launcher: "hydraconf.LocalLauncher",
  launcher_choice: null,
  fingerprint: "",
  holds_secrets: false,
  ...facts,
});

export const jobOf = (number: number, more: Partial<ManifestJob> = {}): ManifestJob => ({
  number,
  overrides: [`x=${number}`],
  task_overrides: [`x=${number}`],
  output_dir: "",
  fingerprint: "",
  ...more,
});

/** As if a job had never started. */
export function forgetJob(folder: string, number: number): void {
  for (const file of [startedFile(folder, number), jobFile(folder, number)])
    rmSync(file, { force: true });
}

/** Writes a file of the record whole, whatever it says. */
export const writeSealed = (file: string, value: object): void =>
  writeFileSync(file, sealedText(file, value));

/** Changes the texts of a sealed file, which is whole afterwards; one that a failed write has torn stays torn. */
export function rewriteSealed(file: string, change: (text: string) => string): void {
  if (!existsSync(file)) return;
  const text = change(readFileSync(file, "utf8"));
  const isList = file.endsWith(".jsonl");
  const values = documentsIn(isList ? text.trimEnd().split("\n") : [text]);
  const whole = isList
    ? sealedLinesText
    : (_: string, [value]: readonly object[]) => sealedText(file, value ?? {});
  writeFileSync(file, values === undefined ? text : whole(file, values));
}

/** Undefined if one of them is torn. */
function documentsIn(texts: readonly string[]): readonly object[] | undefined {
  try {
    return texts.map((text) => {
      const { checksum: _, ...value } = JSON.parse(text);
      return value;
    });
  } catch {
    return undefined;
  }
}

/** Changes a manifest, which is whole afterwards. */
export function changeManifest(
  folder: string,
  change: (manifest: Record<string, unknown>) => void,
): void {
  const file = manifestFile(folder);
  const { checksum: _, ...manifest } = JSON.parse(readFileSync(file, "utf8"));
  change(manifest);
  writeSealed(file, manifest);
}

/** Writes the manifest of a sweep of these jobs. */
export const writeSweep = (
  folder: string,
  facts: SweepFacts,
  jobs: readonly ManifestJob[] = [jobOf(0)],
): void => writeManifest(folder, facts, createJobList(folder, jobs, []).name);
