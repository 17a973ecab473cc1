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

/** What gyp, the part of node-gyp in Python, is written in: it breaks off with a SyntaxError in an older one. */
export const OLDEST_PYTHON = "3.8";

const WHICH = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)";

/** The first of them that runs and is new enough, in full. */
export async function requirePython(signal) {
  const tooOld = [];
  for (const candidate of pythonCandidates(process.env)) {
    const { code, output } = await run(candidate, ["-c", WHICH], { signal });
    const [, version, path] = /^(\d+\.\d+) (.+)$/.exec(output.trim().split("\n").at(-1)) ?? [];
    if (code !== 0 || path === undefined) continue;
    if (isAtLeast(version, OLDEST_PYTHON)) return path;
    tooOld.push(`${candidate} is Python ${version}`);
  }
  throw new NativeBuildError(
    `Python ${OLDEST_PYTHON} or newer is needed to build the native part (node-gyp runs on it); ${
      tooOld.length > 0 ? tooOld.join(", ") : "no python3 was found"
    } (PYTHON names another)`,
  );
}

function isAtLeast(version, oldest) {
  const [[major, minor], [oldestMajor, oldestMinor]] = [version, oldest].map((one) =>
    one.split(".").map(Number),
  );
  return major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
}
