import { describe, expect, test } from "vitest";
import { askForRecord } from "../../../scripts/record-metrics.ts";
import { openMetricLibrary } from "../../../src/profiler/machine/chip-metrics.ts";
import { probeCupti } from "../../../src/profiler/machine/doctor/cupti.ts";
import { thisMachine } from "../../../src/profiler/machine/doctor/machine.ts";
import { otherName } from "../../../src/profiler/machine/metric-names.ts";
import { openMetricSource, recordedSource } from "../../../src/profiler/machine/metric-source.ts";
import { RECORDED_METRICS } from "../../../src/profiler/machine/recorded-metrics.ts";
import { availableClients, buildFixture } from "../../native/fixtures.ts";
import { nativeProgram } from "../../native/programs.ts";

const canBuild = availableClients("the library of metrics").length > 0;

/** Chips with a processor beside the GPU, which share its memory: they have no counters of DRAM. */
const INTEGRATED = ["GA10B", "GB10B", "GB20B"];

describe("every preset, on every chip", () => {
  const { chips, metrics, presets } = RECORDED_METRICS;

  test.each(Object.entries(presets))(
    "%s: each of its metrics is there by one name",
    (_, preset) => {
      for (const name of preset.metrics)
        for (const [column, chip] of chips.entries()) {
          const names = [name, otherName(name) ?? name];
          const has = names.some((one) => (metrics[one]?.passes[column] ?? null) !== null);
          const isAbsent = name.startsWith("dram__") && INTEGRATED.includes(chip);
          expect(has, `${name} on ${chip}`).toBe(!isAbsent);
        }
    },
  );

  test("ncu.one_pass takes one pass", () => {
    expect(new Set(presets["ncu.one_pass"]?.passes)).toEqual(new Set([1]));
  });

  test("those of ncu.default are the figures of NVIDIA's library of CUDA 13.0", () => {
    const passes = ["GA100", "GA102", "AD102", "GH100", "GB100", "GB202"].map(
      (chip) => presets["ncu.default"]?.passes[chips.indexOf(chip)],
    );
    expect(passes).toEqual([6, 7, 7, 9, 9, 9]);
  });

  test("the record is what the library says", async () => {
    const machine = thisMachine(process.env);
    const cupti = await probeCupti(machine);
    const isThere = canBuild && cupti.state === "ok" && cupti.detail.endsWith(".so.13");
    if (!isThere) {
      console.warn("SKIPPED the record of metrics against NVIDIA's library: no libcupti.so.13");
      return;
    }
    const program = await nativeProgram("chip_metrics");
    const record = await askForRecord(openMetricLibrary({ program, library: cupti.detail }));
    // node --import ./scripts/typescript-loader.mjs scripts/record-metrics.ts renews it.
    expect(RECORDED_METRICS).toEqual(record);
  });
});

describe("the record alone", () => {
  const source = recordedSource({
    chips: ["XX100", "XX102"],
    metrics: {
      "a__x.sum": { unit: "byte", passes: [1, 2] },
      "a__y.sum": { unit: "", passes: [3, null] },
    },
    presets: { all: { metrics: ["a__x.sum", "a__y.sum"], passes: [4, 2] } },
  });

  test("has the passes of presets, and the least of other sets", async () => {
    expect(await source.describe(["XX100", "XX102"], ["a__y.sum", "a__x.sum"])).toMatchObject([
      { chip: "XX100", passes: 4, metrics: [{ name: "a__y.sum" }, { name: "a__x.sum" }] },
      { chip: "XX102", passes: 2, metrics: [{ name: "a__x.sum", unit: "byte", passes: 2 }] },
    ]);
    const [answer] = await source.describe(["XX100"], ["a__x.sum", "a__y.sum", "other__z.sum"]);
    expect(answer).toMatchObject({ passes: 3 });
    expect(await source.describe(["XX102"], ["other__z.sum"])).toEqual([
      { chip: "XX102", metrics: [], passes: null },
    ]);
  });

  test("another chip", async () => {
    await expect(source.describe(["XX103"], ["a__x.sum"])).rejects.toMatchObject({
      code: "profile.chip",
      details: { nearest: "XX100" },
    });
  });
});

describe.runIf(canBuild)("a library that cannot be used is one error", () => {
  const sourceOf = async (library: string) => {
    const machine = thisMachine({ ...process.env, HYDRACONF_CUPTI_PATH: library });
    return openMetricSource(machine, await nativeProgram("chip_metrics"));
  };

  test.each([
    ["chips", "profile.metric_library", /tells of 18446744073709551615 chips/],
    ["dies", "profile.metric_library", /ended by SIGABRT/],
  ])("%s", async (how, code, message) => {
    const built = await buildFixture("fake_host_library.cc", "own client", ["-shared", "-fPIC"]);
    const library = openMetricLibrary({
      program: await nativeProgram("chip_metrics"),
      library: built,
    });
    const before = process.env["FAKE_HOST"];
    process.env["FAKE_HOST"] = how;
    try {
      await expect(library.chips()).rejects.toMatchObject({
        code,
        message: expect.stringMatching(message),
      });
    } finally {
      if (before === undefined) delete process.env["FAKE_HOST"];
      else process.env["FAKE_HOST"] = before;
    }
  });

  test("one that is too old, and an unknown chip", async () => {
    const program = await nativeProgram("chip_metrics");
    const old = await buildFixture("fake_cupti", "own client", ["-shared", "-fPIC"]);
    await expect(openMetricLibrary({ program, library: old }).chips()).rejects.toMatchObject({
      code: "profile.metric_library_version",
      details: { hint: expect.stringContaining("12.6") },
    });
    const fake = await buildFixture("fake_host_library.cc", "own client", ["-shared", "-fPIC"]);
    const library = openMetricLibrary({ program, library: fake });
    await expect(library.describe(["XX100", "XX10"], ["fake__a.sum"])).rejects.toMatchObject({
      code: "profile.chip",
      message: "NVIDIA's library does not know chip 'XX10'",
      details: { nearest: "XX100", available: ["XX100"] },
    });
  });

  test("none: the record answers", async () => {
    const source = await sourceOf("/nowhere/libcupti.so.13");
    expect(source.library).toBeNull();
    expect(await source.chips()).toEqual(RECORDED_METRICS.chips);
  });
});
