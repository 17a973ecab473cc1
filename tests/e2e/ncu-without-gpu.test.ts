import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { designLines, ncuMachine, regions } from "./ncu-machine.ts";

const { cwd, inHere, nsight, real } = ncuMachine("ncu without a GPU");

describe("deep-profile pipeline.ncu.enable=true where it cannot work", () => {
  const env = { PATH: "/usr/bin:/bin", HYDRACONF_NSIGHT: "" };
  const bare = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    callCommand("deep-profile", ["pipeline.ncu.enable=true", "hydra.run.dir=bare", ...args], {
      cwd,
      env: { ...env, ...more },
    });

  it.each(designLines)(
    "refuses the design's command lines, with one error: %s ...",
    async (...line) => {
      const args = [...line, "hydra.run.dir=bare"];
      const result = await callCommand("deep-profile", args, {
        cwd,
        env: { ...env, HYDRACONF_NSIGHT: nsight, CUDA_VISIBLE_DEVICES: "" },
      });
      expect(result.code).toBe(1);
      expect(result.stdout).toBe("");
      expect(result.stderr.match(/^ *Hint: /gm)).toHaveLength(1);
      expect(result.stderr).toMatch(
        real === null
          ? /\(ncu\) is not installed/
          : /needs an NVIDIA GPU, and this machine has none that answers: .*(?:driver|GPU).*\n *Hint: .*device=cpu/,
      );
      expect(existsSync(inHere("bare"))).toBe(false);
    },
  );

  it.skipIf(real === null)("tells what stage 2 can record all the same", async () => {
    const stage2 = ["runners=stage1.no-static", "runner=stage2", "pipeline.nsys.enable=true"];
    const without = async (...args: readonly string[]) =>
      (await bare(args, { HYDRACONF_NSIGHT: nsight, CUDA_VISIBLE_DEVICES: "" })).stderr;
    expect(await without(...stage2)).toContain("records with the recorder and nsys, --dry-run");
    expect(await without()).toContain("records with the recorder alone, --dry-run");
  });

  it("composes the design's third command line", async () => {
    const result = await callCommand("deep-profile", ["runners=stage1.no-static", "--cfg", "job"], {
      cwd,
    });
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toMatch(/^runners:\n(?: .*\n)*? +enabled: false$/m);
  });

  const installed = existsSync("/usr/bin/ncu");
  if (installed) console.warn("SKIPPED what to install: /usr/bin/ncu is on every PATH here");
  it.skipIf(installed)("says what to install", async () => {
    const result = await bare([]);
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("Nsight Compute (ncu) is not installed");
    expect(result.stderr).toContain("nsight-compute");
    expect(existsSync(inHere("bare"))).toBe(false);
  });

  it.skipIf(installed || existsSync("/usr/bin/nsys")).each([
    ["pipeline.nsys.enable=true", ["nsys (Nsight Systems) was not found", "Nsight Compute (ncu)"]],
    [
      "pipeline.ncu.ncu_cli.extra_args=[--rule,x]",
      ["--rule: ncu applies its rules to kernels", "Nsight Compute (ncu)"],
    ],
    ["device=cpu", ["Nsight Compute (ncu)", "device=cpu runs none"]],
  ])(
    "says of %s all that is in the way at once, each with its remedy",
    async (override, problems) => {
      const result = await bare([override, "pipeline.ncu.ncu_cli.replay_mode=range"]);
      expect(result.code).toBe(1);
      const lines = result.stderr.trimEnd().split("\n");
      expect(lines).toHaveLength(2 * problems.length);
      for (const [at, problem] of problems.entries()) {
        expect(lines[2 * at]).toContain(problem);
        expect(lines[2 * at + 1]).toMatch(/^ {2}Hint: /);
      }
      expect(result.stderr.match(/^ *Hint: .*nsight-compute.*$/gm)).toHaveLength(1);
    },
  );

  it.skipIf(installed || existsSync("/usr/bin/nsys"))(
    "plans with --dry-run what a machine with the tools would run",
    async () => {
      for (const line of designLines) {
        const result = await bare([...line, "--dry-run", "workload=nvtx_regions", "--json"]);
        expect(result, result.stderr).toMatchObject({ code: 0 });
        const { runs, notes } = JSON.parse(result.stdout).jobs[0].plan as {
          runs: readonly { collector: string; command: readonly string[] }[];
          notes: readonly string[];
        };
        const ncu = runs.filter(({ collector }) => collector === "ncu");
        expect(ncu.length).toBeGreaterThan(0);
        for (const { command } of ncu) expect(command[0]).toBe("ncu");
        expect(notes.join("\n")).toContain(
          "Nsight Compute (ncu) is not installed on this machine: this is the plan for one that has it on PATH",
        );
      }
      const both = await bare(["--dry-run", "pipeline.nsys.enable=true"]);
      expect(both, both.stderr).toMatchObject({ code: 0 });
      expect(both.stdout).toMatch(/^nsys: .*nsys profile .*--cuda-graph-trace=node/m);
      expect(both.stdout).toContain("Nsight Systems (nsys) is not installed on this machine");
      expect(existsSync(inHere("bare"))).toBe(false);
      const refused = await bare([
        "--dry-run",
        "pipeline.ncu.ncu_cli.replay_mode=range",
        "pipeline.ncu.ncu_cli.kernel_name=x",
      ]);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain("not possible in range replay");
    },
  );

  describe.skipIf(real === null)("shows with --dry-run what a machine with a GPU would run", () => {
    const dryRun = async (...args: readonly string[]) => {
      const result = await bare(["--dry-run", "--json", ...args], {
        HYDRACONF_NSIGHT: nsight,
        HOME: real?.home ?? "",
        CUDA_VISIBLE_DEVICES: "",
      });
      expect(result.code, result.stderr).toBe(0);
      expect(existsSync(inHere("bare"))).toBe(false);
      const { runs, notes } = JSON.parse(result.stdout).jobs[0].plan as {
        runs: readonly { collector: string; pass?: string; command: readonly string[] }[];
        notes: readonly string[];
      };
      return { ncu: runs.filter(({ collector }) => collector === "ncu"), notes: notes.join("\n") };
    };

    it("in range replay, a run per level of nesting, whose regions a run on the CPU tells", async () => {
      const { ncu, notes } = await dryRun(
        ...(designLines[0] ?? []),
        "workload=nvtx_regions",
        "infer.dtype=float16",
      );
      const includes = ncu.map(({ command }) =>
        command.filter((_, at) => command[at - 1] === "--nvtx-include"),
      );
      expect(includes[0]).toEqual(["A/", "B/"]);
      expect(includes.slice(1).flat()).toContain("A::A1/");
      for (const { command } of ncu) {
        expect(command.join(" ")).toContain("--replay-mode range ");
        expect(command.join(" ")).toMatch(/shallow_resnet .*--device cuda:0 .*--dtype float16/);
      }
      expect(notes).toContain(
        "no GPU answers on this machine: this is the plan for one with a GPU (cuda:0)",
      );
    });

    it("in kernel replay, for which no regions are needed, of any program", async () => {
      const { ncu, notes } = await dryRun("pipeline.ncu.top_n_kernels=3", "--", "false");
      expect(ncu.map(({ command }) => command.at(-1))).toEqual(["false"]);
      expect(notes).toContain("a recording on that machine decides which kernels");
    });

    it("and says what cannot be told of a program that fails without a GPU", async () => {
      const { ncu, notes } = await dryRun("pipeline.ncu.ncu_cli.nvtx.include=A", "--", "false");
      expect(ncu).toEqual([]);
      expect(notes).toMatch(/depend on the program's regions, .*false ended with exit code 1/);
    });

    it("but not for device=cpu, which no machine can run under ncu", async () => {
      const result = await bare(["--dry-run", "device=cpu"], { HYDRACONF_NSIGHT: nsight });
      expect(result.code).toBe(1);
      expect(result.stderr).toContain("device=cpu runs none");
    });
  });

  it.skipIf(real === null).each(["kernel", "application", "range", "app-range"])(
    "explains what the real ncu says without a driver in %s replay, and keeps what was recorded",
    async (mode) => {
      // nvidia-smi lists a GPU, so that ncu is started: the options of the default preset pass its checks.
      const bin = inHere(`smi-${mode}`);
      mkdirSync(bin);
      writeFileSync(
        join(bin, "nvidia-smi"),
        "#!/bin/sh\necho '0, NVIDIA H200, 550.54.15, GPU-1'\n",
      );
      chmodSync(join(bin, "nvidia-smi"), 0o755);
      const run = `no-driver-${mode}`;
      const result = await bare(
        [
          `pipeline.ncu.ncu_cli.replay_mode=${mode}`,
          "pipeline.ncu.ncu_cli.nvtx.include=A",
          `hydra.run.dir=${run}`,
          ...regions,
        ],
        {
          PATH: `${bin}:${process.env["PATH"] ?? ""}`,
          HYDRACONF_NSIGHT: nsight,
          HOME: real?.home ?? "",
        },
      );
      expect(result.code).toBe(1);
      expect(result.stderr).toContain("ncu found no CUDA driver");
      expect(result.stderr).toMatch(/Hint: install NVIDIA's driver .*--gpus all/);
      expect(readFileSync(inHere(`${run}/report.md`), "utf8")).toContain(
        "ncu found no CUDA driver",
      );
      for (const kept of ["recorder/regions/A/report.json", "ncu/cmd.txt", "ncu/logs", "run.json"])
        expect(existsSync(inHere(`${run}/${kept}`)), kept).toBe(true);
    },
  );

  it.skipIf(real === null)("refuses without a GPU, before anything is made", async () => {
    const result = await bare([], { HYDRACONF_NSIGHT: nsight });
    expect(result.code).toBe(1);
    expect(result.stderr).toContain("needs an NVIDIA GPU");
    expect(result.stderr).toContain("pipeline.ncu.enable=false");
    expect(existsSync(inHere("bare"))).toBe(false);
  });
});
