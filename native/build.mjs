// Builds the native part with node-gyp, when it is not built yet or its sources have changed.
//
// Plain JavaScript beside the sources it builds: a fresh clone runs it before any TypeScript is
// compiled, an installed package ships it, and the commands import it at run time when they first
// need a native program. Types: build.d.mts.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { detect, gpuPlan, summary, usesOwnClient } from "./building/detection.mjs";
import { NativeBuildError } from "./building/error.mjs";
import { sourcesFingerprint } from "./building/fingerprint.mjs";
import { withGypFile } from "./building/gyp-file.mjs";
import { withLock } from "./building/lock.mjs";
import { copySources, runWithOrWithoutGpu } from "./building/node-gyp.mjs";
import {
  buildPlace,
  outputNames,
  outputsExist,
  placeIn,
  readInfo,
  writeAtomically,
} from "./building/place.mjs";
import { pythonCandidates } from "./building/python.mjs";

export { NativeBuildError, pythonCandidates };

/**
 * Whether the native part stands ready, without running anything: reads the sources and compares
 * them with what the last build recorded. A package that this user may not write to can have been
 * built by who installed it.
 */
export async function nativeStatus(root, options = {}) {
  const sources = await sourcesFingerprint(root, options);
  const place = buildPlace(root, options);
  const own = await statusAt(place, sources);
  const shared = sharedPlace(root, place, options);
  if (own.state === "ready" || shared === null) return own;
  const status = await statusAt(shared, sources);
  return status.state === "ready" ? status : own;
}

/** Where who installed the package can have built it for users who may not write there. */
const sharedPlace = (root, place, { out }) =>
  out !== undefined || place.dir === root ? null : placeIn(root);

async function statusAt({ binDir, infoFile }, sources) {
  const info = await readInfo(infoFile);
  const ready = info !== null && info.sources === sources && (await outputsExist(binDir, info));
  return { state: ready ? "ready" : info === null ? "absent" : "stale", binDir, info };
}

/**
 * Makes the native part ready and says where it is. Quick when nothing changed: no compiler and no
 * node-gyp is started. Throws NativeBuildError; once `signal` aborts, its reason: nothing that was
 * started runs then, and what was half built is gone.
 */
export async function buildNative(request) {
  const { root, quiet = false, log = (line) => console.error(line), signal, ...options } = request;
  const say = quiet ? () => {} : log;
  const place = buildPlace(root, options);
  const detected = await detect(root, signal);
  const sources = await sourcesFingerprint(root, options);
  const current = async ({ binDir, infoFile }) => {
    const info = await readInfo(infoFile);
    const same =
      info !== null &&
      info.sources === sources &&
      JSON.stringify(info.detected) === JSON.stringify(detected) &&
      (await outputsExist(binDir, info));
    return same ? { built: false, binDir, info } : null;
  };

  const shared = sharedPlace(root, place, options);
  const before = (await current(place)) ?? (shared && (await current(shared)));
  if (before !== null) return before;

  const buildDir = join(place.dir, "build");
  const onWait = () => say("another process is building the native part; waiting for it");
  const buildIt = async () => {
    // Another process may have built it while this one waited.
    const meanwhile = await current(place);
    if (meanwhile !== null) return meanwhile;

    say(
      `building the native part (${summary(detected, options, gpuPlan(detected))}) in ${place.binDir}`,
    );
    // Until the new build is complete there is none: an interrupted one must not look ready.
    await rm(place.infoFile, { force: true });
    if (place.dir !== root) await copySources(root, place.dir);
    const gpu = await withGypFile(root, place.dir, () =>
      compile({ place, root, detected, options, say, signal }),
    );
    const info = {
      version: detected.version,
      sources,
      detected,
      backends: gpu.built ? ["cpu", "cuda"] : ["cpu"],
      gpu,
      nvtx: usesOwnClient(detected, options) ? "own client" : "nvtx3 headers",
      sanitize: options.sanitize ?? null,
      summary: summary(detected, options, gpu),
      outputs: await outputNames(place.binDir),
    };
    await writeAtomically(place.infoFile, `${JSON.stringify(info, null, 2)}\n`);
    return { built: true, binDir: place.binDir, info };
  };
  try {
    await mkdir(buildDir, { recursive: true });
    return await withLock(join(buildDir, "native-build.lock"), onWait, buildIt, signal);
  } catch (error) {
    throw error.syscall === undefined ? error : notWritten(place.dir, error);
  }
}

/** What make finds it takes for whole: nothing is left of a build that was stopped. */
async function compile({ place, signal, ...request }) {
  try {
    return await runWithOrWithoutGpu({ ...request, dir: place.dir, signal });
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
