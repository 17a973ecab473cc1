import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { NativeDetection } from "../../native/build.mjs";

const native = fileURLToPath(new URL("../../native", import.meta.url));
const builds = fileURLToPath(new URL("../../build/fixtures", import.meta.url));
/** Where `npm test` builds the native part before the tests run. */
const release = fileURLToPath(new URL("../../build/Release", import.meta.url));

/** What is compiled for the emulation; the rest of shallow_resnet is in the libraries of the native build. */
const SOURCES = [
  "shallow_resnet/main.cc",
  "shallow_resnet/backend_registry.cc",
  "shallow_resnet/cuda_backend.cc",
] as const;

const FOLDERS = [
  ["shallow_resnet/cuda", ".cc"],
  ["shallow_resnet/cuda", ".cu"],
  ["fixtures/gpu_emulation", ".cc"],
] as const;

const CUDNN_FOLDERS = [
  ["shallow_resnet/cudnn", ".cc"],
  ["fixtures/gpu_emulation/cudnn", ".cc"],
] as const;

/**
 * shallow_resnet whose `--device cuda:0` runs the GPU kernels' own source on the processor, for
 * machines without a GPU (native/fixtures/gpu_emulation). Built once per state of the sources.
 *
 * @param library `cudnn`: with convolutions by the pretended cuDNN
 * @returns null, after saying why, where the CUDA headers are not there
 */
export async function emulatedGpuProgram(
  library: "cuda" | "cudnn" = "cuda",
): Promise<string | null> {
  const { stdout } = await execa("python3", [join(native, "detect.py"), "all"], {
    env: { HYDRACONF_CUDA: "0" },
  });
  const { compiler, nvcc } = JSON.parse(stdout) as NativeDetection;
  if (nvcc?.include == null) {
    console.warn("SKIPPED GPU kernels on an emulated GPU: no CUDA toolkit on this machine");
    return null;
  }
  const flags = [
    ...["-std=gnu++17", "-O1", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"],
    // #pragma unroll means something to nvcc only.
    "-Wno-unknown-pragmas",
    ...[`-I${native}/fixtures/gpu_emulation`, `-I${native}`, `-isystem${nvcc.include}`],
    ...["-DHYDRACONF_CUDA=1", '-DHYDRACONF_CUDA_TARGETS="emulation"'],
  ];
  const cudnnFlags =
    library === "cudnn"
      ? ["-DHYDRACONF_CUDNN=1", `-I${native}/fixtures/gpu_emulation/cudnn`]
      : ["-DHYDRACONF_CUDNN=0"];
  // Most sources are the same with and without cuDNN.
  const flagsOf = (source: string): readonly string[] =>
    /cudnn/i.test(readFileSync(source, "utf8")) ? [...flags, ...cudnnFlags] : flags;
  const folders = [...FOLDERS, ...(library === "cudnn" ? CUDNN_FOLDERS : [])];
  const sources = [
    ...SOURCES.map((name) => join(native, name)),
    ...folders.flatMap(([folder, extension]) =>
      readdirSync(join(native, folder))
        .filter((name) => name.endsWith(extension))
        .sort()
        .map((name) => join(native, folder, name)),
    ),
  ];
  const libraries = ["shallow_resnet_core.a", "common.a"].map((name) => join(release, name));
  const key = hashOf(
    JSON.stringify([compiler, library, libraries.map((file) => statSync(file).mtimeMs)]),
    textOf(native),
  );
  const output = join(builds, `emulated-gpu-${key}`);
  if (existsSync(output)) return output;

  const [command = "", ...launcher] = compiler.command.split(" ");
  // Both programs have most of these.
  const objectsFolder = join(
    builds,
    `emulated-objects-${hashOf(compiler.command, textOf(native))}`,
  );
  mkdirSync(objectsFolder, { recursive: true });
  const objects: string[] = [];
  const waiting = sources.values();
  const compile = async (): Promise<void> => {
    for (const source of waiting) {
      const argv = [...launcher, ...flagsOf(source), "-x", "c++", "-c", source];
      const object = join(objectsFolder, `${hashOf(JSON.stringify(argv))}.o`);
      objects.push(object);
      await unlessThere(object, (unfinished) => execa(command, [...argv, "-o", unfinished]));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, compile));
  await unlessThere(output, (unfinished) =>
    execa(command, [
      ...[...launcher, "-pthread", ...objects, ...libraries, "-o", unfinished, "-ldl"],
    ]),
  );
  return output;
}

/** Makes a file that others may be making as well. */
async function unlessThere(file: string, make: (unfinished: string) => Promise<unknown>) {
  if (existsSync(file)) return;
  const unfinished = `${file}.${process.pid}`;
  await make(unfinished);
  renameSync(unfinished, file);
}

const hashOf = (...parts: readonly (string | Buffer)[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex").slice(0, 16);
};

/** Libraries by the names of those behind cuDNN, which is only asked whether they can be loaded. */
export async function cudnnLibraries(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  for (const name of ["graph", "ops", "cnn"])
    await execa("gcc", [
      ...["-shared", "-x", "c", "/dev/null", "-o", join(folder, `libcudnn_${name}.so.9`)],
    ]);
}

/** Everything below a folder, for telling whether it changed. */
function textOf(folder: string): Buffer {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile() && /\.(cc|cu|hpp|inl|h)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  return Buffer.concat(files.flatMap((file) => [Buffer.from(file), readFileSync(file)]));
}
