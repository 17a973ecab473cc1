/**
 * What a range costs the profiled program: nanoseconds per range, without a tool and under the
 * recorder, alternating in one run: tsx bench/recorder.ts. Beside it what a range costs on disk and
 * when it is read back, and what a launch costs a program that uses a GPU.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { readRecording } from "../src/profiler/tools/recorder/read.ts";
import { fakeGpu, gpuEnvironment } from "../tests/native/fake-gpu.ts";
import { availableClients, buildFixture, recorderEnvironment } from "../tests/native/fixtures.ts";

/** What the recorder may add to a range without processor times, and what those may add where their clock is a system call. */
const GOAL_NS = 300;
const GOAL_CPU_NS = 2500;
/** What counts of page faults, context switches and disk blocks may add to that, and what instructions may. */
const GOAL_COUNTS_NS = 2500;
/** What a range may cost more where records go through the kernel, as on copy-on-write and network file systems. */
const GOAL_KERNEL_NS = 300;
const RUNS = 3;

interface Cost {
  readonly client: string;
  readonly push_pop: number;
  readonly push_pop_in_domain: number;
  readonly start_end: number;
}

const kinds = ["push_pop", "push_pop_in_domain", "start_end"] as const;

async function measure(program: string, env: Record<string, string>): Promise<Cost> {
  const { stdout } = await execa(program, { env });
  return JSON.parse(stdout) as Cost;
}

function best(costs: readonly Cost[], kind: (typeof kinds)[number]): number {
  return Math.min(...costs.map((cost) => cost[kind]));
}

/** A pretended counter, whose register is never read: on hardware, that adds some nanoseconds. Null where none can be read. */
const fakeCounter = async (): Promise<string | null> =>
  process.platform === "linux" && process.arch === "x64"
    ? buildFixture("fake_counter.cc", "own client", ["-shared", "-fPIC"])
    : null;

const instructions = (counter: string) => ({
  HYDRACONF_RECORDER_INSTRUCTIONS: "on",
  LD_PRELOAD: counter,
  FAKE_COUNTER_TAKEN: "1",
});

/** Size of the recordings, and time to read them, per range. */
function reading(directory: string): string {
  const bytes = readdirSync(directory).reduce(
    (sum, name) => sum + statSync(join(directory, name)).size,
    0,
  );
  const started = performance.now();
  const { processes } = readRecording(directory);
  const elapsedMs = performance.now() - started;
  // Those that are kept are not all.
  const ranges = processes.reduce(
    (sum, { ranges, allRanges }) => sum + (allRanges?.count ?? ranges.length),
    0,
  );
  const perRange = (elapsedMs * 1e6) / ranges;
  return `${(bytes / ranges).toFixed(1)} bytes and ${perRange.toFixed(0)} ns of reading per range`;
}

/** A table per NVTX client. True: the goal is reached everywhere. */
export async function benchRecorder(print: (line: string) => void): Promise<boolean> {
  let reached = true;
  for (const client of availableClients("the recorder's benchmark")) {
    const program = await buildFixture("range_cost.cc", client);
    const plain: Cost[] = [];
    const recorded: Cost[] = [];
    const timed: Cost[] = [];
    const counted: Cost[] = [];
    const withInstructions: Cost[] = [];
    const counter = await fakeCounter();
    const kernel: Record<"staged" | "buffered", Cost[]> = { staged: [], buffered: [] };
    let remark = "";
    for (let run = 0; run < RUNS; run++) {
      const directory = mkdtempSync(join(tmpdir(), "recorder-bench-"));
      try {
        plain.push(await measure(program, {}));
        const env = await recorderEnvironment(directory);
        recorded.push(await measure(program, { ...env, HYDRACONF_RECORDER_CPU: "off" }));
        remark = reading(directory);
        // One after the other: what is compared meets the same machine.
        timed.push(await measure(program, { ...env, HYDRACONF_RECORDER_CPU: "time" }));
        counted.push(await measure(program, { ...env, HYDRACONF_RECORDER_CPU: "counts" }));
        if (counter !== null)
          withInstructions.push(await measure(program, { ...env, ...instructions(counter) }));
        for (const [writing, costs] of Object.entries(kernel)) {
          const variables = { HYDRACONF_RECORDER_CPU: "off", HYDRACONF_RECORDER_WRITING: writing };
          costs.push(await measure(program, { ...env, ...variables }));
        }
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    }
    print(`region_recorder under the ${client}: ns per range, best of ${RUNS} runs`);
    print(
      "                      no tool   recorder      added   and processor time, and counts, and instructions   through the kernel: staged, buffered",
    );
    for (const kind of kinds) {
      const without = best(plain, kind);
      const under = best(recorded, kind);
      const cpu = best(timed, kind) - under;
      const counts = best(counted, kind) - best(timed, kind);
      const instructionsRead =
        counter === null ? Number.NaN : best(withInstructions, kind) - best(timed, kind);
      const staged = best(kernel.staged, kind) - under;
      const buffered = best(kernel.buffered, kind) - under;
      const numbers = [
        without,
        under,
        under - without,
        cpu,
        counts,
        instructionsRead,
        staged,
        buffered,
      ];
      const row = numbers.map((ns) => ns.toFixed(1).padStart(9));
      print(`${kind.padEnd(20)}${row.join("  ")}`);
      reached &&= under - without < GOAL_NS && cpu < GOAL_CPU_NS;
      reached &&= counts < GOAL_COUNTS_NS && !(instructionsRead >= GOAL_COUNTS_NS);
      reached &&= staged < GOAL_KERNEL_NS && buffered < GOAL_KERNEL_NS;
    }
    print(`${remark}\n`);
  }
  reached &&= await benchLaunches(print);
  print(
    `goal: less than ${GOAL_NS} ns added, ${GOAL_CPU_NS} more with processor times, ${GOAL_COUNTS_NS} more with counts or instructions, ${GOAL_KERNEL_NS} through the kernel: ${reached ? "reached" : "MISSED"}`,
  );
  return reached;
}

/**
 * What the recorder adds to a launch, called as CUPTI calls it. What CUPTI itself adds (its own
 * callbacks and time stamps, a microsecond or so) is known on a machine with a GPU only.
 */
async function benchLaunches(print: (line: string) => void): Promise<boolean> {
  if (availableClients("the recorder's benchmark of launches").length === 0) return true;
  const { program } = await fakeGpu();
  const directory = mkdtempSync(join(tmpdir(), "recorder-bench-"));
  try {
    const { stdout } = await execa(program, ["cost"], { env: await gpuEnvironment(directory) });
    const { launch, record } = JSON.parse(stdout) as { launch: number; record: number };
    print("region_recorder and a pretended GPU: ns, best of 5 rounds");
    print(`added to a launch   ${launch.toFixed(1).padStart(9)}`);
    print(`a kernel's record   ${record.toFixed(1).padStart(9)}  on a thread of CUPTI's\n`);
    return launch < GOAL_NS;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  process.exitCode = (await benchRecorder(console.log)) ? 0 : 1;
