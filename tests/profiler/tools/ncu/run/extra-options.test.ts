import { describe, expect, it } from "vitest";
import { checkOptions } from "../../../../../src/profiler/tools/ncu/run/cli-options.ts";
import type { NcuCliConfig } from "../../../../../src/profiler/tools/profiler-config.ts";
import { cliConfig } from "./cli-config.ts";
import { ncu, refusalOf } from "./known-ncu.ts";

describe("the check of extra options", () => {
  const inRange: Partial<NcuCliConfig> = { replay_mode: "range" };
  it.each<[Partial<NcuCliConfig>, RegExp]>([
    [{ ...inRange, extra_args: ["--kernel-id=::k:1"] }, /--kernel-id/],
    [{ ...inRange, extra_args: ["--profile-from-start", "off"] }, /start/],
    [{ ...inRange, extra_args: ["--app-replay-match=all"] }, /application/],
    [{ extra_args: ["--range-replay-options=x"] }, /range replay/],
    [
      { replay_mode: "app-range", extra_args: ["--range-replay-options", "x"] },
      /only for range replay/,
    ],
    [{ ...inRange, extra_args: ["--filter-mode", "per-launch-config"] }, /per-launch/],
    [{ ...inRange, extra_args: ["--filter-m=per-launch-config"] }, /per-launch/],
    [{ ...inRange, extra_args: ["--graph-profiling", "graph"] }, /whole graphs/],
    [{ replay_mode: "application", extra_args: ["--graph-profiling=graph"] }, /whole graphs/],
    [{ extra_args: ["-o", "mine"] }, /cannot be given/],
    [{ extra_args: ["-omine"] }, /-o cannot be given/],
    [{ extra_args: ["--expo=mine"] }, /--export cannot be given/],
    [{ extra_args: ["--log", "x"] }, /--log-file cannot be given/],
    [{ extra_args: ["--metr", "x"] }, /--metrics cannot be given/],
    [{ extra_args: ["--launch", "3"] }, /ambiguous.*--launch-count, --launch-skip/],
    [{ ...inRange, extra_args: ["-kname"] }, /--kernel-name: .*as a whole/],
    [{ ...inRange, extra_args: ["--app-replay-ma=all"] }, /application/],
    [{ extra_args: ["--launch-cuont=3"] }, /no option --launch-cuont/],
    [{ extra_args: ["--nvtx"] }, /--nvtx cannot be given/],
    [{ extra_args: ["--clock-control=none"] }, /--clock-control cannot be given/],
    [{ extra_args: ["--kernel-name-b=function"] }, /--kernel-name-base cannot be given/],
    [{ launch_count: 1, extra_args: ["-c", "2"] }, /--launch-count cannot be given/],
  ])("refuses with the reason: %o", (config, reason) => {
    const details = refusalOf(config);
    expect(details.code).toBe("profile.ncu_option");
    expect(details.key).toBe("pipeline.ncu.ncu_cli.extra_args");
    expect(details.message).toMatch(reason);
    expect(details.hint).toBeTruthy();
  });

  it("takes beginnings of options that mean one, and values of any name", () => {
    for (const extra_args of [
      ["--launch-s", "3"],
      ["--kernel-name-b=function"],
      ["--launch-skip", "constructor"],
      ["toString", "-", "-constructor"],
      ["--set", "full", "--section=Occupancy"],
    ])
      expect(() =>
        checkOptions({ ...cliConfig, kernel_name_base: null, extra_args }, ncu),
      ).not.toThrow();
  });

  it("takes values of an option that a mode refuses other values of", () => {
    for (const replay_mode of ["application", "range", "app-range"] as const)
      for (const extra_args of [
        ["--graph-profiling", "node"],
        ["--graph-profiling=node", "graph"],
        ["--filter-mode", "per-gpu", "per-launch-config"],
      ])
        expect(() => checkOptions({ ...cliConfig, replay_mode, extra_args }, ncu)).not.toThrow();
  });

  it("says which key an option belongs to that the config gives already", () => {
    expect(refusalOf({ extra_args: ["--cache-control", "none"] }).hint).toContain(
      "use pipeline.ncu.ncu_cli.cache_control",
    );
  });

  it("names the nearest option", () => {
    expect(refusalOf({ extra_args: ["--launch-cuont=3"] }).nearest).toBe("--launch-count");
  });
});
