import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectGolden, goldenFlags } from "./golden.ts";
import { expectTensors, ODD_SIZES, prepareOddSizes } from "./odd-sizes.ts";
import { nativeProgram, runProgram, runResnet } from "./programs.ts";

const directory = mkdtempSync(join(tmpdir(), "shallow-resnet-"));
let program = "";

beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Instruction sets this machine can run; the others exit with code 1. */
async function usableIsas(): Promise<string[]> {
  const names = process.arch === "arm64" ? ["neon"] : ["avx512", "avx2", "baseline"];
  const small = ["--image-size", "1", "--warmup", "0", "--iterations", "1", "--num-blocks", "1"];
  const outcomes = await Promise.all(
    names.map((isa) => runProgram(program, ["--isa", isa, ...small])),
  );
  const usable = names.filter((_, i) => outcomes[i]?.code === 0);
  const missing = names.filter((name) => !usable.includes(name));
  if (missing.length > 0) console.warn(`SKIPPED ${missing.join(", ")}: not on this processor`);
  return usable;
}

describe("golden data of PyTorch", () => {
  it.each(["running", "batch"] as const)("agrees with %s statistics", async (mode) => {
    for (const isa of await usableIsas()) {
      const output = join(directory, `golden-${mode}-${isa}.safetensors`);
      const report = await runResnet(program, [
        ...goldenFlags(mode, output),
        ...["--isa", isa, "--warmup", "1", "--iterations", "2"],
      ]);
      expect(report.backend.isa).toBe(isa);
      expect(report.batch_norm).toBe(mode);
      expectGolden(output, mode);
    }
  });
});

describe("sizes that fit no block", () => {
  it.each(ODD_SIZES)("$batch x $inputs x $image², $base channels, $mode", async (sizes) => {
    const { flags, output, expected } = await prepareOddSizes(program, directory, sizes);
    const checksums = new Map<string, Set<string>>();
    for (const isa of await usableIsas()) {
      for (const threads of ["1", "3"]) {
        const report = await runResnet(program, [...flags, "--isa", isa, "--threads", threads]);
        expectTensors(output, expected);
        const sums = checksums.get(isa) ?? new Set();
        checksums.set(isa, sums.add(report.logits.checksum));
      }
    }
    // To the last bit the same for any number of threads.
    for (const sums of checksums.values()) expect(sums.size).toBe(1);
  });
});

describe("the document", () => {
  it("counts parameters, FLOPs and bytes from the shapes", async () => {
    const report = await runResnet(program, [
      ...["--batch-size", "2", "--in-channels", "4", "--base-channels", "8", "--num-blocks", "2"],
      ...["--image-size", "10", "--iterations", "3", "--warmup", "0"],
    ]);
    const conv = (i: number, o: number): number => o * i * 9 + o;
    // As PyTorch counts them: running means and variances are not learned.
    const count = conv(4, 8) + 4 * conv(8, 8) + 5 * 2 * 8 + 8 * 10 + 10;
    expect(report.parameters).toMatchObject({
      count,
      bytes: 4 * count,
      source: "seed",
    });
    expect(report.shapes).toEqual({
      input: [2, 4, 10, 10],
      features: [2, 8, 10, 10],
      logits: [2, 10],
    });

    const layer = (name: string) => report.layers.find((each) => each.name === name);
    const outputs = 2 * 8 * 100;
    expect(layer("stem.0")).toEqual({
      name: "stem.0",
      operation: "conv2d 2x4x10x10 -> 2x8x10x10 k3",
      range: "stem",
      flops: outputs * (2 * 9 * 4 + 1),
      bytes: 4 * (2 * 4 * 100 + outputs + conv(4, 8)),
    });
    expect(layer("blocks.1.bn1")).toEqual({
      name: "blocks.1.bn1",
      operation: "batch_norm_relu 2x8x10x10",
      range: "block.conv1",
      flops: 3 * outputs,
      bytes: 4 * (2 * outputs + 4 * 8),
    });
    expect(layer("head.2")).toMatchObject({ operation: "linear 2x8 -> 2x10", flops: 20 * 17 });
    const sum = (key: "flops" | "bytes"): number =>
      report.layers.reduce((total, each) => total + each[key], 0);
    expect(report.flops).toBe(sum("flops"));
    expect(report.bytes).toBe(sum("bytes"));
  });

  it("measures what the processor can do at most, when asked", async () => {
    const flags = ["--image-size", "8", "--iterations", "1"];
    expect((await runResnet(program, flags)).peaks).toBeUndefined();
    const { peaks, ...report } = await runResnet(program, [...flags, "--peaks"]);
    expect(peaks?.source).toBe("measured on this machine");
    expect(peaks?.gbytes_per_second).toBeGreaterThan(0);
    // Nothing is faster than multiply-adds in registers.
    expect(peaks?.gflops_per_second).toBeGreaterThan(report.gflops_per_second);
  });

  it("gives one timing per pass and consistent statistics", async () => {
    const { timings_ms: times, ...report } = await runResnet(program, ["--iterations", "5"]);
    expect(report.iterations).toBe(5);
    expect(report.warmup).toBe(2);
    const passes = times.passes.map((pass) => pass.ms).sort((a, b) => a - b);
    expect(passes).toHaveLength(5);
    expect(times.min).toBe(passes[0]);
    expect(times.median).toBe(passes[2]);
    expect(times.max).toBe(passes[4]);
    expect(times.mean).toBeCloseTo(times.total / 5, 9);
    expect(report.gflops_per_second).toBeCloseTo(report.flops / times.median / 1e6, 6);
  });

  it("times the passes of --program regions by their range, once each", async () => {
    const report = await runResnet(program, [
      ...["--program", "regions", "--image-size", "8", "--iterations", "7"],
    ]);
    expect(report.program).toBe("regions");
    expect(report.timings_ms.passes.map((pass) => pass.range)).toEqual(["A", "A::A1", "B"]);
  });

  it("has as many logits as classes", async () => {
    const report = await runResnet(program, ["--num-classes", "37", "--image-size", "8"]);
    expect(report.shapes.logits).toEqual([4, 37]);
    expect(report.layers.at(-1)?.operation).toBe("linear 4x16 -> 4x37");
  });

  it("repeats itself for a seed and differs for another", async () => {
    const [a, b, c] = await Promise.all(
      ["1", "1", "2"].map((seed) => runResnet(program, ["--seed", seed, "--image-size", "8"])),
    );
    expect(a?.logits).toEqual(b?.logits);
    expect(a?.logits.checksum).not.toBe(c?.logits.checksum);
  });
});
