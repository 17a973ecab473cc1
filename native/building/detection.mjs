// What this machine has to build with, and what is made of it.
import { join } from "node:path";
import { withBuildEnvironment } from "./environment.mjs";
import { NativeBuildError } from "./error.mjs";
import { requirePython } from "./python.mjs";
import { run } from "./run.mjs";

/**
 * What native/detect.py found: compiler, nvcc, NVTX headers, cuDNN.
 *
 * @param environment the variables to build with
 * @param gpus compute capabilities of GPUs that the build is for beside those of this machine: [90]
 */
export async function detect(root, { environment, gpus, signal }) {
  const detect = [join(root, "native", "detect.py"), "all", ...gpus.map(String)];
  const env = withBuildEnvironment(environment);
  const result = await run(await requirePython(signal), detect, { cwd: root, env, signal });
  if (result.code !== 0) throw new NativeBuildError(result.output.trim());
  const detected = JSON.parse(result.output);
  if (detected.compiler === null)
    throw new NativeBuildError(
      "a C++17 compiler is needed to build the native part; none was found (CXX names one)",
    );
  return detected;
}

export const usesOwnClient = (detected, options) =>
  options.ownNvtx === true || detected.nvtx === null;

/** What is to be built for GPUs: `reason` says why nothing, or why without cuDNN. */
export function gpuPlan({ cuda, cudnn }) {
  if (!cuda.build) return { built: false, targets: null, libraries: [], reason: cuda.reason };
  const unusable = cudnn === null ? "no cuDNN" : cudnn.unusable;
  return {
    built: true,
    targets: cuda.targets,
    libraries: unusable === null ? ["cudnn", "cuda"] : ["cuda"],
    reason: unusable,
  };
}

/** One line for people: what was found, and what is made of it. */
export function summary(detected, options, gpu) {
  const { compiler, nvcc, nvtx, cudnn } = detected;
  const headers = nvtx?.cuda ? `nvtx3 headers of CUDA ${nvtx.cuda}` : "nvtx3 headers of NVTX_ROOT";
  const compiled = `${compiler.command} ${compiler.version ?? ""}`.trim();
  if (options.parts === "recorder") return compiled;
  return [
    compiled,
    "CPU backend",
    ...(gpu.built ? [`GPU backend for ${gpu.targets} by nvcc ${nvcc.version}`] : []),
    ...(gpu.libraries.includes("cudnn") ? [`cuDNN ${cudnn.version}`] : []),
    ...(gpu.reason === null ? [] : [gpu.built ? gpu.reason : `no GPU backend: ${gpu.reason}`]),
    usesOwnClient(detected, options) ? "NVTX by our own client" : headers,
  ].join("; ");
}
