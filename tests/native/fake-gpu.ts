import { copyFileSync, existsSync, mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { buildFixture, recorderEnvironment } from "./fixtures.ts";
import { nativeProgram } from "./programs.ts";

/**
 * A pretended GPU: libraries that stand in for the CUDA driver and for CUPTI, and a program that
 * uses them. What they do is in `native/fixtures/fake_cuda.cc` and `fake_cupti/`.
 */
export interface FakeGpu {
  readonly program: string;
  /** Holds libcuda.so.1 alone. */
  readonly driverDirectory: string;
  /** Path of the pretended libcupti. */
  readonly cupti: string;
}

export async function fakeGpu(cuptiFlags: readonly string[] = []): Promise<FakeGpu> {
  const library = (source: string, name: string, flags: readonly string[] = []): Promise<string> =>
    buildFixture(source, "own client", ["-shared", "-fPIC", `-Wl,-soname,${name}`, ...flags]);
  const driver = await named(await library("fake_cuda.cc", "libcuda.so.1"), "libcuda.so.1");
  const cupti = await named(
    await library("fake_cupti", "libcupti.so.13", cuptiFlags),
    "libcupti.so.13",
  );
  const program = await buildFixture("gpu_program.cc", "own client");
  return { program, driverDirectory: dirname(driver), cupti };
}

/** The same library under the name that programs look for, in a directory of its own. */
async function named(library: string, name: string): Promise<string> {
  const directory = join(dirname(library), `as-${basename(library)}`);
  const path = join(directory, name);
  if (existsSync(path)) return path;
  mkdirSync(directory, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  copyFileSync(library, unfinished);
  renameSync(unfinished, path);
  return path;
}

/** The environment that makes a program record ranges and the pretended GPU into `directory`. */
export async function gpuEnvironment(directory: string): Promise<Record<string, string>> {
  const { driverDirectory, cupti } = await fakeGpu();
  return {
    ...(await recorderEnvironment(directory)),
    CUDA_INJECTION64_PATH: await nativeProgram("region_recorder.so"),
    HYDRACONF_CUPTI_PATH: cupti,
    LD_LIBRARY_PATH: driverDirectory,
  };
}
