import type { Tensor } from "./safetensors.ts";

/** Activations as [batch][channel][pixel], in double precision. */
type Images = readonly (readonly Float64Array[])[];

export interface ReferenceResult {
  readonly stem: readonly number[];
  readonly residual: readonly number[];
  readonly logits: readonly number[];
}

/**
 * ShallowResNet as its definition reads, in doubles and without any blocking: what the native
 * kernels are compared with at sizes for which there is no golden data.
 */
export function referenceForward(
  weights: ReadonlyMap<string, Tensor>,
  input: Tensor,
  mode: "running" | "batch",
): ReferenceResult {
  const parameter = (name: string): Tensor => {
    const found = weights.get(name);
    if (found === undefined) throw new Error(`no parameter ${name}`);
    return found;
  };
  const size = input.shape[2] ?? 0;
  const conv = (images: Images, name: string): Images =>
    convolve(images, parameter(`${name}.weight`), parameter(`${name}.bias`), size);
  const norm = (images: Images, name: string): Images =>
    batchNorm(images, (key) => parameter(`${name}.${key}`).values, mode);

  const stem = map(norm(conv(unpack(input), "stem.0"), "stem.1"), relu);
  let features = stem;
  for (let i = 0; weights.has(`blocks.${i}.conv1.weight`); i++) {
    const hidden = map(norm(conv(features, `blocks.${i}.conv1`), `blocks.${i}.bn1`), relu);
    const branch = norm(conv(hidden, `blocks.${i}.conv2`), `blocks.${i}.bn2`);
    features = add(features, branch, relu);
  }
  return {
    stem: flatten(stem),
    residual: flatten(features),
    logits: linear(features, parameter("head.2.weight"), parameter("head.2.bias")),
  };
}

const relu = (x: number): number => Math.max(x, 0);

function unpack({ shape, values }: Tensor): Images {
  const [batch = 0, channels = 0, height = 0, width = 0] = shape;
  const pixels = height * width;
  return Array.from({ length: batch }, (_, n) =>
    Array.from({ length: channels }, (_, c) =>
      Float64Array.from(
        values.subarray((n * channels + c) * pixels, (n * channels + c + 1) * pixels),
      ),
    ),
  );
}

function flatten(images: Images): number[] {
  return images.flatMap((channels) => channels.flatMap((plane) => [...plane]));
}

function map(images: Images, change: (value: number) => number): Images {
  return images.map((channels) => channels.map((plane) => plane.map(change)));
}

function add(a: Images, b: Images, change: (value: number) => number): Images {
  return a.map((channels, n) =>
    channels.map((plane, c) => plane.map((x, i) => change(x + (b[n]?.[c]?.[i] ?? Number.NaN)))),
  );
}

function convolve(images: Images, weight: Tensor, bias: Tensor, size: number): Images {
  const [outputs = 0, inputs = 0] = weight.shape;
  return images.map((channels) =>
    Array.from({ length: outputs }, (_, o) => {
      const plane = new Float64Array(size * size).fill(bias.values[o] ?? Number.NaN);
      for (let c = 0; c < inputs; c++)
        for (let tap = 0; tap < 9; tap++)
          accumulate(
            plane,
            channels[c] ?? new Float64Array(),
            weight.values[(o * inputs + c) * 9 + tap] ?? Number.NaN,
            Math.floor(tap / 3) - 1,
            (tap % 3) - 1,
            size,
          );
      return plane;
    }),
  );
}

function accumulate(
  to: Float64Array,
  from: Float64Array,
  factor: number,
  dy: number,
  dx: number,
  size: number,
): void {
  for (let y = Math.max(0, -dy); y < Math.min(size, size - dy); y++)
    for (let x = Math.max(0, -dx); x < Math.min(size, size - dx); x++) {
      const at = y * size + x;
      to[at] = (to[at] ?? 0) + factor * (from[(y + dy) * size + x + dx] ?? Number.NaN);
    }
}

function batchNorm(
  images: Images,
  parameter: (key: string) => Float32Array,
  mode: "running" | "batch",
): Images {
  const at = (key: string, c: number): number => parameter(key)[c] ?? Number.NaN;
  const channels = images[0]?.length ?? 0;
  const statistics = Array.from({ length: channels }, (_, c) => {
    if (mode === "running") return { mean: at("running_mean", c), variance: at("running_var", c) };
    const values = images.flatMap((image) => [...(image[c] ?? [])]);
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length;
    return { mean, variance };
  });
  return images.map((image) =>
    image.map((plane, c) => {
      const { mean, variance } = statistics[c] ?? { mean: Number.NaN, variance: Number.NaN };
      const deviation = Math.sqrt(variance + 1e-5);
      return plane.map((x) => ((x - mean) / deviation) * at("weight", c) + at("bias", c));
    }),
  );
}

function linear(images: Images, weight: Tensor, bias: Tensor): number[] {
  const [outputs = 0, inputs = 0] = weight.shape;
  return images.flatMap((channels) => {
    const means = channels.map((plane) => plane.reduce((sum, x) => sum + x, 0) / plane.length);
    return Array.from({ length: outputs }, (_, o) =>
      means.reduce(
        (sum, mean, c) => sum + mean * (weight.values[o * inputs + c] ?? Number.NaN),
        bias.values[o] ?? Number.NaN,
      ),
    );
  });
}
