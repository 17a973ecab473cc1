// What the environment can change about the build.

const NAMES = [
  "CXX",
  "CXXFLAGS",
  "CPPFLAGS",
  "LDFLAGS",
  "NVCC",
  "CUDA_HOME",
  "CUDA_PATH",
  "NVTX_ROOT",
  "CUDNN_ROOT",
  "HYDRACONF_CUDA",
];

/**
 * The variables to build with: those that are set now, and beside them those that the last build was made with. Who built for
 * a GPU in an image or on a login node (`HYDRACONF_CUDA=90`) has it where the program runs, and need not say so
 * again there. One that is set and blank is forgotten.
 *
 * @param remembered of the last build; undefined for none
 */
export function buildEnvironment(remembered, env = process.env) {
  const all = NAMES.map((name) => [name, env[name] ?? remembered?.[name] ?? ""]);
  return Object.fromEntries(all.filter(([, value]) => value.trim() !== ""));
}

/** What a program gets that builds: without what is forgotten. */
export const withBuildEnvironment = (environment, env = process.env) => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !NAMES.includes(name))),
  ...environment,
});
