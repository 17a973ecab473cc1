import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { expectGolden, goldenFlags, goldenLogits } from "./golden.ts";
import { cudnnLibraries, emulatedGpuProgram } from "./gpu-emulation.ts";
import type { ResnetReport } from "./programs.ts";
import { readTensors, tensorNamed } from "./safetensors.ts";

/**
 * How shallow_resnet calls cuDNN: over a pretended one that computes on the processor, is strict
 * about what it is given, and proposes algorithms that must not be taken. What the real one does is
 * checked on a GPU, by scripts/gpu-check.py.
 */

const directory = mkdtempSync(join(tmpdir(), "cudnn-"));
const program = await emulatedGpuProgram("cudnn");
const libraries = join(directory, "libraries");
if (program !== null) await cudnnLibraries(libraries);

afterAll(() => rmSync(directory, { recursive: true }));

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await execa(
    program ?? "",
    ["--device", "cuda:0", "--warmup", "0", "--iterations", "1", ...args],
    { env: { LD_LIBRARY_PATH: libraries, ...env }, reject: false },
  );
  return { code: exitCode, stdout, stderr };
}

async function golden(name: string, args: readonly string[]) {
  const output = join(directory, `${name}.safetensors`);
  const { code, stdout, stderr } = await run([...goldenFlags("running", output), ...args]);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  const logits = tensorNamed(readTensors(output), "logits").values;
  const wanted = goldenLogits("running");
  const scale = Math.max(...wanted.map(Math.abs));
  const error = Math.max(...wanted.map((value, i) => Math.abs((logits[i] ?? Number.NaN) - value)));
  return { output, report: JSON.parse(stdout) as ResnetReport, error: error / scale };
}

describe.skipIf(program === null)("convolutions by cuDNN", () => {
  it("agree with PyTorch's golden data: no rounded inputs, no algorithm that loses digits", async () => {
    const { output, report } = await golden("float32", []);
    expect(report.backend).toMatchObject({
      library: "cudnn 9.24.0",
      dtype: "float32",
      tf32: "off",
    });
    expectGolden(output, "running");
  }, 900_000);

  it("are the same as graphs", async () => {
    const { output } = await golden("graph", ["--cuda-graph"]);
    expectGolden(output, "running");
  }, 900_000);

  it.each([
    ["tf32", ["--tf32"], 5e-3],
    ["float16", ["--dtype", "float16"], 1e-2],
    ["bfloat16", ["--dtype", "bfloat16"], 5e-2],
  ] as const)(
    "round to %s where that is asked for",
    async (name, flags, tolerance) => {
      const { error } = await golden(name, flags);
      expect(error).toBeLessThan(tolerance);
      expect(error).toBeGreaterThan(1e-6);
    },
    300_000,
  );
});

describe.skipIf(program === null)("cuDNN's failures are told in one line", () => {
  const small = ["--image-size", "5", "--base-channels", "4"];
  it.each([
    ["a convolution that breaks off", { CUDNN_EMULATION_FAULT: "forward" }, /EXECUTION_FAILED/],
    ["no algorithm that works", { CUDNN_EMULATION_FAULT: "unsupported" }, /NOT_SUPPORTED/],
    ["libraries that are not there", { LD_LIBRARY_PATH: "" }, /cannot be used: libcudnn_graph/],
  ])("%s", async (_, env, message) => {
    const { code, stdout, stderr } = await run(small, env);
    expect(stderr).toMatch(message);
    expect(stderr).toContain("--gpu-library cuda runs without cuDNN");
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });
});
