// The Python that the native part is built with: node-gyp's.
import { NativeBuildError } from "./error.mjs";
import { run } from "./run.mjs";

/** What node-gyp tries, in its order: what npm was told, PYTHON, and what PATH has. */
export function pythonCandidates(env) {
  const forced = env.NODE_GYP_FORCE_PYTHON;
  if (forced) return [forced];
  const ofNpm = ["npm_package_config_node_gyp_python", "npm_config_python"].map((name) =>
    Object.keys(env).find((key) => key.toLowerCase() === name),
  );
  const told = [...ofNpm, "PYTHON"].map((name) => env[name]).filter(Boolean);
  return [...told, "python3", "python"];
}

/**
 * What gyp, the part of node-gyp in Python, is written in: it breaks off with a SyntaxError in an older one. Its
 * metadata asks for 3.9, but nothing checks that, and its syntax is that of 3.8.
 */
export const OLDEST_PYTHON = "3.8";

const WHICH = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)";

/**
 * The first of them that runs and is new enough, in full; and those before it that are too old.
 *
 * @param ask what a command prints; null where it does not run
 */
export async function findPython(env, ask) {
  const tooOld = [];
  for (const candidate of pythonCandidates(env)) {
    const answer = await ask([candidate, "-c", WHICH]);
    const last = answer?.trim().split("\n").at(-1) ?? "";
    const [, version, path] = /^(\d+\.\d+) (.+)$/.exec(last) ?? [];
    if (path === undefined) continue;
    if (isAtLeast(version, OLDEST_PYTHON)) return { path, tooOld };
    tooOld.push(`${candidate} is Python ${version}`);
  }
  return { path: null, tooOld };
}

/** What is said where there is none. */
export const pythonNeeded = (tooOld) =>
  `Python ${OLDEST_PYTHON} or newer is needed to build the native part (node-gyp runs on it); ${
    tooOld.length > 0 ? tooOld.join(", ") : "no python3 was found"
  } (PYTHON names another)`;

export async function requirePython(signal) {
  const { path, tooOld } = await findPython(process.env, async ([program, ...args]) => {
    const { code, output } = await run(program, args, { signal });
    return code === 0 ? output : null;
  });
  if (path === null) throw new NativeBuildError(pythonNeeded(tooOld));
  return path;
}

function isAtLeast(version, oldest) {
  const [[major, minor], [oldestMajor, oldestMinor]] = [version, oldest].map((one) =>
    one.split(".").map(Number),
  );
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
