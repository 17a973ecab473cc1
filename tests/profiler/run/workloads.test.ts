import { mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isCodedError } from "../../../src/engine/values/errors.ts";
import { findExecutable } from "../../../src/foundation/system/find-program.ts";
import { requireProgram } from "../../../src/profiler/cli/check-request.ts";
import { createWorkload, workloadOverrides } from "../../../src/profiler/run/workloads.ts";
import type {
  InferConfig,
  ProfileConfig,
  WorkloadConfig,
} from "../../../src/profiler/tools/profiler-config.ts";

const context = { cwd: "/home/me", device: "cpu", shallowResnet: "/pkg/shallow_resnet" };

function config(workload: WorkloadConfig, infer: Partial<InferConfig> = {}): ProfileConfig {
  return {
    device: "auto",
    model: {
      name: "dummy_shallow_resnet",
      in_channels: 3,
      base_channels: 16,
      num_blocks: 3,
      num_classes: 10,
      weights: "w.safetensors",
    },
    infer: {
      batch_size: 4,
      image_size: 64,
      batch_norm: "running",
      warmup: 1,
      iterations: 10,
      seed: 0,
      input: null,
      output: null,
      dtype: "float32",
      tf32: false,
      gpu_library: "auto",
      cuda_graph: false,
      ...infer,
    },
    workload,
    repeats: 1,
    warmup_runs: 1,
    pipeline: {
      recorder: {
        enable: true,
        gpu: "auto",
        cpu: "time",
        instructions: false,
        sampling_frequency: 100,
        operation_domains: [],
        include: ["*"],
        exclude: [],
      },
      nsys: {
        enable: false,
        gating_nvtx: true,
        trace: "cuda,nvtx",
        sample: "none",
        cuda_graph_trace: "node",
        capture_range: "none",
        capture_range_end: null,
        nvtx_capture: null,
        extra_args: [],
      },
      ncu: { enable: false } as ProfileConfig["pipeline"]["ncu"],
      static_analysis: { enable: true },
      report: { aggregate: true, html: false, trace: false },
    },
    runner: { mode: "deep", top_n_kernels: 30, artifacts: { stage2_dir: "/out" } },
  };
}

describe("createWorkload", () => {
  it("turns the model's keys into flags and leaves out what is null", () => {
    const workload = createWorkload(
      config({ kind: "shallow_resnet", program: "regions" }),
      context,
    );
    const argv = workload.argv.join(" ");
    expect(argv).toMatch(/^\/pkg\/shallow_resnet --model dummy_shallow_resnet --in-channels 3 /);
    expect(argv).toContain("--weights /home/me/w.safetensors");
    expect(argv).toContain("--program regions");
    expect(argv).not.toContain("--input");
    expect(workload).toMatchObject({
      stdout: "document",
      device: "cpu",
      inputFiles: ["/home/me/w.safetensors"],
    });
  });

  it("tells the executable about GPUs only where it runs on one", () => {
    const shallowResnet = { kind: "shallow_resnet", program: "forward" } as const;
    const onCpu = createWorkload(config(shallowResnet), context);
    expect(onCpu.argv.join(" ")).not.toMatch(/--(dtype|tf32|gpu-library|cuda-graph)/);
    // Measuring the machine is no part of what is profiled.
    expect(onCpu.argv).not.toContain("--peaks");
    expect(onCpu.peaksArgv?.join(" ")).toMatch(/--warmup 0 --iterations 1 .*--peaks$/);
    expect(onCpu.env).toEqual({});
    const onGpu = createWorkload(config(shallowResnet, { dtype: "float16", cuda_graph: true }), {
      ...context,
      device: "cuda:1",
    });
    const argv = onGpu.argv.join(" ");
    expect(argv).toContain("--device cuda:1");
    expect(argv).toContain("--dtype float16 --gpu-library auto --cuda-graph");
    expect(argv).not.toContain("--tf32");
    // nvidia-smi's numbers, not CUDA's.
    expect(onGpu.env).toEqual({ CUDA_DEVICE_ORDER: "PCI_BUS_ID" });
  });

  it("takes a command as it stands", () => {
    const command = ["./prog", "a=b", "(x)", ""] as const;
    const workload = createWorkload(config({ kind: "command", command }), context);
    expect(workload).toMatchObject({ label: "prog", argv: command, stdout: "forward" });
  });

  it("starts a Hydra program with its overrides and its own run directory", () => {
    const module = { module: "my.train", overrides: ["lr=0.1"], python: "python3" };
    const argv = (run_dir: string) =>
      createWorkload(config({ kind: "python_module", ...module, run_dir }), context).argv;
    expect(argv("/out/w")).toEqual([
      "python3",
      "-m",
      "my.train",
      "lr=0.1",
      "hydra.run.dir='/out/w'",
    ]);
    expect(argv("/it's, here").at(-1)).toBe("hydra.run.dir='/it\\'s, here'");
  });
});

