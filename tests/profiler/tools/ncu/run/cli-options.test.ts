import { describe, expect, it } from "vitest";
import { ConfigError } from "../../../../../src/engine/values/errors.ts";
import type { Workload } from "../../../../../src/profiler/machine/process.ts";
import {
  type NcuCapabilities,
  readHelp,
} from "../../../../../src/profiler/tools/ncu/run/capabilities.ts";
import {
  checkOptions,
  configArguments,
} from "../../../../../src/profiler/tools/ncu/run/cli-options.ts";
import { passCommand } from "../../../../../src/profiler/tools/ncu/run/pass-command.ts";
import type {
  NcuCliConfig,
  ReplayMode,
} from "../../../../../src/profiler/tools/profiler-config.ts";
import { parseKernelPattern } from "../../../../../src/report/selection/kernel-pattern.ts";
import { cliConfig } from "./cli-config.ts";
import { ncu, refusalOf } from "./known-ncu.ts";
import { realNcuOrSkip } from "./real-ncu.ts";

const workload = { argv: ["prog", "a b"] } as unknown as Workload;
const command = (config: NcuCliConfig, mode: ReplayMode = config.replay_mode) =>
  passCommand(
    { name: "p", mode, include: ["A/", "A"], exclude: ["B/", "C"], labels: null },
    { report: "/tmp/50%/p", log: "/tmp/50%/log", options: "/tmp/50%/options.txt" },
    { config, ncu, workload },
  ).argv;

describe("the arguments of a config", () => {
  it("are its keys, one to one", () => {
    expect(
      configArguments({
        ...cliConfig,
        replay_mode: "application",
        set: ["basic", "roofline"],
        sections: ["SpeedOfLight", "Occupancy"],
        metrics: ["a", "b"],
        kernel_name: "regex:gemm",
        launch_skip: 2,
        launch_count: 3,
        extra_args: ["--kill", "yes"],
      }),
    ).toEqual(
      [
        "--target-processes all --replay-mode application --set basic --set roofline",
        "--section SpeedOfLight --section Occupancy --metrics a,b --kernel-name regex:gemm",
        "--kernel-name-base demangled --launch-skip 2 --launch-count 3",
        "--clock-control base --cache-control all --kill yes",
      ]
        .join(" ")
        .split(" "),
    );
  });

  it("have globs of kernels as the expressions that ncu takes in their place", () => {
    const args = configArguments({ ...cliConfig, kernel_name: "*gemm<?>*" });
    expect(args[args.indexOf("--kernel-name") + 1]).toBe("regex:^.*gemm<.>.*$");
  });

  it("are left to ncu where the config says null", () => {
    const args = configArguments({
      ...cliConfig,
      target_processes: null,
      set: null,
      sections: null,
      metrics: null,
      kernel_name_base: null,
      clock_control: null,
      cache_control: null,
    });
    expect(args).toEqual(["--replay-mode", "kernel"]);
  });
});

describe("the command line of a pass", () => {
  it("pins what differs between versions, asks for NVTX, and leaves the program as it is", () => {
    const argv = command(cliConfig);
    expect(argv.slice(0, 5)).toEqual([
      "/opt/ncu",
      "--config-file",
      "off",
      "--rename-kernels",
      "off",
    ]);
    expect(argv).toContain("--nvtx");
    expect(argv.join(" ")).toContain(
      "--nvtx-include A/ --nvtx-include A --nvtx-exclude B/ --nvtx-exclude C --export",
    );
    expect(argv.slice(-2)).toEqual(["prog", "a b"]);
    expect(argv).not.toContain("--csv");
    expect(argv).not.toContain("--page");
  });

  it("doubles % in the path of the report, where ncu replaces it, and not in that of the log", () => {
    const argv = command(cliConfig);
    expect(argv[argv.indexOf("--export") + 1]).toBe("/tmp/50%%/p");
    expect(argv[argv.indexOf("--log-file") + 1]).toBe("/tmp/50%/log");
  });

  it("leaves what it pins to the user's own word, since ncu takes options once", () => {
    const argv = command({
      ...cliConfig,
      extra_args: ["--config-file=on", "--rename-kernels", "on"],
    });
    expect(argv.filter((word) => /^--(?:config-file|rename-kernels)/.test(word))).toEqual([
      "--config-file=on",
      "--rename-kernels",
    ]);
  });

  it("has none of the options that this version does not know", () => {
    const old: NcuCapabilities = {
      ...ncu,
      options: new Set([...ncu.options].filter((option) => option !== "--rename-kernels")),
    };
    const { argv } = passCommand(
      { name: "p", mode: "kernel", include: [], exclude: [], labels: null },
      { report: "r", log: "l", options: "o" },
      { config: cliConfig, ncu: old, workload },
    );
    expect(argv).not.toContain("--rename-kernels");
  });
});

