import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nativeProgram, type Outcome, runProgram, runResnet } from "./programs.ts";
import { assemble, readTensors, writeTensors } from "./safetensors.ts";

const directory = mkdtempSync(join(tmpdir(), "shallow-resnet-files-"));
const file = (name: string): string => join(directory, name);
const small = ["--batch-size=1", "--image-size=2", "--base-channels=2", "--num-blocks=1"];
const once = [...small, "--warmup=0", "--iterations=1"];

let program = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
});
afterAll(() => rmSync(directory, { recursive: true }));

const resnet = (...args: string[]): Promise<Outcome> => runProgram(program, [...once, ...args]);

describe("saved weights", () => {
  it("give the same logits when read again, and the same file when saved again", async () => {
    const first = file("first.safetensors");
    const second = file("second.safetensors");
    const seeded = await runResnet(program, [...once, "--seed=3", "--save-weights", first]);
    // Another seed still makes the same input only through --input; weights alone must not differ.
    const read = await runResnet(program, [
      ...[...once, "--seed=3", "--weights", first, "--save-weights", second],
    ]);
    expect(read.parameters).toMatchObject({ source: "file", count: seeded.parameters.count });
    expect(read.logits).toEqual(seeded.logits);
    expect(readFileSync(second)).toEqual(readFileSync(first));
  });

  it("carry PyTorch's names and shapes, in its order", async () => {
    const path = file("names.safetensors");
    await runResnet(program, [...once, "--save-weights", path]);
    const shapes = [...readTensors(path)].map(([name, { shape }]) => `${name} ${shape.join("x")}`);
    const norm = (name: string): string[] =>
      ["weight", "bias", "running_mean", "running_var"].map((key) => `${name}.${key} 2`);
    expect(shapes).toEqual([
      ...["stem.0.weight 2x3x3x3", "stem.0.bias 2", ...norm("stem.1")],
      ...["blocks.0.conv1.weight 2x2x3x3", "blocks.0.conv1.bias 2", ...norm("blocks.0.bn1")],
      ...["blocks.0.conv2.weight 2x2x3x3", "blocks.0.conv2.bias 2", ...norm("blocks.0.bn2")],
      ...["head.2.weight 10x2", "head.2.bias 10"],
    ]);
  });

  it("start as PyTorch starts layers: uniform in ±1/sqrt(fan in)", async () => {
    const path = file("initial.safetensors");
    await runResnet(program, ["--base-channels=64", "--image-size=2", "--save-weights", path]);
    const values = readTensors(path).get("blocks.0.conv1.weight")?.values ?? new Float32Array();
    const bound = 1 / Math.sqrt(64 * 9);
    const mean = values.reduce((sum, x) => sum + x, 0) / values.length;
    const variance = values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / values.length;
    expect(Math.max(...values)).toBeLessThanOrEqual(bound);
    expect(Math.min(...values)).toBeGreaterThanOrEqual(-bound);
    expect(Math.abs(mean)).toBeLessThan(bound / 50);
    expect(variance / (bound ** 2 / 3)).toBeCloseTo(1, 1);
  });

  it("may hold PyTorch's batch counters", async () => {
    const plain = file("plain.safetensors");
    const counted = file("counted.safetensors");
    const { logits } = await runResnet(program, [...once, "--save-weights", plain]);
    const bytes = readFileSync(plain);
    const length = Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString("utf8", 8, 8 + length)) as Record<string, unknown>;
    const data = bytes.subarray(8 + length);
    header["stem.1.num_batches_tracked"] = {
      dtype: "I64",
      shape: [],
      data_offsets: [data.length, data.length + 8],
    };
    const all = Buffer.concat([data, Buffer.alloc(8)]);
    writeFileSync(counted, assemble(JSON.stringify(header), all));
    expect((await runResnet(program, [...once, "--weights", counted])).logits).toEqual(logits);
  });

  it("are complete or absent: no temporary file stays, and a bad place is an error", async () => {
    const { code, stderr } = await resnet("--save-weights", file("no/such/place"));
    expect(stderr).toContain("cannot write");
    expect(code).toBe(1);
    expect(readdirSync(directory).filter((name) => name.includes(".tmp"))).toEqual([]);
  });
});

describe("weights that do not fit", () => {
  it("are refused with every difference at once", async () => {
    const path = file("misfit.safetensors");
    await runResnet(program, [...once, "--save-weights", path]);
    const tensors = new Map(readTensors(path));
    const taken = tensors.get("head.2.bias");
    tensors.delete("head.2.bias");
    if (taken !== undefined) tensors.set("head.2.bia", taken);
    tensors.set("stem.0.bias", { shape: [3], values: new Float32Array(3) });
    tensors.set("stem.1.running_var", { shape: [2], values: Float32Array.of(1, -1) });
    writeTensors(path, tensors);
    const { code, stderr } = await resnet("--weights", path);
    expect(stderr).toContain(`${path} does not fit the model`);
    expect(stderr).toContain("'stem.0.bias' is 3, expected 2");
    expect(stderr).toContain("'head.2.bias' is missing");
    expect(stderr).toContain("'head.2.bia' is not a parameter of this model; did you mean");
    expect(stderr).toContain("'stem.1.running_var' holds a negative variance");
    expect(code).toBe(1);
  });

  it("too large for float32 are refused instead of printed as numbers", async () => {
    const path = file("huge.safetensors");
    await runResnet(program, [...once, "--save-weights", path]);
    const tensors = new Map(readTensors(path));
    for (const [name, { shape, values }] of tensors)
      tensors.set(name, { shape, values: values.map(() => 3e38) });
    writeTensors(path, tensors);
    const { code, stderr, stdout } = await resnet("--weights", path);
    expect(stderr).toContain("not finite");
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });
});

