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

// As node-gyp asks: an older one does not run it.
const WHICH = "import sys; assert sys.version_info >= (3, 6); print(sys.executable)";

/** The first of them that runs, in full. */
export async function requirePython(signal) {
  for (const candidate of pythonCandidates(process.env)) {
    const { code, output } = await run(candidate, ["-c", WHICH], { signal });
    if (code === 0) return output.trim().split("\n").at(-1);
  }
  throw new NativeBuildError(
    "python3 is needed to build the native part (node-gyp runs on it); it was not found",
  );
}
