import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { recorderEnvironment } from "./fixtures.ts";
import { cudnnLibraries, emulatedGpuProgram } from "./gpu-emulation.ts";

/**
 * Which calls of CUDA and cuDNN shallow_resnet makes inside its ranges: what is there is measured, and `ncu --replay-mode
 * range` has to capture it. The emulated GPU leaves an NVTX mark for each, and our recorder sees both.
 */

const directory = mkdtempSync(join(tmpdir(), "gpu-calls-"));
const programs = {
  cuda: await emulatedGpuProgram(),
  cudnn: await emulatedGpuProgram("cudnn"),
};
const libraries = join(directory, "libraries");
if (programs.cudnn !== null) await cudnnLibraries(libraries);

afterAll(() => rmSync(directory, { recursive: true }));

/** Names of the calls in their order, those inside a range of the model apart from the others. */
async function callsOf(library: "cuda" | "cudnn", args: readonly string[]) {
  const recordings = mkdtempSync(join(directory, "recording-"));
  await execa(
    programs[library] ?? "",
    ["--device=cuda:0", "--image-size=3", "--base-channels=4", "--batch-size=1", ...args],
    { env: { LD_LIBRARY_PATH: libraries, ...(await recorderEnvironment(recordings)) } },
  );
  const [process] = readRecording(recordings).processes;
  const ranges = process?.ranges ?? [];
  const calls = (process?.marks ?? []).filter(({ domain }) => domain === "gpu_emulation");
  const isInside = (timeNs: number) =>
    ranges.some(({ startNs, endNs }) => startNs <= timeNs && timeNs <= (endNs ?? 0));
  const names = (wanted: boolean) =>
    calls.filter(({ timeNs }) => isInside(timeNs) === wanted).map(({ name }) => name);
  return { inside: names(true), outside: names(false) };
}

const countOf = (calls: readonly string[], name: string): number =>
  calls.filter((call) => call === name).length;

/** Of one pass over one block: two operations of the stem, five of the block, two of the head. */
const KERNELS = 9;
const once = ["--num-blocks=1", "--warmup=0", "--iterations=1"];

describe.skipIf(programs.cuda === null)("inside the ranges of the model", () => {
  it("there are kernels and nothing else; allocations, copies and the warm-up lie outside", async () => {
    const { inside, outside } = await callsOf("cuda", [
      ...["--num-blocks=1", "--warmup=3", "--iterations=2"],
    ]);
    expect(inside).toEqual(Array(2 * KERNELS).fill("kernel"));
    // Once when they are prepared, and three times to warm up.
    expect(countOf(outside, "kernel")).toBe(4 * KERNELS);
    expect(outside).toEqual(expect.arrayContaining(["cudaMalloc", "cudaMemcpy"]));
    expect(outside.join()).not.toMatch(/Graph|Capture/);
  });

  it("what is allocated is allocated once, also where batches are measured", async () => {
    const { inside, outside } = await callsOf("cuda", [...once, "--batch-norm=batch"]);
    expect(new Set(inside)).toEqual(new Set(["kernel"]));
    const { outside: more } = await callsOf("cuda", [
      ...["--num-blocks=1", "--warmup=2", "--iterations=3", "--batch-norm=batch"],
    ]);
    expect(countOf(more, "cudaMalloc")).toBe(countOf(outside, "cudaMalloc"));
  });

  it("A, A::A1 and B wait for their work and do nothing else that is no kernel", async () => {
    const { inside } = await callsOf("cuda", [...once, "--program=regions"]);
    expect(new Set(inside)).toEqual(new Set(["kernel", "cudaStreamSynchronize"]));
    expect(countOf(inside, "kernel")).toBe(3 * KERNELS);
  });

  it("graphs are launched where they are asked for, recorded and uploaded before", async () => {
    const { inside, outside } = await callsOf("cuda", [...once, "--cuda-graph"]);
    // Stem, the block's three parts, head.
    expect(inside).toEqual(Array(5).fill("cudaGraphLaunch"));
    expect(countOf(outside, "cudaGraphUpload")).toBe(5);
    expect(outside).not.toContain("cudaGraphLaunch");
  });
});

describe.skipIf(programs.cudnn === null)("inside them with cuDNN", () => {
  it("there are convolutions whose algorithm and workspace are settled, and kernels", async () => {
    const { inside, outside } = await callsOf("cudnn", once);
    // A kernel adds the bias of each of the three convolutions.
    expect(countOf(inside, "cudnnConvolutionForward")).toBe(3);
    expect(countOf(inside, "kernel")).toBe(KERNELS);
    expect(inside).toHaveLength(KERNELS + 3);
    expect(outside).toEqual(
      expect.arrayContaining([
        "cudnnCreate",
        "cudnnGetConvolutionForwardAlgorithm_v7",
        "cudnnConvolutionForward, not supported",
      ]),
    );
  });

  it("graphs hold them, too", async () => {
    const { inside, outside } = await callsOf("cudnn", [...once, "--cuda-graph"]);
    expect(inside).toEqual(Array(5).fill("cudaGraphLaunch"));
    expect(countOf(outside, "cudnnConvolutionForward")).toBe(3);
  });
});
