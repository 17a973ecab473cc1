import { createHash } from "node:crypto";
import { createReadStream, statSync } from "node:fs";
import { pipeline } from "node:stream/promises";
import { findExecutable } from "./machine/executable.ts";
import type { Workload } from "./workload/workload.ts";

/** A file that a run read, so that a later run can tell whether it measured the same thing. */
export interface InputFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** What was run, as `inputs.yaml`: the command line and the files behind it. */
export interface RunInputs {
  readonly workload: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly files: readonly InputFile[];
}

/** The program itself and the files that the workload names; files that do not exist are left out. */
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
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return { path, bytes: status.size, sha256: hash.digest("hex") };
}
