import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { expectClose } from "./close.ts";
import { readTensors, tensorNamed } from "./safetensors.ts";

/** What PyTorch computed from the same weights and input. */
const golden = fileURLToPath(new URL("../fixtures/golden/shallow_resnet/", import.meta.url));

type Mode = "running" | "batch";

interface Golden {
  readonly batch_norm: Readonly<
    Record<
      Mode,
      {
        readonly stem: { readonly mean: number; readonly first: readonly number[] };
        readonly residual: { readonly mean: number; readonly first: readonly number[] };
        readonly logits: readonly (readonly number[])[];
      }
    >
  >;
}

const expected = JSON.parse(readFileSync(`${golden}expected.json`, "utf8")) as Golden;

/** Flags of shallow_resnet that compute the golden data into `output`. */
export const goldenFlags = (mode: Mode, output: string): readonly string[] => [
  ...["--weights", `${golden}weights.safetensors`, "--input", `${golden}input.safetensors`],
  ...["--batch-norm", mode, "--output", output, "--save-activations"],
];

export const goldenLogits = (mode: Mode): readonly number[] =>
  expected.batch_norm[mode].logits.flat();

export function expectGolden(output: string, mode: Mode): void {
  const wanted = expected.batch_norm[mode];
  const actual = readTensors(output);
  expect(tensorNamed(actual, "logits").shape).toEqual([4, 10]);
  expectClose(tensorNamed(actual, "logits").values, wanted.logits.flat());
  for (const stage of ["stem", "residual"] as const) {
    const { shape, values } = tensorNamed(actual, stage);
    expect(shape).toEqual([4, 16, 64, 64]);
    expectClose(values.subarray(0, 16), wanted[stage].first);
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    expect(mean).toBeCloseTo(wanted[stage].mean, 5);
  }
}
