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

/** Of children that run Node, so that ratios to its own start mean the same everywhere: it reads certificates for longer than it starts. */
const NODE_ENVIRONMENT: NodeJS.ProcessEnv = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name !== "NODE_EXTRA_CA_CERTS"),
);

export function spentBy(argv: readonly string[], cwd: string): Spent {
  const options = { cwd, encoding: "utf8", env: NODE_ENVIRONMENT } as const;
  const { status, stderr, stdout } = spawnSync("python3", ["-c", ADOPT, ...argv], options);
  if (status !== 0) throw new Error(`${argv.slice(0, 6).join(" ")} failed:\n${stderr}`);
  const [seconds = Number.NaN, peakKb = Number.NaN] = stdout.split(" ").map(Number);
  return { cpuMs: seconds * 1000, peakKb };
}
