import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectClose } from "./close.ts";
import { nativeProgram, runProgram, runResnet } from "./programs.ts";
import { referenceForward } from "./reference-network.ts";
import { readTensors, type Tensor, writeTensors } from "./safetensors.ts";

const golden = fileURLToPath(new URL("../fixtures/golden/shallow_resnet/", import.meta.url));
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

interface Golden {
  readonly batch_norm: Readonly<
    Record<
      "running" | "batch",
      {
        readonly stem: { readonly mean: number; readonly first: readonly number[] };
        readonly residual: { readonly mean: number; readonly first: readonly number[] };
        readonly logits: readonly (readonly number[])[];
      }
    >
  >;
}

const tensor = (tensors: ReadonlyMap<string, Tensor>, name: string): Tensor => {
  const found = tensors.get(name);
  if (found === undefined) throw new Error(`no tensor ${name}`);
  return found;
};

describe("golden data of PyTorch", () => {
  const expected = JSON.parse(readFileSync(`${golden}expected.json`, "utf8")) as Golden;

  it.each(["running", "batch"] as const)("agrees with %s statistics", async (mode) => {
    for (const isa of await usableIsas()) {
      const output = join(directory, `golden-${mode}-${isa}.safetensors`);
      const report = await runResnet(program, [
        ...["--weights", `${golden}weights.safetensors`, "--input", `${golden}input.safetensors`],
        ...["--batch-norm", mode, "--isa", isa, "--output", output, "--save-activations"],
        ...["--warmup", "1", "--iterations", "2"],
      ]);
      expect(report.backend.isa).toBe(isa);
      expect(report.batch_norm).toBe(mode);

      const wanted = expected.batch_norm[mode];
      const actual = readTensors(output);
      expect(tensor(actual, "logits").shape).toEqual([4, 10]);
      expectClose(tensor(actual, "logits").values, wanted.logits.flat());
      for (const stage of ["stem", "residual"] as const) {
        const { shape, values } = tensor(actual, stage);
        expect(shape).toEqual([4, 16, 64, 64]);
        expectClose(values.subarray(0, 16), wanted[stage].first);
        expect(values.reduce((sum, x) => sum + x, 0) / values.length).toBeCloseTo(
          wanted[stage].mean,
          5,
        );
      }
    }
  });
});

describe("sizes that fit no block", () => {
  const cases = [
    { batch: 1, inputs: 1, base: 1, blocks: 1, image: 1, mode: "running" },
    { batch: 2, inputs: 1, base: 1, blocks: 1, image: 1, mode: "batch" },
    { batch: 3, inputs: 5, base: 17, blocks: 2, image: 7, mode: "running" },
    { batch: 2, inputs: 20, base: 33, blocks: 1, image: 2, mode: "batch" },
    { batch: 1, inputs: 16, base: 15, blocks: 4, image: 23, mode: "batch" },
    { batch: 2, inputs: 3, base: 8, blocks: 1, image: 37, mode: "running" },
    { batch: 1, inputs: 33, base: 48, blocks: 1, image: 17, mode: "running" },
  ] as const;

  it.each(cases)("$batch x $inputs x $image², $base channels, $mode", async (c) => {
    const name = `${c.batch}-${c.inputs}-${c.base}-${c.image}`;
    const weights = join(directory, `weights-${name}.safetensors`);
    const input = join(directory, `input-${name}.safetensors`);
    const output = join(directory, `output-${name}.safetensors`);
    const sizes = [
      ...["--batch-size", c.batch, "--in-channels", c.inputs, "--base-channels", c.base],
      ...["--num-blocks", c.blocks, "--image-size", c.image, "--batch-norm", c.mode],
      ...["--warmup", 0, "--iterations", 1],
    ].map(String);
    const saved = await runProgram(program, [...sizes, "--seed", "7", "--save-weights", weights]);
    expect(saved.stderr).toBe("");

    // The saved weights have trivial statistics; give them ones that show every mistake.
    const parameters = new Map(readTensors(weights));
    for (const [key, { shape, values }] of parameters) {
      if (!/\.(1|bn\d)\./.test(key)) continue;
      const shifted = values.map((_, i) => 0.5 + ((i * 37 + key.length) % 11) / 10);
      parameters.set(key, { shape, values: shifted });
    }
    writeTensors(weights, parameters);
    const count = c.batch * c.inputs * c.image * c.image;
    const x = {
      shape: [c.batch, c.inputs, c.image, c.image],
      values: Float32Array.from({ length: count }, (_, i) => Math.sin(i * 1.7) * 2),
    };
    writeTensors(input, new Map([["x", x]]));

    const expected = referenceForward(parameters, x, c.mode);
    const checksums = new Map<string, Set<string>>();
    for (const isa of await usableIsas()) {
      for (const threads of ["1", "3"]) {
        const report = await runResnet(program, [
          ...sizes,
          ...["--weights", weights, "--input", input, "--output", output, "--save-activations"],
          ...["--isa", isa, "--threads", threads],
        ]);
        const actual = readTensors(output);
        expectClose(tensor(actual, "stem").values, expected.stem);
        expectClose(tensor(actual, "residual").values, expected.residual);
        expectClose(tensor(actual, "logits").values, expected.logits);
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
    expect(report.parameters).toMatchObject({
      count: conv(4, 8) + 4 * conv(8, 8) + 5 * 4 * 8 + 8 * 10 + 10,
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
