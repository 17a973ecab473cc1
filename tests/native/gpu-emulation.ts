import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import type { NativeDetection } from "../../native/build.mjs";

const native = fileURLToPath(new URL("../../native", import.meta.url));
const builds = fileURLToPath(new URL("../../build/fixtures", import.meta.url));

const FOLDERS = [
  ["common", ".cc"],
  ["shallow_resnet", ".cc"],
  ["shallow_resnet/cpu", ".cc"],
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
    ...["-std=gnu++17", "-O1", "-g", "-fPIC", "-pthread", "-Wall", "-Wextra", "-Werror"],
    // #pragma unroll means something to nvcc only.
    "-Wno-unknown-pragmas",
    ...[`-I${native}/fixtures/gpu_emulation`, `-I${native}`, `-isystem${nvcc.include}`],
    ...["-DHYDRACONF_CUDA=1", '-DHYDRACONF_CUDA_TARGETS="emulation"'],
    ...(library === "cudnn"
      ? ["-DHYDRACONF_CUDNN=1", `-I${native}/fixtures/gpu_emulation/cudnn`]
      : ["-DHYDRACONF_CUDNN=0"]),
  ];
  const folders = [...FOLDERS, ...(library === "cudnn" ? CUDNN_FOLDERS : [])];
  const sources = folders.flatMap(([folder, extension]) =>
    readdirSync(join(native, folder))
      .filter((name) => name.endsWith(extension))
      .sort()
      .map((name) => join(native, folder, name)),
  );
  const key = createHash("sha256")
    .update(JSON.stringify([compiler, flags]))
    .update(textOf(native));
  const output = join(builds, `emulated-gpu-${key.digest("hex").slice(0, 16)}`);
  if (existsSync(output)) return output;

  const [command = "", ...launcher] = compiler.command.split(" ");
  const folder = `${output}.${process.pid}`;
  mkdirSync(folder, { recursive: true });
  try {
    const objects = sources.map((_, i) => join(folder, `${i}.o`));
    const waiting = sources.map((source, i) => [source, objects[i] ?? ""] as const);
    const compile = async (): Promise<void> => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
        const [source, object] = next;
        await execa(command, [...launcher, ...flags, "-x", "c++", "-c", source, "-o", object]);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, compile));
    const program = join(folder, "program");
    await execa(command, [...launcher, "-pthread", ...objects, "-o", program, "-ldl"]);
    renameSync(program, output);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return output;
}

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
