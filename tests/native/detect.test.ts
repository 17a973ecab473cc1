import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
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
  for (const kind of ["sbsa", "x86_64"]) {
    header(`conda/targets/${kind}-linux/include/nvtx3/nvToolsExt.h`);
    header(`conda/targets/${kind}-linux/include/cuda.h`, "#define CUDA_VERSION 12090\n");
  }
  header("cudnn/include/cudnn.h");
  header(
    "cudnn/include/cudnn_version.h",
    "#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 24\n#define CUDNN_PATCHLEVEL 0\n",
  );
});
afterAll(() => rmSync(directory, { recursive: true }));

async function detect(args: string[], env: Record<string, string>) {
  const { exitCode, stdout, stderr } = await execa("python3", [script, ...args], {
    env: {
      NVTX_ROOT: "",
      CUDNN_ROOT: "",
      NVCC: "",
      CUDA_HOME: "",
      CUDA_PATH: "",
      HYDRACONF_CUDA: "",
      ...env,
    },
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

  it("takes the headers that a toolkit has for this machine's kind alone, as Conda's do", async () => {
    const { nvtx } = await all({ CUDA_HOME: join(directory, "conda") });
    const kind = process.arch === "arm64" ? "sbsa" : "x86_64";
    expect(nvtx).toEqual({
      include: join(directory, `conda/targets/${kind}-linux/include`),
      source: "toolkit",
      cuda: "12.9",
    });
  });

  it("prefers NVTX_ROOT to a toolkit, and reads cuDNN's version", async () => {
    const { nvtx, cudnn } = await all({
      CUDA_HOME: join(directory, "toolkit"),
      NVTX_ROOT: join(directory, "nvtx"),
      CUDNN_ROOT: join(directory, "cudnn"),
    });
    expect(nvtx?.source).toBe("NVTX_ROOT");
    expect(cudnn).toEqual({
      include: join(directory, "cudnn/include"),
      version: "9.24.0",
      library: null,
      search: [],
      unusable: "libcudnn.so.9 is not beside the headers",
    });
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

  it("uses cuDNN 9 where the library is beside the headers, and no other version", async () => {
    header("whole/include/cudnn.h");
    header("whole/include/cudnn_version.h", "#define CUDNN_MAJOR 9\n");
    header("whole/lib/libcudnn.so.9");
    const whole = await all({ CUDNN_ROOT: join(directory, "whole") });
    expect(whole.cudnn).toMatchObject({ library: join(directory, "whole/lib"), unusable: null });
    header("old/include/cudnn.h");
    header("old/include/cudnn_version.h", "#define CUDNN_MAJOR 8\n");
    const old = await all({ CUDNN_ROOT: join(directory, "old") });
    expect(old.cudnn?.unusable).toBe("cuDNN 9 is needed");
  });

  it("knows where a wheel of cuDNN finds what it loads", async () => {
    const wheel = "site-packages/nvidia";
    header(`${wheel}/cudnn/include/cudnn.h`);
    header(`${wheel}/cudnn/include/cudnn_version.h`, "#define CUDNN_MAJOR 9\n");
    header(`${wheel}/cudnn/lib/libcudnn.so.9`);
    header(`${wheel}/cu13/lib/libcublas.so.13`);
    const { cudnn } = await all({ CUDNN_ROOT: join(directory, wheel, "cudnn") });
    expect(cudnn?.search).toEqual([
      join(directory, wheel, "cudnn/lib"),
      join(directory, wheel, "cu13/lib"),
    ]);
  });

  it("asks a wheel of cuDNN for its CUDA by its own name, whatever the folders around it are called", async () => {
    const { nvcc } = await all({});
    if (nvcc === null) {
      console.warn("SKIPPED wheels of cuDNN: no nvcc on this machine");
      return;
    }
    const ownCuda = nvcc.version.split(".")[0];
    const unusableIn = async (environment: string, cuda: string | undefined) => {
      const place = `${environment}/site-packages`;
      header(`${place}/nvidia/cudnn/include/cudnn.h`);
      header(`${place}/nvidia/cudnn/include/cudnn_version.h`, "#define CUDNN_MAJOR 9\n");
      header(`${place}/nvidia/cudnn/lib/libcudnn.so.9`);
      header(`${place}/nvidia_cudnn_cu${cuda}-9.24.0.dist-info/METADATA`);
      header(`${place}/nvidia_cudnn_cu${cuda}_extras-1.0.dist-info/METADATA`);
      const root = join(directory, place, "nvidia/cudnn");
      return (await all({ CUDNN_ROOT: root })).cudnn?.unusable;
    };
    expect(await unusableIn("torch_cu1-env", ownCuda)).toBe(null);
    expect(await unusableIn("[env] *?", "1")).toBe("it is made for CUDA 1");
  });

  it.each([
    [" ", { command: "g++" }],
    [" env g++ ", { command: "env g++" }],
  ])("takes CXX=%j as a shell does", async (CXX, expected) => {
    const { compiler } = await all({ CXX });
    expect(compiler).toMatchObject(expected);
  });

  it("says in one line that CXX is no command line", async () => {
    const { code, stderr } = await detect(["all"], { CXX: `g++ "-O2` });
    expect(stderr).toBe('detect.py: CXX=g++ "-O2: No closing quotation');
    expect(code).toBe(1);
  });

  it("reads what a tool says of a folder whose name is no text", async () => {
    // Node gives no such name to a program, a shell does.
    const nvcc = `#!/bin/sh
      case "$*" in
        *--dryrun*) printf '#$ _HERE_=${directory}/\\377/bin\n' ;;
        *) echo "Cuda compilation tools, release 12.8, V12.8.61" ;;
      esac`;
    header("strange/bin/nvcc", nvcc);
    chmodSync(join(directory, "strange/bin/nvcc"), 0o755);
    const found = await all({ CUDA_HOME: join(directory, "strange") });
    expect(found.nvcc).toMatchObject({ version: "12.8", library: null });
  });

  it("accepts a compiler with a launcher in front, as make does", async () => {
    const { compiler } = await all({ CXX: "env g++" });
    expect(compiler.command).toBe("env g++");
    expect(compiler.version).toMatch(/^\d+\.\d+/);
  });
});

describe("HYDRACONF_CUDA", () => {
  /** An nvcc that knows 80, 90 and 100, with its toolkit around it, and an nvidia-smi. */
  const machine = (capabilities: string): Record<string, string> => {
    header("cuda/include/cuda_runtime_api.h");
    header("cuda/lib64/libcudart_static.a");
    tool(
      "cuda/bin/nvcc",
      `case "$*" in
        *--list-gpu-arch*) printf 'compute_80\\ncompute_90\\ncompute_100\\n' ;;
        *--dryrun*) echo "#$ _HERE_=${directory}/cuda/bin" ;;
        *) echo "Cuda compilation tools, release 12.8, V12.8.61" ;;
      esac`,
    );
    tool("smi/nvidia-smi", capabilities === "" ? "exit 9" : `printf "${capabilities}"`);
    return {
      CUDA_HOME: join(directory, "cuda"),
      PATH: `${join(directory, "smi")}:${process.env["PATH"]}`,
    };
  };

  it.each([
    ["the GPUs of this machine", "", "9.0\\n8.0\\n9.0\\n", "sm_80+sm_90+compute_90"],
    ["intermediate code for a GPU newer than nvcc", "", "12.0\\n", "sm_100+compute_100"],
    [
      "the same where nvcc knows a later one",
      "",
      "8.6\\n10.0\\n",
      "sm_80+sm_100+compute_80+compute_100",
    ],
    ["all that nvcc knows", "1", "", "sm_80+sm_90+sm_100+compute_100"],
    ["what is listed", "90,80", "", "sm_80+sm_90+compute_90"],
  ])("builds for %s", async (_, asked, capabilities, targets) => {
    const { cuda, nvcc } = await all({ ...machine(capabilities), HYDRACONF_CUDA: asked });
    expect(nvcc?.version).toBe("12.8");
    expect(nvcc?.library).toBe(join(directory, "cuda/lib64"));
    expect(cuda).toMatchObject({ build: true, required: asked !== "", targets });
  });

  it("builds for every generation that a toolkit of today knows, and for later ones by the newest's intermediate code", async () => {
    const env = { ...machine(""), HYDRACONF_CUDA: " on " };
    const listed = [75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121];
    tool(
      "cuda/bin/nvcc",
      `case "$*" in
        *--list-gpu-arch*) printf 'compute_%s\\n' ${listed.join(" ")} ;;
        *--dryrun*) echo "#$ _HERE_=${directory}/cuda/bin" ;;
        *) echo "Cuda compilation tools, release 13.0, V13.0.88" ;;
      esac`,
    );
    const { cuda } = await all(env);
    expect(cuda).toMatchObject({
      targets: "sm_75+sm_80+sm_86+sm_89+sm_90+sm_100+sm_120+compute_120",
      gencode: [
        ...[75, 80, 86, 89, 90, 100, 120].map(
          (one) => `-gencode=arch=compute_${one},code=sm_${one}`,
        ),
        "-gencode=arch=compute_120,code=compute_120",
      ],
    });
  });

  it("builds for the GPUs of other machines that use the build, beside those of this one", async () => {
    const env = { ...machine("8.0\\n"), HYDRACONF_CUDA: "" };
    const { stdout } = await detect(["all", "90"], env);
    expect(JSON.parse(stdout).cuda).toMatchObject({
      gpus: [80, 90],
      targets: "sm_80+sm_90+compute_90",
    });
  });

  it.each([
    ["", "", [], "no GPU answers here; HYDRACONF_CUDA=1 builds it all the same"],
    ["", "7.5\\n", [75], "nvcc 12.8 does not compile for this machine's GPU"],
    ["0", "9.0\\n", null, "HYDRACONF_CUDA switches it off"],
  ])("%j with GPUs %j builds none and says why", async (asked, capabilities, gpus, reason) => {
    const { cuda } = await all({ ...machine(capabilities), HYDRACONF_CUDA: asked });
    expect(cuda).toEqual({ build: false, required: false, reason, gpus });
  });

  it.each([
    ["75", "nvcc 12.8 does not know 75"],
    ["yes", "not auto, on, off, or numbers such as 80,90"],
  ])("refuses %j", async (asked, message) => {
    const { code, stderr } = await detect(["all"], { ...machine(""), HYDRACONF_CUDA: asked });
    expect(stderr).toContain(`HYDRACONF_CUDA=${asked}: ${message}`);
    expect(code).toBe(1);
  });
});

function tool(path: string, script: string): void {
  header(path, `#!/bin/sh\n${script}\n`);
  chmodSync(join(directory, path), 0o755);
}
