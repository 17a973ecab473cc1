// Builds the native part with node-gyp, when it is not built yet or its sources have changed.
//
// Plain JavaScript beside the sources it builds: a fresh clone runs it before any TypeScript is
// compiled, an installed package ships it, and the commands import it at run time when they first
// need a native program. Types: build.d.mts.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { gpuPlan, summary, usesOwnClient } from "./building/detection.mjs";
import { buildEnvironment } from "./building/environment.mjs";
import { NativeBuildError } from "./building/error.mjs";
import { sourcesFingerprint } from "./building/fingerprint.mjs";
import { withGypFile } from "./building/gyp-file.mjs";
import { withLock } from "./building/lock.mjs";
import { buildMuslRecorder } from "./building/musl.mjs";
import { copySources, runWithOrWithoutGpu } from "./building/node-gyp.mjs";
import {
  buildPlace,
  outputNames,
  outputsExist,
  placeIn,
  readInfo,
  readLastInfo,
  setInfoAside,
  writeAtomically,
} from "./building/place.mjs";
import { planBuild } from "./building/plan.mjs";
import { findPython, pythonCandidates, pythonNeeded } from "./building/python.mjs";

export { findPython, NativeBuildError, pythonCandidates, pythonNeeded };

/**
 * Whether the native part stands ready, without running anything: reads the sources and compares
 * them with what the last build recorded. A package that this user may not write to can have been
 * built by who installed it.
 */
export async function nativeStatus(root, options = {}) {
  const place = buildPlace(root, options);
  const own = await statusAt(root, place, options);
  const shared = sharedPlace(root, place, options);
  if (own.state === "ready" || shared === null) return own;
  const status = await statusAt(root, shared, options);
  return status.state === "ready" ? status : own;
}

/** Where who installed the package can have built it for users who may not write there. */
const sharedPlace = (root, place, { out }) =>
  out !== undefined || place.dir === root ? null : placeIn(root);

async function statusAt(root, { binDir, infoFile }, options) {
  const info = await readInfo(infoFile);
  if (info === null) return { state: "absent", binDir, info };
  const sources = await sourcesFingerprint(root, options, buildEnvironment(info.environment));
  const ready =
    info.sources === sources && holds(info, options) && (await outputsExist(binDir, info));
  return { state: ready ? "ready" : "stale", binDir, info };
}

/** Whether a build has what is needed. */
const holds = (info, { parts = "all" }) => parts === "recorder" || info.parts !== "recorder";

/**
 * Whether a build is for GPUs of these compute capabilities, as far as it can be: one that was left to what is there may have been
 * made on a machine without them, a login node or another kind of node.
 */
export const servesGpus = ({ detected }, gpus) =>
  detected.cuda.gpus === null || gpus.every((gpu) => detected.cuda.gpus.includes(gpu));

/**
 * Makes the native part ready and says where it is. Quick when nothing changed: no compiler and no
 * node-gyp is started. Throws NativeBuildError; once `signal` aborts, its reason: nothing that was
 * started runs then, and what was half built is gone.
 */
export async function buildNative(request) {
  const { root, quiet = false, log = (line) => console.error(line), signal } = request;
  const { out, ownNvtx, sanitize, afresh = false, gpus = [], parts = "all" } = request;
  const options = { out, ownNvtx, sanitize, parts };
  const say = quiet ? () => {} : log;
  const place = buildPlace(root, options);
  const planOf = async (at) =>
    planBuild({ root, options, gpus, say, signal, last: afresh ? null : await readLastInfo(at) });
  const current = async (at, { sources, detected }) => {
    const info = await readInfo(at.infoFile);
    const same =
      info !== null &&
      info.sources === sources &&
      holds(info, options) &&
      (JSON.stringify(info.detected) === JSON.stringify(detected) ||
        (!afresh && isOfOtherMachine(info, detected))) &&
      (await outputsExist(at.binDir, info));
    return same ? { built: false, binDir: at.binDir, info } : null;
  };

  const shared = sharedPlace(root, place, options);
  for (const at of shared === null ? [place] : [place, shared]) {
    const before = await current(at, await planOf(at));
    if (before !== null) return before;
  }

  const buildDir = join(place.dir, "build");
  const onWait = (host) =>
    say(
      `another process${host === null ? "" : ` on ${host}`} is building the native part; waiting for it`,
    );
  const buildIt = async () => {
    // Another process may have built it while this one waited.
    const plan = await planOf(place);
    const meanwhile = await current(place, plan);
    if (meanwhile !== null) return meanwhile;

    const { detected, environment, sources } = plan;
    const what = parts === "all" ? "native part" : "recorder";
    const found = summary(detected, options, gpuPlan(detected));
    say(`building the ${what} (${found}) in ${place.binDir}; this happens once`);
    await setInfoAside(place);
    if (place.dir !== root) await copySources(root, place.dir);
    const gpu = await withGypFile(root, place.dir, () =>
      compile({ place, root, detected, environment, options, say, signal }),
    );
    const info = {
      version: detected.version,
      parts,
      sources,
      environment,
      detected,
      backends: parts === "recorder" ? [] : gpu.built ? ["cpu", "cuda"] : ["cpu"],
      gpu,
      nvtx: usesOwnClient(detected, options) ? "own client" : "nvtx3 headers",
      sanitize: sanitize ?? null,
      summary: summary(detected, options, gpu),
      outputs: await outputNames(place.binDir),
    };
    await writeAtomically(place.infoFile, `${JSON.stringify(info, null, 2)}\n`);
    return { built: true, binDir: place.binDir, info };
  };
  try {
    await mkdir(buildDir, { recursive: true });
    return await withLock(join(buildDir, "native-build.lock"), onWait, buildIt, { signal });
  } catch (error) {
    throw error.syscall === undefined ? error : notWritten(place.dir, error);
  }
}

/** What was built for GPUs where there is a toolkit is not built again, without, where there is none. */
const isOfOtherMachine = (info, detected) => info.gpu.built && !detected.cuda.build;

/** What make finds it takes for whole: nothing is left of a build that was stopped. */
async function compile({ place, signal, ...request }) {
  try {
    const gpu = await runWithOrWithoutGpu({ ...request, dir: place.dir, signal });
    await buildMuslRecorder({ dir: place.dir, binDir: place.binDir, say: request.say, signal });
    return gpu;
  } catch (error) {
    if (signal?.aborted) await rm(place.binDir, { recursive: true, force: true });
    throw error;
  }
}

/** A directory that cannot be made or written to, a disk that is full. */
const notWritten = (dir, error) =>
  new NativeBuildError(
    `the native part cannot be built in ${dir}: ${error.message}`,
    "",
    "XDG_CACHE_HOME names the directory that it is built below where the package may not be written to",
  );