describe("checkOptions", () => {
  it("takes the presets' options in every mode", () => {
    for (const replay_mode of ["kernel", "application", "range", "app-range"] as const)
      expect(() => checkOptions({ ...cliConfig, replay_mode }, ncu)).not.toThrow();
  });

  const inRange: Partial<NcuCliConfig> = { replay_mode: "range" };
  it.each<[string, Partial<NcuCliConfig>, RegExp]>([
    ["kernel_name", { ...inRange, kernel_name: "k" }, /a range as a whole/],
    ["kernel_name", { replay_mode: "app-range", kernel_name: "k" }, /a range as a whole/],
    ["kernel_exclude", { ...inRange, kernel_exclude: ["k"] }, /a range as a whole/],
    ["nvtx.exclude", { ...inRange, nvtx: { include: null, exclude: "A" } }, /exclude ranges/],
    ["metrics", { ...inRange, metrics: "inst_executed" }, /per instruction/],
    ["clock_control", { clock_control: "boost" }, /no --clock-control boost/],
    ["graph_profiling", { ...inRange, graph_profiling: "graph" }, /needs kernel replay/],
    ["metrics", { graph_profiling: "graph", metrics: "inst_executed" }, /per instruction/],
    ["app_replay_mode", { app_replay_mode: "strict" }, /only for application replay/],
    [
      "app_replay_mode",
      { replay_mode: "application", app_replay_mode: "balanced" },
      /ncu 2026\.1\.0 has no --app-replay-mode balanced/,
    ],
  ])("refuses %s of %o with the reason", (key, config, reason) => {
    const details = refusalOf(config);
    expect(details.code).toBe("profile.ncu_option");
    expect(details.key).toBe(`pipeline.ncu.ncu_cli.${key}`);
    expect(details.message).toMatch(reason);
    expect(details.hint).toBeTruthy();
  });
});

describe("keys of newer options of ncu", () => {
  const graphs = { ...cliConfig, graph_profiling: "graph" } as const;

  it("are its options where it has them", () => {
    expect(() => checkOptions(graphs, ncu)).not.toThrow();
    expect(command(graphs).join(" ")).toContain(" --graph-profiling graph ");
    const application = {
      ...cliConfig,
      replay_mode: "application",
      app_replay_mode: "relaxed",
    } as const;
    expect(() => checkOptions(application, ncu)).not.toThrow();
    expect(command(application).join(" ")).toContain(" --app-replay-mode relaxed ");
  });

  it("are refused before the run where it has not, with the key that leaves it to ncu", () => {
    const old: NcuCapabilities = {
      ...ncu,
      version: "2022.3.0.0",
      options: new Set([...ncu.options].filter((option) => option !== "--graph-profiling")),
    };
    expect(() => checkOptions(cliConfig, old)).not.toThrow();
    expect(() => checkOptions(graphs, old)).toThrow(
      expect.objectContaining({
        code: "profile.ncu_option",
        details: expect.objectContaining({
          key: "pipeline.ncu.ncu_cli.graph_profiling",
          message: expect.stringContaining("ncu 2022.3.0.0 has no option --graph-profiling"),
          hint: "pipeline.ncu.ncu_cli.graph_profiling=null",
        }),
      }),
    );
  });

  it("may be absent: configs of earlier versions lack them", () => {
    const { graph_profiling: _, app_replay_mode: __, ...earlier } = cliConfig;
    expect(configArguments(earlier)).toEqual(configArguments(cliConfig));
  });
});

const real = realNcuOrSkip("ncu's options against the real ncu");

