import { statSync } from "node:fs";
import { fileHash } from "../../system/files.ts";
import { findExecutable } from "../machine/executable.ts";
import type { Workload } from "../workload/workload.ts";

/** A file that a run read, recorded so that runs can be checked for having measured the same. */
export interface InputFile {
  readonly path: string;
  readonly bytes: number;
  /** Null if the file may be executed but not read. */
  readonly sha256: string | null;
}

/** What was run, for `inputs.yaml`: the command line and its files. */
export interface RunInputs {
  readonly workload: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly files: readonly InputFile[];
}

/** Describes the program and the files that the workload names. Missing files are left out. */
export async function describeInputs(workload: Workload): Promise<RunInputs> {
  const program = findExecutable(workload.argv[0] ?? "", workload.cwd);
  const paths = [...(program === null ? [] : [program]), ...workload.inputFiles];
  const files = await Promise.all(paths.map(describeFile));
  return {
    workload: workload.label,
    command: workload.argv,
    cwd: workload.cwd,
    files: files.filter((file) => file !== null),
  };
}

async function describeFile(path: string): Promise<InputFile | null> {
  const status = statSync(path, { throwIfNoEntry: false });
  if (!status?.isFile()) return null;
  return { path, bytes: status.size, sha256: await hashOf(path) };
}

/** Null for a file that cannot be read: programs with mode 711, such as some of root's, still run. */
const hashOf = (path: string): Promise<string | null> => fileHash(path).catch(() => null);
