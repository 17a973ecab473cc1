import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NativeDetection } from "../../native/build.mjs";

const script = fileURLToPath(new URL("../../native/detect.py", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "detect-"));

function header(path: string, text = ""): void {
  mkdirSync(join(directory, path, ".."), { recursive: true });
  writeFileSync(join(directory, path), text);
}

beforeAll(() => {
  header("nvtx/c/include/nvtx3/nvToolsExt.h");
  header("toolkit/include/nvtx3/nvToolsExt.h");
  header("toolkit/include/cuda.h", "#define CUDA_VERSION 12040\n");
  header("cudnn/include/cudnn.h");
  header(
    "cudnn/include/cudnn_version.h",
    "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 24\n#define CUDNN_PATCHLEVEL 0\n",
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

async function detect(args: string[], env: Record<string, string>) {
  const { exitCode, stdout, stderr } = await execa("python3", [script, ...args], {
    env: { NVTX_ROOT: "", CUDNN_ROOT: "", NVCC: "", CUDA_HOME: "", CUDA_PATH: "", ...env },
    reject: false,
  });
  return { code: exitCode, stdout, stderr };
}

async function all(env: Record<string, string>): Promise<NativeDetection> {
  const { code, stdout, stderr } = await detect(["all"], env);
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as NativeDetection;
}

describe("native/detect.py", () => {
  it("prints the directory of NVTX_ROOT's headers and nothing else, for gyp", async () => {
    const { stdout } = await detect(["nvtx-include"], { NVTX_ROOT: join(directory, "nvtx") });
    expect(stdout).toBe(join(directory, "nvtx/c/include"));
  });

  it("takes the headers of the toolkit that CUDA_HOME names, with its version", async () => {
    const { nvtx } = await all({ CUDA_HOME: join(directory, "toolkit") });
    expect(nvtx).toEqual({
      include: join(directory, "toolkit/include"),
      source: "toolkit",
      cuda: "12.4",
    });
  });

  it("prefers NVTX_ROOT to a toolkit, and reads cuDNN's version", async () => {
    const { nvtx, cudnn } = await all({
      CUDA_HOME: join(directory, "toolkit"),
      NVTX_ROOT: join(directory, "nvtx"),
      CUDNN_ROOT: join(directory, "cudnn"),
    });
    expect(nvtx?.source).toBe("NVTX_ROOT");
    expect(cudnn).toEqual({ include: join(directory, "cudnn/include"), version: "9.24.0" });
  });

  it.each([
    ["NVTX_ROOT", "holds no nvtx3"],
    ["CUDNN_ROOT", "holds no cudnn.h"],
    ["NVCC", "no such program"],
    ["CXX", "no such program"],
  ])("refuses a %s that is not one instead of taking something else", async (name, message) => {
    const { code, stdout, stderr } = await detect(["all"], { [name]: join(directory, "nothing") });
    expect(stderr).toContain(`${name}=${join(directory, "nothing")}: ${message}`);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });

  it("accepts a compiler with a launcher in front, as make does", async () => {
    const { compiler } = await all({ CXX: "env g++" });
    expect(compiler.command).toBe("env g++");
    expect(compiler.version).toMatch(/^\d+\.\d+/);
  });
});