describe.skipIf(real === null)("against the real ncu", () => {
  const capabilities = (): NcuCapabilities => ({
    path: real?.path ?? "",
    version: "real",
    ...readHelp(real?.say("--help") ?? ""),
  });

  it("knows its options", () => {
    const { options, accepts } = capabilities();
    expect(options.size).toBeGreaterThan(60);
    for (const option of ["--nvtx", "--nvtx-include", "--kernel-name", "--export", "--launch-skip"])
      expect(options).toContain(option);
    expect(accepts("--replay-mode", "app-range")).toBe(true);
    expect(accepts("--replay-mode", "graph")).toBe(false);
  });

  it.each(["kernel", "application", "range", "app-range"] as const)(
    "gets options in %s replay that it takes: what stops it is the missing driver",
    (mode) => {
      const {
        argv: [, ...args],
      } = passCommand(
        { name: "p", mode, include: ["A/", "regex:^D$@^A.*$"], exclude: [], labels: null },
        { report: "p", log: "stdout", options: "o" },
        {
          config: { ...cliConfig, replay_mode: mode },
          ncu: capabilities(),
          workload: { argv: ["true"] } as unknown as Workload,
        },
      );
      const said = real?.say(...args) ?? "";
      expect(said).toMatch(/failed to connect to the CUDA driver|error code|were profiled/);
      expect(said).not.toMatch(/not supported|invalid|unrecogni/i);
    },
  );

  it.each<[Partial<NcuCliConfig>, readonly string[]]>([
    [{ kernel_name: "k" }, ["--kernel-name", "k"]],
    [{ metrics: "inst_executed" }, ["--metrics", "inst_executed"]],
    [{ extra_args: ["--kernel-id", "::k:1"] }, ["--kernel-id", "::k:1"]],
    [{ extra_args: ["--profile-from-start", "off"] }, ["--profile-from-start", "off"]],
    [{ extra_args: ["--app-replay-match", "all"] }, ["--app-replay-match", "all"]],
    [{ extra_args: ["--app-replay-buffer", "memory"] }, ["--app-replay-buffer", "memory"]],
    [{ extra_args: ["--app-replay-mode=strict"] }, ["--app-replay-mode=strict"]],
    [
      { extra_args: ["--filter-mode", "per-launch-config"] },
      ["--filter-mode", "per-launch-config"],
    ],
    [{ extra_args: ["--graph-profiling", "graph"] }, ["--graph-profiling", "graph"]],
    [{ graph_profiling: "graph" }, ["--graph-profiling", "graph"]],
    [{ app_replay_mode: "relaxed" }, ["--app-replay-mode", "relaxed"]],
    [{ extra_args: ["--import-source", "on"] }, ["--import-source", "on"]],
    [{ extra_args: ["--import-source=1"] }, ["--import-source=1"]],
    [{ extra_args: ["--rule", "SOLBottleneck"] }, ["--rule", "SOLBottleneck"]],
    [{ extra_args: ["--disable-profiler-start-stop"] }, ["--disable-profiler-start-stop"]],
    [{ nvtx: { include: null, exclude: "A" } }, ["--nvtx", "--nvtx-exclude", "A"]],
  ])("refuses in range replay what it refuses: %o", (config, args) => {
    for (const mode of ["range", "app-range"] as const) {
      expect(real?.say("--replay-mode", mode, ...args, "true")).toMatch(
        /not supported|only supported with|cannot be used when/,
      );
      expect(() =>
        checkOptions({ ...cliConfig, ...config, replay_mode: mode }, capabilities()),
      ).toThrow(ConfigError);
    }
  });

  it.each<Partial<NcuCliConfig>>([
    { graph_profiling: "graph" },
    { graph_profiling: "node", replay_mode: "range" },
    { app_replay_mode: "relaxed", replay_mode: "application" },
  ])("takes %o", (config) => {
    const wanted = { ...cliConfig, ...config };
    expect(() => checkOptions(wanted, capabilities())).not.toThrow();
    expect(real?.say(...configArguments(wanted), "true")).toMatch(
      /failed to connect to the CUDA driver/,
    );
  });

  it.each<Partial<NcuCliConfig>>([
    { graph_profiling: "graph", metrics: "inst_executed" },
    { graph_profiling: "graph", replay_mode: "application" },
    { app_replay_mode: "relaxed" },
    { app_replay_mode: "balanced", replay_mode: "application" },
  ])("refuses what it refuses: %o", (config) => {
    const wanted = { ...cliConfig, ...config };
    expect(() => checkOptions(wanted, capabilities())).toThrow(ConfigError);
    expect(real?.say(...configArguments(wanted), "true")).toMatch(
      /not supported|only supported with|is invalid/,
    );
  });

  it.each(["mathKernel?(float *)", "*Kernel2*", "mathKernel2", "regex:Kernel[23]", "*.*"])(
    "names by kernel_name=%s the kernels that reports do",
    (kernel_name) => {
      const names = ["warmingUp", "mathKernel1", "mathKernel2", "mathKernel3"];
      const { matches } = parseKernelPattern(kernel_name, "kernel_name");
      for (const [base, parameters] of [
        ["demangled", "(float *)"],
        ["function", ""],
      ] as const) {
        const [option = "", value = ""] = configArguments({
          ...{ ...cliConfig, target_processes: null, set: null, sections: null, metrics: null },
          kernel_name,
        }).slice(2);
        expect(option).toBe("--kernel-name");
        const table = ["--import", real?.template ?? "", "--csv", "--page", "raw"];
        const said = real?.say(...table, option, value, "--kernel-name-base", base) ?? "";
        const found = names.filter((name) => said.includes(`"${name}(float *)"`));
        expect(found, base).toEqual(names.filter((name) => matches(`${name}${parameters}`)));
      }
    },
  );

  it.each<readonly string[]>([
    ["--graph-profiling", "node"],
    ["--filter-mode", "per-gpu"],
    ["--range-filter", ":2:"],
    ["--import-source", "no"],
    ["--apply-rules", "yes"],
  ])("takes in every mode what it takes in every mode: %s %s", (...extra_args) => {
    for (const replay_mode of ["application", "range", "app-range"] as const) {
      const said = real?.say("--replay-mode", replay_mode, ...extra_args, "true") ?? "";
      expect(said).toMatch(/failed to connect to the CUDA driver/);
      expect(() =>
        checkOptions({ ...cliConfig, replay_mode, extra_args }, capabilities()),
      ).not.toThrow();
    }
  });
});
