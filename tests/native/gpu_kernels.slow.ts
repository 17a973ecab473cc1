import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { expectGolden, goldenFlags, goldenLogits } from "./golden.ts";
import { emulatedGpuProgram } from "./gpu-emulation.ts";
import { expectTensors, ODD_SIZES, prepareOddSizes } from "./odd-sizes.ts";
import { runProgram, runResnet } from "./programs.ts";
import { record } from "./record.ts";
import { readTensors, tensorNamed } from "./safetensors.ts";

/**
 * The GPU kernels' source and the backend around them on an emulated GPU: what they compute, and how
 * they fail. That they do the same on a GPU is checked there, by scripts/gpu-check.py.
 */

const directory = mkdtempSync(join(tmpdir(), "gpu-kernels-"));
const program = await emulatedGpuProgram();
const emulated = program ?? "";
const gpu = ["--device", "cuda:0"];

afterAll(() => rmSync(directory, { recursive: true }));

async function run(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | undefined; stdout: string; stderr: string }> {
  const { exitCode, stdout, stderr } = await execa(emulated, [...gpu, ...args], {
    env,
    reject: false,
  });
  return { code: exitCode, stdout, stderr };
}

const small = ["--image-size", "5", "--warmup", "0", "--iterations", "1"];

describe.skipIf(program === null)("the GPU kernels on an emulated GPU", () => {
  for (const mode of ["running", "batch"] as const)
    it(`agree with PyTorch's golden data, ${mode} statistics`, async () => {
      const output = join(directory, `golden-${mode}.safetensors`);
      const flags = goldenFlags(mode, output);
      const report = await runResnet(emulated, [
        ...[...gpu, ...flags],
        ...["--warmup", "0", "--iterations", "1"],
      ]);
      expect(report.device).toBe("cuda:0");
      expect(report.backend).toMatchObject({
        kind: "cuda",
        library: "cuda",
        dtype: "float32",
        tf32: "off",
      });
      expectGolden(output, mode);
    }, 900_000);

  for (const sizes of ODD_SIZES)
    it(`compute ${JSON.stringify(sizes)}, threads in either order`, async () => {
      const { flags, output, expected } = await prepareOddSizes(emulated, directory, sizes);
      for (const order of ["forward", "reverse"]) {
        const { stderr } = await run(flags, { GPU_EMULATION_ORDER: order });
        expect(stderr).toBe("");
        expectTensors(output, expected);
      }
    });

  it("gives channels beyond one tile to several blocks", async () => {
    const sizes = { batch: 1, inputs: 9, base: 66, blocks: 1, image: 3, mode: "running" } as const;
    const { flags, output, expected } = await prepareOddSizes(emulated, directory, sizes);
    expect((await run(flags)).stderr).toBe("");
    expectTensors(output, expected);
  });

  // Relative to the largest logit: 10 and 7 bits of mantissa through eight layers.
  for (const [dtype, tolerance] of [
    ["float16", 0.01],
    ["bfloat16", 0.05],
  ] as const)
    it(`stores ${dtype} and sums in float32`, async () => {
      const output = join(directory, `golden-${dtype}.safetensors`);
      const report = await runResnet(emulated, [
        ...[...gpu, ...goldenFlags("running", output), "--dtype", dtype],
        ...["--warmup", "0", "--iterations", "1"],
      ]);
      expect(report.backend.dtype).toBe(dtype);
      const wanted = goldenLogits("running");
      const { values } = tensorNamed(readTensors(output), "logits");
      const scale = Math.max(...wanted.map(Math.abs));
      const worst = Math.max(...wanted.map((x, i) => Math.abs(x - (values[i] ?? Number.NaN))));
      expect(worst / scale).toBeLessThan(tolerance);
      expect(worst).toBeGreaterThan(0);
      const convolution = report.layers.find((layer) => layer.name === "blocks.0.conv1");
      const elements = 2 * 4 * 16 * 64 * 64 + 16 * 16 * 9;
      expect(convolution?.bytes).toBe(2 * elements + 4 * 16);
    }, 900_000);

  // Half a unit of the last place of what is read and stored; sums of 297 terms of that type would lose ten times that.
  it.each([
    ["float16", 2 ** -11],
    ["bfloat16", 2 ** -8],
  ] as const)("sums many terms of %s in float32", async (dtype, tolerance) => {
    const sizes = {
      batch: 1,
      inputs: 33,
      base: 48,
      blocks: 1,
      image: 17,
      mode: "running",
    } as const;
    const { flags, output, expected } = await prepareOddSizes(emulated, directory, sizes);
    expect((await run([...flags, "--dtype", dtype])).stderr).toBe("");
    const actual = readTensors(output);
    for (const [name, wanted] of Object.entries({
      stem: expected.stem,
      residual: expected.residual,
    })) {
      const { values } = tensorNamed(actual, name);
      const norm = (of: (i: number) => number) =>
        Math.hypot(...Array.from(wanted, (_, i) => of(i)));
      const error =
        norm((i) => (values[i] ?? Number.NaN) - (wanted[i] ?? 0)) / norm((i) => wanted[i] ?? 0);
      expect(error).toBeLessThan(tolerance);
    }
  });

  it("computes the same through CUDA graphs", async () => {
    const plain = await runResnet(emulated, [...gpu, ...small]);
    const graph = await runResnet(emulated, [...gpu, ...small, "--cuda-graph"]);
    expect(graph.backend.launches).toBe("graphs");
    expect(plain.backend.launches).toBe("single");
    expect(graph.logits).toEqual(plain.logits);
  });

  it("knows the peaks of the GPU from its properties", async () => {
    const { peaks } = await runResnet(emulated, [...gpu, ...small, "--peaks"]);
    // An H200: 132 multiprocessors x 256 FLOP x 1.98 GHz; 6144 bits at 3.2 GHz, twice per clock.
    expect(peaks?.gflops_per_second).toBeCloseTo(66908.16, 2);
    expect(peaks?.gbytes_per_second).toBeCloseTo(4916.736, 3);
    expect(peaks?.source).toBe("properties of the GPU");
  });

  it("opens the model's ranges, and none for launches that do not wait", async () => {
    const labels = await rangeLabels([...gpu, ...small]);
    expect(labels).toContain("block.conv1");
    expect(labels.filter((label) => label.startsWith("conv2d"))).toEqual([]);
    const onCpu = await rangeLabels(small);
    expect(onCpu.some((label) => label.startsWith("conv2d"))).toBe(true);
  });
});

