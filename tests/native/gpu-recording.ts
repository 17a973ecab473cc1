/** What the recordings of the pretended GPU's program hold, to compare with. */
import { expect } from "vitest";
import type { RecordedProcess } from "../../src/profiler/tools/recorder/read.ts";
import { recordGpu } from "./record-gpu.ts";

export const GEMM = "void gemm<float>(float const*, float const*, float*, int)";

/** All that `gpu_program regions` makes the GPU do, in order of the launches. */
export const work = [
  ["kernel", "warm_up(float*)", 0, 1_000],
  ["memcpy", "[CUDA memcpy Host-to-Device]", 0, 10_000],
  ["kernel", GEMM, 0, 100_000],
  ["kernel", "relu", 0, 20_000],
  ["kernel", GEMM, 1, 300_000],
  ["memset", "[CUDA memset]", 0, 5_000],
  ["kernel", "relu", 0, 1_000],
  ["kernel", "pool", 0, 2_000],
  ["memcpy", "[CUDA memcpy Peer-to-Peer]", 0, 40_000],
];

export async function onlyProcess(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
): Promise<RecordedProcess> {
  const { outcome, timeline } = await recordGpu(args, env);
  expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
  const [process] = timeline.processes;
  if (process === undefined || timeline.processes.length !== 1)
    throw new Error(`${timeline.processes.length} recordings: ${timeline.notes.join()}`);
  return process;
}

/** Kind, name, device and duration. */
export const summary = ({ kernels }: RecordedProcess) =>
  [...kernels].map(({ kind, name, device, startNs, endNs }) => [
    kind,
    name,
    device,
    endNs - startNs,
  ]);

export const bare = (notes: readonly string[]) =>
  notes.map((note) => note.replace(/^process \d+ \([^)]*\): /, ""));