describe("input", () => {
  it("must be there, be called x, have the run's shape and be finite", async () => {
    const x = (shape: number[], value: number) => ({
      shape,
      values: new Float32Array(shape.reduce((a, b) => a * b, 1)).fill(value),
    });
    writeTensors(file("y.safetensors"), new Map([["y", x([1, 3, 2, 2], 0)]]));
    writeTensors(file("shape.safetensors"), new Map([["x", x([2, 3, 2, 2], 0)]]));
    writeTensors(file("nan.safetensors"), new Map([["x", x([1, 3, 2, 2], Number.NaN)]]));
    writeTensors(file("inf.safetensors"), new Map([["x", x([1, 3, 2, 2], -Infinity)]]));
    for (const [name, message] of [
      ["absent.safetensors", "No such file"],
      ["y.safetensors", "holds no tensor 'x'"],
      ["shape.safetensors", "tensor 'x' is 2x3x2x2, expected 1x3x2x2"],
      ["nan.safetensors", "tensor 'x' holds a value that is not finite"],
      ["inf.safetensors", "tensor 'x' holds a value that is not finite"],
      [".", "not a regular file"],
    ] as const) {
      const { code, stderr } = await resnet("--input", file(name));
      expect(stderr).toContain(file(name));
      expect(stderr).toContain(message);
      expect(code).toBe(1);
    }
  });
});

describe("files that are not safetensors", () => {
  const data = Buffer.alloc(16);
  const entry = (fields: object): string =>
    JSON.stringify({ x: { dtype: "F32", shape: [4], data_offsets: [0, 16], ...fields } });
  const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const claim = (bytes: bigint): Buffer => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(bytes);
    return length;
  };

  it.each<[string, Buffer, string]>([
    ["empty", Buffer.alloc(0), "it has 0 bytes"],
    ["only part of a length", Buffer.alloc(7), "it has 7 bytes"],
    ["header longer than the file", claim(1000n), "claims 1000 bytes, but only 0 follow"],
    ["absurd length", claim(2n ** 64n - 1n), "more than any real one has"],
    ["empty header", assemble("", data), "not JSON"],
    ["text", assemble("hello", data), "not JSON"],
    ["a list", assemble("[]", data), "not a JSON object"],
    ["unclosed", assemble('{"x": ', data), "not JSON"],
    ["rest after the header", assemble("{} {}", data), "unexpected text after"],
    ["very deep", assemble(`{"x": ${deep}}`, data), "nested too deeply"],
    ["bad UTF-8", assemble(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a]), data), "not UTF-8"],
    ["half a surrogate", assemble('{"\\ud800": 1}', data), "surrogate"],
    ["same name twice", assemble('{"x": {}, "x": {}}', data), "occurs twice"],
    ["control characters", assemble('{"\\n\\u001b[2J": 1}', data), "tensor '??[2J' must"],
    ["a number for a tensor", assemble('{"x": 1}', data), "must have exactly"],
    ["no dtype", assemble('{"x": {"shape": [4], "data_offsets": [0, 16]}}', data), "exactly"],
    ["an extra field", assemble(entry({ more: 1 }), data), "must have exactly"],
    ["unknown dtype", assemble(entry({ dtype: "F33" }), data), "unknown dtype"],
    ["other dtype", assemble(entry({ dtype: "I32" }), data), "only F32 is supported"],
    ["negative size", assemble(entry({ shape: [-4] }), data), "not a whole number"],
    ["fractional size", assemble(entry({ shape: [4.5] }), data), "not a whole number"],
    ["text for a shape", assemble(entry({ shape: "4" }), data), "shape is not a list"],
    ["shape of other length", assemble(entry({ shape: [3] }), data), "does not take 16 bytes"],
    [
      "shape that overflows",
      assemble(entry({ shape: [4294967296, 4294967296, 2] }), data),
      "overflows",
    ],
    ["one offset", assemble(entry({ data_offsets: [0] }), data), "list of two offsets"],
    ["offsets backwards", assemble(entry({ data_offsets: [16, 0] }), data), "lie outside"],
    ["offsets beyond", assemble(entry({ data_offsets: [0, 20], shape: [5] }), data), "lie outside"],
    ["a hole", assemble(entry({ data_offsets: [4, 16], shape: [3] }), data), "begins at byte 4"],
    ["data left over", assemble(entry({ data_offsets: [0, 8], shape: [2] }), data), "8 bytes at"],
    ["a name without end", assemble(`{"${"é".repeat(40_000)}": {}}`, data), "é...' must have"],
    [
      "the same one twice",
      assemble(`{"${"k".repeat(9_000)}": 1, "${"k".repeat(9_000)}": 1}`, data),
      "k...' occurs",
    ],
    ["very many sizes", assemble(entry({ shape: Array(5_000).fill(1) }), data), "5000 sizes"],
    ["metadata of numbers", assemble('{"__metadata__": {"a": 1}}', data), "is not a string"],
  ])("%s", async (name, bytes, message) => {
    const path = file(`${name.replaceAll(" ", "-")}.bad`);
    writeFileSync(path, bytes);
    const { code, stderr, stdout } = await resnet("--input", path);
    expect(stderr).toContain(`shallow_resnet: ${path}`);
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
    expect(stderr.length).toBeLessThan(1000);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  it("larger than memory are not read", async () => {
    const path = file("huge.safetensors");
    writeFileSync(path, "");
    // Without its blocks: no disk is needed for it.
    truncateSync(path, 2 ** 43);
    const { code, stderr } = await resnet("--weights", path);
    expect(stderr).toMatch(
      /huge\.safetensors: reading it needs 8388608 MiB of memory; there are \d+/,
    );
    expect(code).toBe(1);
  });
});
