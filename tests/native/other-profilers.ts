import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { getOrCreate } from "../../src/foundation/system/get-or-create.ts";
import { type RecordedProcess, readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { fakeGpu, gpuEnvironment } from "./fake-gpu.ts";
import { buildFixture } from "./fixtures.ts";
import { recordingDirectory } from "./record.ts";

/** Profilers that use CUPTI, or the driver, as the tools do that are named in their sources. */
export type Profiler =
  /** libcupti linked; functions bound when they are called first, or when it is loaded. */
  | "kineto"
  | "kineto bound at once"
  /** Functions looked up by name. */
  | "proton"
  | "mosaic";

const SHARED = ["-shared", "-fPIC"];

const built = new Map<Profiler, Promise<string>>();

/** The library of a profiler. */
export const profilerLibrary = (profiler: Profiler): Promise<string> =>
  getOrCreate(built, profiler, () => build(profiler));

async function build(profiler: Profiler): Promise<string> {
  const { cupti } = await fakeGpu();
  const linked = ["-Wl,--no-as-needed", cupti, `-Wl,-rpath,${dirname(cupti)}`];
  switch (profiler) {
    case "kineto":
      return buildFixture("profilers/kineto.cc", "own client", [
        ...SHARED,
        ...linked,
        "-Wl,-z,lazy,-z,norelro",
      ]);
    case "kineto bound at once":
      return buildFixture("profilers/kineto.cc", "own client", [
        ...SHARED,
        ...linked,
        "-Wl,-z,now,-z,relro",
      ]);
    case "proton":
      return buildFixture("profilers/looked_up.cc", "own client", SHARED);
    case "mosaic":
      return buildFixture("profilers/looked_up.cc", "own client", [
        ...SHARED,
        "-DPROFILER_SHARES=1",
      ]);
  }
}

/** A library as Nsight's, for the variables of the driver and of NVTX. */
export const nsightLibrary = (): Promise<string> =>
  buildFixture("profilers/nsight.cc", "own client", SHARED);

/** Another file of the same CUPTI, as packages bring their own. */
export async function otherCupti(): Promise<string> {
  const { cupti } = await fakeGpu();
  const directory = join(dirname(cupti), "of-a-package");
  const path = join(directory, "libcupti.so");
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  copyFileSync(cupti, `${path}.${process.pid}`);
  renameSync(`${path}.${process.pid}`, path);
  return path;
}

/** The program, with a profiler inside it that is linked with libcupti where `profiler` says so. */
export async function profiledProgram(
  profiler: "loads its profiler" | "has kineto inside" = "loads its profiler",
): Promise<string> {
  if (profiler === "loads its profiler") return buildFixture("profiled_program.cc", "own client");
  const kineto = fileURLToPath(
    new URL("../../native/fixtures/profilers/kineto.cc", import.meta.url),
  );
  const { cupti } = await fakeGpu();
  return buildFixture("profiled_program.cc", "own client", [
    ...[
      kineto,
      "-Wl,--no-as-needed",
      cupti,
      `-Wl,-rpath,${dirname(cupti)}`,
      "-Wl,--export-dynamic",
    ],
  ]);
}

let environment: Promise<Readonly<Record<string, string>>> | undefined;

export interface Profiled {
  /** Lines that the program and its profiler printed. */
  readonly said: readonly string[];
  readonly code: number | undefined;
  readonly processes: readonly RecordedProcess[];
  readonly notes: readonly string[];
}

/** Runs the program with a profiler of its own under the recorder. */
export async function runProfiled(
  steps: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  program?: string,
): Promise<Profiled> {
  const directory = recordingDirectory();
  // The same for all runs but for this one variable; looking whether everything is built takes a while.
  environment ??= gpuEnvironment("");
  const { exitCode, stdout, stderr } = await execa(program ?? (await profiledProgram()), steps, {
    reject: false,
    env: { ...(await environment), HYDRACONF_RECORDER_DIR: directory, ...env },
  });
  if (stderr !== "") throw new Error(stderr);
  const timeline = readRecording(directory);
  return {
    said: stdout === "" ? [] : stdout.split("\n"),
    code: exitCode,
    processes: timeline.processes,
    notes: timeline.notes,
  };
}
