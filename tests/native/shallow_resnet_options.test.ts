import { readFileSync } from "node:fs";
import { totalmem } from "node:os";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { nativeProgram, type Outcome, runProgram, runResnet } from "./programs.ts";

let program = "";
beforeAll(async () => {
  program = await nativeProgram("shallow_resnet");
});
const resnet = (...args: string[]): Promise<Outcome> => runProgram(program, args);

describe("a wrong command line exits with 2 and says what is right", () => {
  it.each([
    [["--batchsize", "4"], "unknown option '--batchsize'; did you mean '--batch-size'?"],
    [["--itertions=3"], "unknown option '--itertions'; did you mean '--iterations'?"],
    [["-z"], "unknown option '-z'"],
    [["forward"], "unexpected argument 'forward'"],
    [["--batch-size"], "--batch-size needs a value"],
    [["--batch-size", "0"], "--batch-size: '0' is not possible; expected a whole number from 1"],
    [["--image-size", "-3"], "--image-size: '-3' is not possible"],
    [["--num-blocks", "2.5"], "--num-blocks: '2.5' is not possible"],
    [["--num-blocks", " 2"], "--num-blocks: ' 2' is not possible"],
    [["--base-channels", "0x10"], "--base-channels: '0x10' is not possible"],
    [["--base-channels", "99999999999999999999999"], "is not possible"],
    [["--iterations", ""], "--iterations: '' is not possible"],
    [["--seed", "18446744073709551616"], "--seed"],
    [["--threads", "0"], "--threads: '0' is not possible"],
    [["--batch-norm", "runing"], "expected running or batch; did you mean 'running'?"],
    [["--program", "region"], "expected forward or regions; did you mean 'regions'?"],
    [["--device", "gpu"], "--device: 'gpu' is not a device; expected cpu or cuda:N"],
    [["--device", "cuda:x"], "--device: 'cuda:x' is not a device"],
    [["--device", "cuda:-1"], "--device: 'cuda:-1' is not a device"],
    [["--isa", "avx1024"], "--isa: 'avx1024' is not one of auto"],
    [["--output", ""], "--output: the file name is empty"],
    [["--help=yes"], "--help takes no value"],
    [["--save-activations"], "--save-activations needs --output"],
    [
      ["--batch-norm", "batch", "--batch-size", "1", "--image-size", "1"],
      "needs more than one value per channel",
    ],
    [
      ["--model", "shallow_resnet"],
      "unknown model 'shallow_resnet'; did you mean 'dummy_shallow_resnet'? (known: dummy_shallow_resnet)",
    ],
    [["--model", "vgg"], "unknown model 'vgg' (known: dummy_shallow_resnet)"],
  ])("%j", async (args, message) => {
    const { code, stdout, stderr } = await resnet(...args);
    expect(stderr).toContain(message);
    expect(stderr).toContain("--help");
    expect(code).toBe(2);
    expect(stdout).toBe("");
  });
});

describe("what the machine cannot do exits with 1", () => {
  it("names the backends that were built", async () => {
    const { backends } = (await runResnet(program, ["--image-size", "8"])).build;
    if (backends.includes("cuda")) {
      console.warn("SKIPPED the refusal of --device cuda:0: this build has a GPU backend");
      return;
    }
    const { code, stderr } = await resnet("--device", "cuda:0");
    expect(stderr).toMatch(/--device cuda:0: .*without a cuda backend \(built: cpu\)/);
    expect(code).toBe(1);
  });

  it.each([
    [["--batch-size", "65536", "--image-size", "65536"]],
    [["--base-channels", "65536"]],
    [["--batch-size", "65536", "--image-size", "65536", "--base-channels", "65536"]],
  ])("refuses %j before allocating it", async (args) => {
    const { code, stderr } = await resnet(...args);
    expect(stderr).toMatch(/memory|address space/);
    expect(code).toBe(1);
  });

  /** What its logits take: a larger machine would have to be filled. */
  const logitsBytes = 189_000_000_000;

  it.skipIf(totalmem() > logitsBytes)("counts the logits of very many classes, too", async () => {
    const sizes = ["--batch-size=65536", "--num-classes=65536", "--image-size=1"];
    const { code, stderr } = await runProgram("/bin/sh", [
      "-c",
      'ulimit -v 8000000; exec "$0" --base-channels=1 --in-channels=1 --num-blocks=1 "$@"',
      program,
      ...sizes,
    ]);
    expect(stderr).toMatch(/these sizes need about \d+ MiB of memory; there are \d+ MiB here/);
    expect(code).toBe(1);
  });

  it("reports a full output device", async () => {
    const { code, stderr } = await runProgram("/bin/sh", [
      "-c",
      '"$0" --image-size 8 --iterations 1 > /dev/full',
      program,
    ]);
    expect(stderr).toContain("cannot write to standard output");
    expect(code).toBe(1);
  });
});

describe("asking about the program", () => {
  it("lists its models, one name per line first", async () => {
    const { code, stdout } = await resnet("--list-models");
    expect(stdout.split("\n").map((line) => line.split("\t")[0])).toEqual(["dummy_shallow_resnet"]);
    expect(code).toBe(0);
  });

  it("knows the package's version", async () => {
    const path = fileURLToPath(new URL("../../package.json", import.meta.url));
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
    const { stdout } = await resnet("--version");
    expect(stdout.startsWith(`shallow_resnet ${version} (`)).toBe(true);
  });

  it.each(["--help", "-h"])("%s names every option and the exit codes", async (flag) => {
    const { code, stdout } = await resnet(flag);
    expect(code).toBe(0);
    for (const option of [
      "--model",
      "--batch-norm MODE",
      "--save-weights FILE",
      "--threads N",
      "--dtype TYPE",
    ])
      expect(stdout).toContain(option);
    expect(stdout).toContain("Exit code");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });
});
