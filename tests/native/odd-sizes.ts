import { join } from "node:path";
import { expect } from "vitest";
import { expectClose } from "./close.ts";
import { runProgram } from "./programs.ts";
import { type ReferenceResult, referenceForward } from "./reference-network.ts";
import { readTensors, tensorNamed, writeTensors } from "./safetensors.ts";

/** Sizes that are no multiple of any block, tile or vector. */
export const ODD_SIZES = [
  { batch: 1, inputs: 1, base: 1, blocks: 1, image: 1, mode: "running" },
  { batch: 2, inputs: 1, base: 1, blocks: 1, image: 1, mode: "batch" },
  { batch: 3, inputs: 5, base: 17, blocks: 2, image: 7, mode: "running" },
  { batch: 2, inputs: 20, base: 33, blocks: 1, image: 2, mode: "batch" },
  { batch: 1, inputs: 16, base: 15, blocks: 4, image: 23, mode: "batch" },
  { batch: 2, inputs: 3, base: 8, blocks: 1, image: 37, mode: "running" },
  { batch: 1, inputs: 33, base: 48, blocks: 1, image: 17, mode: "running" },
] as const;

export interface OddSizes {
  readonly batch: number;
  readonly inputs: number;
  readonly base: number;
  readonly blocks: number;
  readonly image: number;
  readonly mode: "running" | "batch";
}

/** Weights and input for these sizes, and what must come out. */
export async function prepareOddSizes(
  program: string,
  directory: string,
  c: OddSizes,
): Promise<{ flags: readonly string[]; output: string; expected: ReferenceResult }> {
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
  return {
    flags: [
      ...sizes,
      ...["--weights", weights, "--input", input, "--output", output, "--save-activations"],
    ],
    output,
    expected: referenceForward(parameters, x, c.mode),
  };
}

export function expectTensors(file: string, expected: ReferenceResult): void {
  const actual = readTensors(file);
  expectClose(tensorNamed(actual, "stem").values, expected.stem);
  expectClose(tensorNamed(actual, "residual").values, expected.residual);
  expectClose(tensorNamed(actual, "logits").values, expected.logits);
}
