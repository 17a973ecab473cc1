import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { WRITINGS, type Writing } from "../../src/profiler/tools/recorder/format.ts";
import { type RecordedProcess, readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { buildFixture, type Client } from "./fixtures.ts";
import { nativeProgram } from "./programs.ts";

/**
 * The loop over everything that the recorder calls: `native/fixtures/faulted.cc` runs once for each of its calls of the
 * system, and there the n-th fails, or a signal arrives whose handler records.
 */

/** What happens at the n-th call. */
export type Fault =
  | {
      /** `late`: from the n-th call on, each that needs room on the disk fails. */
      readonly kind: "fail" | "late";
      readonly error: keyof typeof constants.errno;
    }
  | {
      readonly kind: "signal";
      /** SIGUSR1 can be blocked; SIGSYS stands for those that cannot, as traps of a seccomp filter. */
      readonly signal: "SIGUSR1" | "SIGSYS";
      /** Whether the handler forks as well, and the child goes on from there. */
      readonly forks: boolean;
    };

const FAULTS: readonly Fault[] = [
  ...(["ENOMEM", "EMFILE", "ENOSPC", "EINTR", "EPERM"] as const).map((error) => ({
    kind: "fail" as const,
    error,
  })),
  ...(["ENOSPC", "EDQUOT", "EIO"] as const).map((error) => ({ kind: "late" as const, error })),
  ...(["SIGUSR1", "SIGSYS"] as const).flatMap((signal) =>
    [false, true].map((forks) => ({ kind: "signal" as const, signal, forks })),
  ),
];

/** The faults with their descriptions, for tables of tests: each with each way of writing. */
export const describedFaults = (): [string, Fault, Writing][] =>
  WRITINGS.flatMap((writing) =>
    FAULTS.map((fault): [string, Fault, Writing] => [
      `${describeFault(fault)}, ${writing}`,
      fault,
      writing,
    ]),
  );

const describeFault = (fault: Fault): string =>
  fault.kind !== "signal"
    ? `fails with ${fault.error}${fault.kind === "late" ? ", as each later one that needs room" : ""}`
    : `is interrupted by a handler of ${fault.signal} that records${fault.forks ? " and forks" : ""}`;

export type Built = Awaited<ReturnType<typeof buildFaults>>;

/** The program, the library that meddles and the recorder, compiled. */
export async function buildFaults(client: Client) {
  return {
    program: await buildFixture("faulted.cc", client, ["-frounding-math"]),
    library: await buildFixture("faults.cc", "own client", ["-shared", "-fPIC"]),
    recorder: await nativeProgram("region_recorder.so"),
  };
}

/** Runs the program with the fault at the recorder's n-th call; with `at` 0 untouched. */
async function runWithFault(
  built: Built,
  fault: Fault,
  at: number,
  writing: Writing,
  variables: Readonly<Record<string, string>> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  const state = join(directory, "state");
  const recordings = join(directory, "recordings");
  writeFileSync(state, Buffer.alloc(16));
  mkdirSync(recordings);
  const number =
    fault.kind === "signal" ? constants.signals[fault.signal] : constants.errno[fault.error];
  try {
    const { exitCode, timedOut, stdout, stderr } = await execa(
      built.program,
      fault.kind === "signal" && fault.forks ? ["fork"] : [],
      {
        reject: false,
        timeout: 120_000,
        killSignal: "SIGKILL",
        env: {
          NVTX_INJECTION64_PATH: built.recorder,
          HYDRACONF_RECORDER_DIR: recordings,
          HYDRACONF_RECORDER_WRITING: writing,
          LD_PRELOAD: built.library,
          ...variables,
          FAULT_STATE: state,
          FAULT_AT: `${at}`,
          FAULT_KIND: fault.kind,
          FAULT_NUMBER: `${number}`,
        },
      },
    );
    const counts = readFileSync(state);
    return {
      ending: timedOut ? "hung" : `exit code ${exitCode}`,
      stdout,
      complaint: stderr.replace(recordings, "DIR"),
      calls: Number(counts.readBigUInt64LE(0)),
      reached: counts.readBigUInt64LE(8) === 1n,
      processes: readRecording(recordings).processes,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const ofHandler = ({ name }: RecordedProcess["ranges"][number]) => name.startsWith("in handler");

/** The program's ranges that a run recorded in the process that the test started. */
const ownRanges = ({ processes }: Awaited<ReturnType<typeof runWithFault>>): number =>
  Math.max(0, ...processes.map(({ ranges }) => ranges.filter((range) => !ofHandler(range)).length));

interface LoopOptions {
  readonly step?: number;
  readonly writing?: Writing;
  /** Further variables of the program. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** What makes the recorder count instructions, of a pretended counter: its calls pass through the library that meddles. */
export const countedInstructions = async ({ library }: Built) => ({
  HYDRACONF_RECORDER_INSTRUCTIONS: "on",
  LD_PRELOAD: `${library}:${await buildFixture("fake_counter.cc", "own client", ["-shared", "-fPIC"])}`,
});

export interface LoopResult {
  readonly runs: number;
  /** Each run in which the program noticed something, or in which something is missing that nobody tells. */
  readonly problems: readonly string[];
}

/** Lets the fault happen at the first, second, ... call, until a run passes untouched; with `step`, at each so-many-th. */
export async function faultLoop(
  built: Built,
  fault: Fault,
  { step = 1, writing = "mapped", variables }: LoopOptions = {},
): Promise<LoopResult> {
  const untouched = await runWithFault(built, fault, 0, writing, variables);
  const all = ownRanges(untouched);
  const problems: string[] = [];
  let runs = 0;
  for (let at = 1; ; at += step) {
    const run = await runWithFault(built, fault, at, writing, variables);
    runs++;
    const found: string[] = [];
    if (run.ending !== "exit code 0") found.push(run.ending);
    if (run.stdout !== "done") found.push(run.stdout);
    const complaints = run.complaint === "" ? [] : run.complaint.split("\n");
    const mayComplain = fault.kind !== "signal" && run.processes.length === 0;
    if (complaints.length > (mayComplain ? 1 : 0)) found.push(run.complaint);
    const recorded = ownRanges(run);
    const tells = complaints.length > 0 || run.processes.some(({ notes }) => notes.length > 0);
    if (recorded < all && (fault.kind === "signal" || !tells))
      found.push(`${recorded} of ${all} ranges`);
    if (found.length > 0) problems.push(`call ${at}: ${found.join("; ")}`);
    if (!run.reached) return { runs, problems };
  }
}
