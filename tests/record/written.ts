import { createJobList } from "../../src/record/job-list.ts";
import { type ManifestJob, type SweepFacts, writeManifest } from "../../src/record/manifest.ts";

/** What a sweep is that nothing can start again. */
export const factsIn = (directory: string, facts: Partial<SweepFacts> = {}): SweepFacts => ({
  program: { name: "prog", command: null, argv: [] },
  cwd: directory,
  now: "2026-01-02T03:04:05.000Z",
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

/** Writes the manifest of a sweep of these jobs. */
export const writeSweep = (
  folder: string,
  facts: SweepFacts,
  jobs: readonly ManifestJob[] = [jobOf(0)],
): void => writeManifest(folder, facts, createJobList(folder, jobs, []).name);