describe.skipIf(program === null)("the GPU backend's failures", () => {
  const failures: readonly [string, readonly string[], Record<string, string>, RegExp][] = [
    ["no driver", [], { GPU_EMULATION_FAULT: "no_driver" }, /there is no NVIDIA driver/],
    [
      "a driver that is too old",
      [],
      { GPU_EMULATION_FAULT: "old_driver" },
      /driver is too old: it supports CUDA 11\.4, .* CUDA 13\.0; update/,
    ],
    [
      "a GPU that is not ready",
      [],
      { GPU_EMULATION_FAULT: "not_ready" },
      /nvidia-fabricmanager has to run/,
    ],
    ["no GPU", [], { GPU_EMULATION_FAULT: "no_device" }, /no GPU is visible to CUDA/],
    ["another GPU", ["--device", "cuda:2"], {}, /CUDA sees 2 GPUs \(cuda:0 to cuda:1\)/],
    [
      "too little memory",
      [],
      { GPU_EMULATION_MEMORY: "4096" },
      /^shallow_resnet: cudaMalloc at shallow_resnet\/cuda\/resources\.hpp:\d+: .*not enough free memory/,
    ],
    [
      "a GPU it was not built for",
      [],
      { GPU_EMULATION_FAULT: "no_image" },
      /built for emulation, .* build again/,
    ],
    [
      "a failing kernel",
      [],
      { GPU_EMULATION_FAULT: "launch" },
      /^shallow_resnet: cudaStreamSynchronize at shallow_resnet\/cuda_backend\.cc:\d+: .*\(cudaErrorIllegalAddress\)/,
    ],
    ["cuDNN where it was not built in", ["--gpu-library", "cudnn"], {}, /built without cuDNN/],
    ["TF32 without cuDNN", ["--tf32"], {}, /only cuDNN's convolutions can use TF32/],
  ];

  for (const [what, args, env, message] of failures)
    it(`says in one line that there is ${what}`, async () => {
      const { code, stdout, stderr } = await run([...small, ...args], env);
      expect(stderr).toMatch(message);
      expect(stderr.trim().split("\n")).toHaveLength(1);
      expect(stdout).toBe("");
      expect(code).toBe(1);
    });

  it("knows no --dtype on the CPU", async () => {
    const { code, stderr } = await runProgram(emulated, [...small, "--dtype", "float16"]);
    expect(stderr).toContain("--dtype float16: only on a GPU");
    expect(code).toBe(1);
  });
});

/** Labels of all ranges that a run opens. */
async function rangeLabels(args: readonly string[]): Promise<string[]> {
  const { timeline } = await record(emulated, args);
  return timeline.processes.flatMap(({ ranges }) => ranges.map(({ name }) => name));
}
