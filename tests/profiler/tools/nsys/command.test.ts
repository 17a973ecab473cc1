import { describe, expect, it } from "vitest";
import { isCodedError } from "../../../../src/engine/values/errors.ts";
import {
  checkExtraOptions,
  exportCommand,
  profileCommand,
  statsCommand,
} from "../../../../src/profiler/tools/nsys/command.ts";
import type { NsysSettings } from "../../../../src/profiler/tools/profiler-config.ts";
import { settings } from "./settings.ts";

describe("command", () => {
  const ALL_OPTIONS = new Set(["cpuctxsw", "cuda-graph-trace"]);

  const commandOf = (changes: Partial<NsysSettings> = {}, options = ALL_OPTIONS) =>
    profileCommand({ path: "/opt/nsys", options }, settings(changes), "/runs/1/nsys/run", {
      argv: ["./prog", "--flag", "a b"],
    });

  /** Only the options that name a capture range. */
  const captureOf = (changes: Partial<NsysSettings>) => {
    const { argv, env, isGated, notes } = commandOf(changes);
    return { flags: argv.filter((word) => /capture/.test(word)), env, isGated, notes };
  };

  describe("the recording's command line", () => {
    it("has every setting as one word, and the program as it stands at the end", () => {
      expect(commandOf().argv).toEqual([
        "/opt/nsys",
        "profile",
        "--trace=cuda,nvtx,osrt",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--output=/runs/1/nsys/run",
        "--force-overwrite=true",
        "./prog",
        "--flag",
        "a b",
      ]);
    });

    it("leaves out what this nsys does not know, what tracing without CUDA does not need, and context switches to sampling", () => {
      expect(commandOf({}, new Set()).argv.join(" ")).not.toMatch(/cpuctxsw|cuda-graph-trace/);
      expect(commandOf({ trace: "nvtx" }).argv.join(" ")).not.toContain("cuda-graph-trace");
      expect(commandOf({ trace: "cuda-sw,nvtx" }).argv).toContain("--cuda-graph-trace=node");
      expect(commandOf({ sample: "process-tree" }).argv.join(" ")).not.toContain("cpuctxsw");
    });

    it("doubles the % of a path, which nsys would take for a macro", () => {
      const { argv } = profileCommand(
        { path: "nsys", options: ALL_OPTIONS },
        settings({}),
        "/a%p/run",
        {
          argv: ["prog"],
        },
      );
      expect(argv).toContain("--output=/a%%p/run");
    });

    it("takes further arguments as they stand, before the program", () => {
      const { argv } = commandOf({ extra_args: ["--gpu-metrics-device=0", "--duration=3"] });
      expect(argv.slice(-5)).toEqual([
        "--gpu-metrics-device=0",
        "--duration=3",
        "./prog",
        "--flag",
        "a b",
      ]);
    });
  });

  describe("a capture range", () => {
    it("of NVTX also finds labels that are no registered strings, and lets the program run on", () => {
      expect(captureOf({ capture_range: "nvtx", nvtx_capture: "prefill@LLM" })).toEqual({
        flags: ["--capture-range=nvtx", "--nvtx-capture=prefill@LLM", "--capture-range-end=stop"],
        env: { NSYS_NVTX_PROFILER_REGISTER_ONLY: "0" },
        isGated: true,
        notes: [],
      });
    });

    it("ends as the config says", () => {
      const { flags } = captureOf({ capture_range: "nvtx", capture_range_end: "repeat:3" });
      expect(flags).toContain("--capture-range-end=repeat:3");
    });

    it.each([[null], [""], ["  "]])(
      "of NVTX without a range (%j) is the whole run, with a warning",
      (nvtx_capture) => {
        expect(captureOf({ capture_range: "nvtx", nvtx_capture })).toEqual({
          flags: [],
          env: {},
          isGated: false,
          notes: [expect.stringContaining("recording the whole run")],
        });
      },
    );

    it("of the CUDA profiler API needs no range", () => {
      expect(captureOf({ capture_range: "cudaProfilerApi", nvtx_capture: "" })).toMatchObject({
        flags: ["--capture-range=cudaProfilerApi", "--capture-range-end=stop"],
        isGated: true,
        notes: [],
      });
    });

    it("does not apply without gating, nor when there is none", () => {
      const whole = { flags: [], env: {}, isGated: false, notes: [] };
      expect(captureOf({ gating_nvtx: false, capture_range: "nvtx" })).toEqual(whole);
      expect(captureOf({ gating_nvtx: false, capture_range: "cudaProfilerApi" })).toEqual(whole);
      expect(captureOf({ capture_range: "none" })).toEqual(whole);
    });
  });

  it("exports anew, and takes summaries of the export", () => {
    expect(exportCommand("nsys", "run.nsys-rep", "run.sqlite")).toEqual(
      "nsys export --type=sqlite --force-overwrite=true --output=run.sqlite run.nsys-rep".split(
        " ",
      ),
    );
    const stats = statsCommand("nsys", "run.sqlite", "dir/summary");
    expect(stats).toEqual(
      expect.arrayContaining([
        ...["--format=csv", "--output=dir/summary", "--force-overwrite=true"],
        ...["--report=nvtx_gpu_proj_sum", "--report=cuda_gpu_kern_sum"],
      ]),
    );
    expect(stats.at(-1)).toBe("run.sqlite");
  });
});

function refusalOf(...extra_args: string[]): string | null {
  try {
    checkExtraOptions({ extra_args });
    return null;
  } catch (error) {
    if (!isCodedError(error)) throw error;
    expect(error.details).toMatchObject({
      code: "profile.nsys_option",
      key: "pipeline.nsys.extra_args",
    });
    return `${error.details.message}; ${error.details.hint}`;
  }
}

describe("extra arguments of nsys", () => {
  it.each([
    [["-o", "/tmp/x"], "--output"],
    [["-o/tmp/x"], "--output"],
    [["--output=/tmp/x"], "--output"],
    [["--outp=/tmp/x"], "--output"],
    [["--wait", "primary", "-f", "true"], "--force-overwrite"],
    [["-tcuda"], "--trace"],
    [["--sample", "none"], "--sample"],
    [["--cuda-graph-trace=graph"], "--cuda-graph-trace"],
    [["-c", "nvtx"], "--capture-range"],
    [["--capture-range-end=stop"], "--capture-range-end"],
    [["-p", "step"], "--nvtx-capture"],
  ] as const)("that give what is set already are refused: %j", (args, name) => {
    expect(refusalOf(...args)).toContain(`pipeline.nsys.extra_args: ${name} cannot be given; `);
  });

  it("name the key that sets it", () => {
    expect(refusalOf("--trace=cuda")).toContain("use pipeline.nsys.trace");
    expect(refusalOf("-o", "x")).toContain("hydra.run.dir");
  });

  it("are else nsys's own matter", () => {
    expect(refusalOf("--wait", "primary", "--trace-fork-before-exec=true", "-d", "3")).toBeNull();
    expect(refusalOf("--cpuctxsw=process-tree", "--", "-")).toBeNull();
  });

  it("say of context switches what is recorded, which no key does", () => {
    const { argv } = profileCommand(
      { path: "nsys", options: new Set(["cpuctxsw"]) },
      settings({ extra_args: ["--cpuctxsw=process-tree"] }),
      "/run",
      { argv: ["prog"] },
    );
    expect(argv.filter((word) => word.startsWith("--cpuctxsw"))).toEqual([
      "--cpuctxsw=process-tree",
    ]);
  });
});
