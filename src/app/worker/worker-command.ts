import type { SweepManifest } from "../sweep/record/manifest.ts";
import { workerEnvironment } from "./worker-request.ts";

/** How to start the worker of a job: a process of its own, in this directory. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** To be added to the environment of the launcher. */
  readonly env: Readonly<Record<string, string>>;
}

/** The command line of a job's worker; null for a program that nothing can start again. */
export function workerCommand(
  { cwd, program }: SweepManifest,
  folder: string,
  number: number,
): WorkerCommand | null {
  const [file, ...first] = program.command ?? [];
  if (file === undefined) return null;
  return {
    file,
    args: [...first, ...program.argv],
    cwd,
    env: workerEnvironment({ folder, number }),
  };
}
