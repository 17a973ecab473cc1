// Compiles with node-gyp.
import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { gpuPlan } from "./detection.mjs";
import { withBuildEnvironment } from "./environment.mjs";
import { NativeBuildError } from "./error.mjs";
import { requirePython } from "./python.mjs";
import { run } from "./run.mjs";

/**
 * Builds with the GPU backend where it is planned. A toolkit that does not work with this compiler
 * must not keep the rest from being built, unless the GPU backend was asked for.
 */
export async function runWithOrWithoutGpu({ detected, say, ...request }) {
  const plan = gpuPlan(detected);
  if (request.options.parts === "recorder") {
    // With the definitions of the whole: what is compiled now stays when that follows.
    await runNodeGyp(request, gpuDefinitions(detected, plan), ["region_recorder", "chip_metrics"]);
    return { ...NO_GPU, reason: "only the recorder was built" };
  }
  const compile = (gpu) => runNodeGyp(request, gpuDefinitions(detected, gpu));
  try {
    await compile(plan);
    return plan;
  } catch (error) {
    if (!plan.built || detected.cuda.required || !(error instanceof NativeBuildError)) throw error;
    const none = { ...NO_GPU, reason: "it could not be compiled" };
    await compile(none);
    // Only now: had the rest failed as well, the GPU backend would not have been to blame.
    say(
      `the GPU backend could not be compiled, so there is only the CPU backend (HYDRACONF_CUDA=1 makes this an error, HYDRACONF_CUDA=0 leaves it out):\n${error.message}`,
    );
    return none;
  }
}

const NO_GPU = { built: false, targets: null, libraries: [] };

function gpuDefinitions({ nvcc, cuda, cudnn }, plan) {
  if (!plan.built) return ["-Dcuda=0", "-Dcudnn=0"];
  return [
    "-Dcuda=1",
    `-Dnvcc=${nvcc.path}`,
    `-Dcuda_include=${nvcc.include}`,
    `-Dcuda_library=${nvcc.library}`,
    `-Dcuda_gencode=${cuda.gencode.join(" ")}`,
    `-Dcuda_targets=${cuda.targets}`,
    ...(plan.libraries.includes("cudnn")
      ? [
          "-Dcudnn=1",
          `-Dcudnn_include=${cudnn.include}`,
          `-Dcudnn_library=${cudnn.library}`,
          `-Dcudnn_search=${cudnn.search.join(":")}`,
        ]
      : ["-Dcudnn=0"]),
  ];
}

/** Times are kept: make then compiles again only what changed. */
export async function copySources(root, to) {
  await rm(join(to, "native"), { recursive: true, force: true });
  for (const name of ["native", "package.json"])
    await cp(join(root, name), join(to, name), { recursive: true, preserveTimestamps: true });
}

/** @param targets those of the gyp file; empty for all */
async function runNodeGyp({ root, dir, environment, options, signal }, gpu, targets = []) {
  const nodeGyp = createRequire(join(root, "package.json")).resolve("node-gyp/bin/node-gyp.js");
  // Warnings are errors where this code is developed. Where it is only used, a newer compiler may
  // have new ones; and GCC warns about constructs that it does not instrument.
  const strict = existsSync(join(root, ".git")) && !options.sanitize;
  const definitions = [
    `-Duse_own_nvtx=${options.ownNvtx ? 1 : 0}`,
    `-Dsanitize=${options.sanitize ?? ""}`,
    `-Dwarnings_as_errors=${strict ? 1 : 0}`,
    ...gpu,
  ];
  // Ours: nothing of this is an add-on, a Node may come without its headers, and node-gyp would download them.
  const nodedir = `--nodedir=${join(dir, "native", "node-settings")}`;
  const steps = [
    ["configure", nodedir, `--python=${await requirePython(signal)}`, "--", ...definitions],
    ["build", ...targets, nodedir, "--jobs", String(availableParallelism())],
  ];
  for (const step of steps) {
    const result = await run(process.execPath, [nodeGyp, ...step], {
      cwd: dir,
      env: withBuildEnvironment(environment, withoutNpmSettings(process.env)),
      signal,
    });
    if (result.code !== 0)
      throw new NativeBuildError(
        `node-gyp ${step[0]} failed:\n${importantLines(result.output)}`,
        result.output,
      );
  }
}

/** npm's settings would win over our options, and npm hands them to whatever it starts: `nodedir` of an .npmrc, say. */
function withoutNpmSettings(env) {
  const isOfNpm = (name) => /^npm_(config|package_config_node_gyp)_/i.test(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOfNpm(name)));
}

/** The compiler's and gyp's own words, without node-gyp's chatter around them. */
function importantLines(output) {
  const lines = output
    .split("\n")
    .filter((line) => !/^gyp (info|ERR! (stack|System|cwd|node|command|not ok))/.test(line));
  const first = lines.findIndex((line) => /error|Error/.test(line));
  return lines
    .slice(Math.max(0, first - 2), first < 0 ? undefined : first + 30)
    .join("\n")
    .trim();
}
