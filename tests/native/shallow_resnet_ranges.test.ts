import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RangeInstance } from "../../src/profiler/model/timeline.ts";
import { readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { nativeProgram } from "./programs.ts";

const directory = mkdtempSync(join(tmpdir(), "shallow-resnet-ranges-"));
let program = "";
let recorder = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
  recorder = await nativeProgram("region_recorder.so");
});
afterAll(() => rmSync(directory, { recursive: true }));

/** The ranges that our own recorder sees in one run, in the order in which they open. */
async function rangesOf(name: string, args: readonly string[]): Promise<readonly RangeInstance[]> {
  const recordings = join(directory, name);
  await execa(program, ["--image-size", "4", "--num-blocks", "2", ...args], {
    env: { NVTX_INJECTION64_PATH: recorder, HYDRACONF_RECORDER_DIR: recordings },
  });
  return readRecording(recordings).processes.flatMap((process) => process.ranges);
}

/** `name` or `(name)` for operations, indented by what is open around it. */
function outline(ranges: readonly RangeInstance[]): string[] {
  return ranges.map((range) => {
    const depth = ranges.filter((other) => encloses(other, range)).length;
    const name = range.domain === "" ? range.name : `(${range.name})`;
    return `${"  ".repeat(depth)}${name}`;
  });
}

function encloses(outer: RangeInstance, inner: RangeInstance): boolean {
  const end = (range: RangeInstance): number => range.endNs ?? Number.POSITIVE_INFINITY;
  // Ids grow as ranges open: they decide where two begin on the same tick of the clock.
  return outer.id < inner.id && inner.startNs < end(outer) && end(inner) <= end(outer);
}

const FORWARD = [
  "stem",
  "  (conv2d 4x3x4x4 -> 4x16x4x4 k3)",
  "  (batch_norm_relu 4x16x4x4)",
  "residual",
  ...[1, 2].flatMap(() => [
    "  block.conv1",
    "    (conv2d 4x16x4x4 -> 4x16x4x4 k3)",
    "    (batch_norm_relu 4x16x4x4)",
    "  block.conv2",
    "    (conv2d 4x16x4x4 -> 4x16x4x4 k3)",
    "    (batch_norm 4x16x4x4)",
    "  (add_relu 4x16x4x4)",
  ]),
  "head",
  "  (global_average_pool 4x16x4x4 -> 4x16)",
  "  (linear 4x16 -> 4x10)",
];
const inside = (lines: readonly string[]): string[] => lines.map((line) => `  ${line}`);

describe("NVTX ranges of shallow_resnet", () => {
  it("show each forward pass once, and none of the warm-up", async () => {
    const ranges = await rangesOf("forward", ["--warmup", "3", "--iterations", "2"]);
    expect(outline(ranges)).toEqual([...FORWARD, ...FORWARD]);
    expect(new Set(ranges.map((range) => range.domain))).toEqual(
      new Set(["", "shallow_resnet.ops"]),
    );
    expect(ranges.every((range) => range.kind === "push_pop" && range.endNs !== null)).toBe(true);
  });

  it("nest A::A1 inside A and put B beside it", async () => {
    const ranges = await rangesOf("regions", ["--program", "regions", "--threads", "2"]);
    expect(outline(ranges)).toEqual([
      "A",
      ...inside(FORWARD),
      "  A::A1",
      ...inside(inside(FORWARD)),
      "B",
      ...inside(FORWARD),
    ]);
    expect(new Set(ranges.map((range) => range.threadId)).size).toBe(1);
  });
});
