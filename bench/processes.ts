/** What whole processes take of the machine, as the system counts it. */
import { spawnSync } from "node:child_process";

/** Adopts what a command leaves behind, waits for all of it, and prints what all took: seconds of CPU, and the most memory of one process in kB. */
const ADOPT = `import ctypes, os, resource, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
# Where python3 is a script that starts Python, its commands were children of this process.
before = resource.getrusage(resource.RUSAGE_CHILDREN)
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
try:
    while True: os.wait()
except ChildProcessError: pass
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime - before.ru_utime + used.ru_stime - before.ru_stime, used.ru_maxrss)
sys.stderr.buffer.write(code.stderr)
sys.exit(code.returncode)`;

export interface Spent {
  /** Of the command with all that it starts. */
  readonly cpuMs: number;
  /** The most that one of its processes had in memory at once. */
  readonly peakKb: number;
}

/** @param env what it has besides this process's environment */
export function spentBy(
  argv: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Spent {
  const options = { cwd, encoding: "utf8", env: { ...plainEnvironment(), ...env } } as const;
  const { status, stderr, stdout } = spawnSync("python3", ["-c", ADOPT, ...argv], options);
  if (status !== 0) throw new Error(`${argv.slice(0, 6).join(" ")} failed:\n${stderr}`);
  const [seconds = Number.NaN, peakKb = Number.NaN] = stdout.split(" ").map(Number);
  return { cpuMs: seconds * 1000, peakKb };
}

/**
 * This process's environment without what costs every start of Node the same, and so makes a ratio to one look better: reading further
 * certificates takes twice the time of `node -e 0`.
 */
function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...rest } = process.env;
  return rest;
}