describe("workloadOverrides", () => {
  const ours: WorkloadConfig = { kind: "shallow_resnet", program: "regions" };

  it("keeps what chooses the workload, as typed, and leaves out what measures it", () => {
    const workload = ["workload=nvtx_regions", "infer.input='my file'", "labels=pytorch", "+x=1"];
    const measuring = [
      "pipeline.ncu.enable=true",
      "profiling/ncu@pipeline.ncu=ncu.hopper",
      "repeats=3",
      "~warmup_runs",
      "runners=stage1.no-static",
    ];
    expect(workloadOverrides(ours, [...measuring, ...workload])).toEqual(workload);
    expect(workloadOverrides(ours, [])).toEqual([]);
  });

  it("leaves a command to its own words", () => {
    expect(
      workloadOverrides({ kind: "command", command: ["./a"] }, ["workload=command"]),
    ).toBeNull();
  });
});

describe("requireProgram", () => {
  const command = (program: string, ...argv: string[]): WorkloadConfig => ({
    kind: "command",
    command: [program, ...argv],
  });

  it.each([
    [command(""), /nothing to profile/],
    [command("no-such-program"), /was not found on PATH/],
    [command("./no-such-program"), /^'\.\/no-such-program' was not found \(relative to \/\)$/],
    [command("./tmp"), /^'\.\/tmp' is a directory, not a program$/],
  ])("refuses %j", (workload, message) => {
    expect(() => requireProgram(workload, "/")).toThrow(message);
  });

  it("says what to do about a file that is not executable, or not on PATH", () => {
    const cwd = mkdtempSync(join(tmpdir(), "hydraconf-program-"));
    writeFileSync(join(cwd, "bench.sh"), "echo hi\n", { mode: 0o644 });
    const refusalOf = (program: string) => {
      try {
        requireProgram(command(program), cwd);
      } catch (error) {
        return isCodedError(error) ? [error.message, error.details.hint] : error;
      }
    };
    expect(refusalOf("./bench.sh")).toEqual([
      "'./bench.sh' is not executable",
      "chmod +x ./bench.sh, or name its interpreter: -- bash ./bench.sh",
    ]);
    expect(refusalOf("bench.sh")).toEqual([
      "'bench.sh' was not found on PATH",
      "name its interpreter: -- bash bench.sh",
    ]);
    writeFileSync(join(cwd, "bench"), "#!/bin/sh\n", { mode: 0o755 });
    expect(refusalOf("bench")).toEqual([
      "'bench' was not found on PATH",
      "to run a program in this directory, write './bench'",
    ]);
    expect(refusalOf("./bench --fast 3")).toEqual([
      `'./bench --fast 3' was not found (relative to ${cwd})`,
      "the program and its arguments are words of their own, without quotes around them all: -- ./bench --fast 3",
    ]);
    const refused = [cwd, "."].map((folder) => {
      try {
        requireProgram(command(`${folder}/bnech`), cwd);
      } catch (error) {
        return isCodedError(error) ? error.details.nearest : error;
      }
      return undefined;
    });
    expect(refused).toEqual([`${cwd}/bench`, "./bench"]);
    for (const [script, interpreter] of [
      // As a shell would find it: some systems have no `python`.
      ["train.py", findExecutable("python", cwd) === null ? "python3" : "python"],
      ["train.mjs", "node"],
    ] as const) {
      writeFileSync(join(cwd, script), "", { mode: 0o644 });
      expect(refusalOf(script)).toEqual([
        `'${script}' was not found on PATH`,
        `name its interpreter: -- ${interpreter} ${script}`,
      ]);
    }
    for (const source of ["bench.cpp", "kernels.cu"])
      writeFileSync(join(cwd, source), "", { mode: 0o644 });
    const compiled = "it is source code: name the program that the compiler makes of it";
    expect(refusalOf("./bench.cpp")).toEqual([
      "'./bench.cpp' is not executable",
      `${compiled}: -- ./bench`,
    ]);
    expect(refusalOf("bench.cpp")).toEqual([
      "'bench.cpp' was not found on PATH",
      `${compiled}: -- ./bench`,
    ]);
    expect(refusalOf("./kernels.cu")).toEqual(["'./kernels.cu' is not executable", compiled]);
    expect(refusalOf("bench.py")).toEqual(["'bench.py' was not found on PATH", undefined]);
    symlinkSync("circle", join(cwd, "circle"));
    expect(refusalOf("./circle")).toEqual([
      "'./circle' cannot be run: its symbolic links form a loop",
      undefined,
    ]);
    const long = "a".repeat(300);
    expect(refusalOf(`./${long}`)).toEqual([
      `'./${long}' cannot be run: the name is too long`,
      undefined,
    ]);
    expect(refusalOf(long)).toEqual([`'${long}' was not found on PATH`, undefined]);
  });

  it("accepts a path, a name on PATH, and the built-in program", () => {
    for (const workload of [
      command(process.execPath),
      command("sh", "-c", "true"),
      { kind: "shallow_resnet", program: "forward" } as const,
    ])
      expect(() => requireProgram(workload, "/")).not.toThrow();
  });
});
