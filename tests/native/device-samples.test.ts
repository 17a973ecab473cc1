import { existsSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openMetricLibrary } from "../../src/profiler/machine/chip-metrics.ts";
import { clockOffset, timesIn } from "../../src/profiler/tools/counters/samples.ts";
import {
  type Counted,
  type Counting,
  countingGpu,
  countRanges,
  forget,
  METRICS,
  nativeParts,
} from "./count-ranges.ts";
import { fakeGpu } from "./fake-gpu.ts";
import { availableClients, buildFixture, cuptiInclude } from "./fixtures.ts";

// The recorder samples counters of whole devices by a pretended CUPTI that holds it to the header's rules. Its devices end a sample
// with each work, so that what samples hold does not depend on the machine's speed.

const canBuild = availableClients("samples of devices").length > 0;

interface Sampled extends Counted {
  /** By device: kernels and nanoseconds of all samples, and how many these are. */
  readonly devices: ReadonlyMap<number, readonly [kernels: number, ns: number, samples: number]>;
}

const INTERVAL = { intervalNs: 200_000 };

/** Runs a script that has to go well: CUPTI's rules are kept, and the program is not disturbed. */
async function sampled(script: string, counting: Counting = {}): Promise<Sampled> {
  const found = await countRanges(script, { ...INTERVAL, ...counting });
  expect(found.violations).toBe("");
  expect(found.outcome).toEqual({ code: 0, stdout: "done" });
  const program = (await nativeParts()).chipMetrics;
  const library = openMetricLibrary({ program, library: (await countingGpu()).cupti });
  const devices = new Map<number, readonly [number, number, number]>();
  for (const { files } of found.processes)
    for (const [name, { device, complete }] of files) {
      if (complete === null || complete.ranges === 0) continue;
      const file = join(found.results, name);
      expect(timesIn(`${file}.times`)).toHaveLength(complete.ranges);
      const rows = await library.samplesIn("XX100", file, complete.ranges, METRICS);
      const sum = (at: number) => rows.reduce((all, row) => all + (row[at] ?? Number.NaN), 0);
      const [kernels, ns, samples] = devices.get(device) ?? [0, 0, 0];
      devices.set(device, [kernels + sum(1), ns + sum(0), samples + rows.length]);
    }
  return { ...found, devices };
}

const failuresOf = ({ processes }: Counted) =>
  processes.flatMap(({ failures }) => failures.map(({ text }) => text));

/** What each device does in a script, without CUPTI. */
function expected(script: string): ReadonlyMap<number, readonly [number, number, number]> {
  const sums = new Map<number, [number, number, number]>();
  for (const step of script.split(" ")) {
    const what = step[1] ?? "";
    if (!"kKc".includes(what) || what === "") continue;
    const device = what === "K" ? 1 : 0;
    // The end of the sampling ends a sample, too.
    const [kernels, ns, samples] = sums.get(device) ?? [0, 0, 1];
    sums.set(
      device,
      what === "c"
        ? [kernels, ns + 10, samples + 1]
        : [kernels + 1, ns + Number(step.slice(2)), samples + 1],
    );
  }
  return sums;
}

const STEPS = fc.array(
  fc.tuple(
    fc.constantFrom("0", "0", "1", "2"),
    fc.constantFrom(">a", "@b", "<", ".", "k1", "k20", "K4000", "c", "s", "r"),
  ),
  { maxLength: 40 },
);

const scriptOf = (steps: readonly (readonly [string, string])[]): string =>
  steps.map(([thread, step]) => `${thread}${step}`).join(" ");

const FUNCTIONS = [
  ...["ProfilerInitialize", "ProfilerDeviceSupported", "DeviceGetChipName", "GetDeviceId"],
  ...["Enable", "SetConfig", "GetCounterDataSize", "CounterDataImageInitialize", "Start"].map(
    (name) => `PmSampling${name}`,
  ),
  ...["Stop", "DecodeData", "GetCounterDataInfo", "CounterDataGetSampleInfo", "Disable"].map(
    (name) => `PmSampling${name}`,
  ),
];

describe.runIf(canBuild)("samples of devices", () => {
  test("each device is sampled from its first launch to the end, whatever runs on it", async () => {
    const script = "0>a 0k100 0>b 0k10 0K20 0< 0< 0k5 0r 0k4";
    const found = await sampled(script);
    expect(found.devices).toEqual(expected(script));
    expect(found.processes[0]?.sampled).toEqual([
      expect.objectContaining({ device: 0, trigger: 1, interval: 200_000 }),
      expect.objectContaining({ device: 1, trigger: 1, interval: 200_000 }),
    ]);
    forget(found);
  });

  test("samples follow one another between the start and the end of the process, on its clock", async () => {
    const found = await sampled("0>a 0k100 0< 0k5");
    const [process] = found.processes;
    const times = timesIn(join(found.results, "device-0-0.counters.times"));
    const [first, last] = [times[0]?.[0] ?? 0n, times.at(-1)?.[1] ?? 0n];
    for (const [at, [begin, end]] of times.entries()) {
      expect(end).toBeGreaterThan(begin);
      if (at > 0) expect(begin).toBe(times[at - 1]?.[1]);
    }
    expect(Number(first)).toBeGreaterThanOrEqual(process?.sampled[0]?.timeNs ?? Number.NaN);
    expect(last).toBeLessThanOrEqual(process?.endNs ?? 0n);
    forget(found);
  });

  test("whatever the program does, all its work is in the samples, and CUPTI's rules are kept", async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        const script = scriptOf(steps);
        const found = await sampled(script);
        expect(new Map(found.devices)).toEqual(expected(script));
        expect(failuresOf(found)).toEqual([]);
        forget(found);
      }),
      { numRuns: 60 },
    );
  }, 120_000);

  test("every call that fails is told, and nothing is called out of order after it", async () => {
    for (const name of FUNCTIONS) {
      const found = await sampled("0>a 0k100 0>b 0k10 0< 0K7 0< 0r 0>c 0k1 0<", {
        env: { FAKE_CUPTI_FAIL: `${name}=35` },
      });
      expect(failuresOf(found)[0], name).toBe(`cupti${name}: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES`);
      forget(found);
    }
  }, 60_000);

  test("so is one that fails later, whatever the program does", async () => {
    await fc.assert(
      fc.asyncProperty(
        STEPS,
        fc.constantFrom(...FUNCTIONS),
        fc.nat({ max: 4 }),
        async (steps, name, nth) => {
          const script = scriptOf(steps);
          const found = await sampled(script, { env: { FAKE_CUPTI_FAIL: `${name}/${nth}=7` } });
          for (const [device, [kernels]] of found.devices)
            expect(expected(script).get(device)?.[0]).toBeGreaterThanOrEqual(kernels);
          forget(found);
        },
      ),
      { numRuns: 60 },
    );
  }, 120_000);

  test("what the device's buffer has no room for is counted, and sampling goes on", async () => {
    const overflow = await sampled("0>a 0k100 0k10 0<", { env: { FAKE_PM: "overflow" } });
    const dropped = ({ processes }: Counted) =>
      processes.flatMap(({ files }) =>
        [...files.values()].map(({ complete }) => complete?.dropped),
      );
    expect(dropped(overflow)).toEqual([1]);
    expect(overflow.devices.get(0)?.[2]).toBe(2);
    const full = await sampled("0>a 0k100 0k10 0<", { env: { FAKE_PM: "full" } });
    expect(dropped(full)).toEqual([1]);
    expect(failuresOf(full)).toEqual([]);
    forget(overflow, full);
  });

  test("ten thousand samples and more come in several files, up to the limit", async () => {
    const launches = 10_050;
    const many = Array.from({ length: launches }, () => "0k1").join(" ");
    const all = await sampled(many);
    expect(all.devices.get(0)).toEqual([launches, launches, launches + 1]);
    expect(all.processes[0]?.files.size).toBe(2);
    forget(all);
  });

  test.each(["TU102", "GA100"])(
    "%s has no trigger by time, and is sampled by cycles",
    async (chip) => {
      const found = await sampled("0>a 0k1 0<", { env: { FAKE_CHIP: chip }, chip });
      expect(found.processes[0]?.sampled).toEqual([
        expect.objectContaining({ device: 0, trigger: 0, interval: 200_000 }),
      ]);
      expect(found.devices.get(0)?.[0]).toBe(1);
      forget(found);
    },
  );

  test("a library of CUDA 12 gets the structure that it knows", async () => {
    const found = await sampled("0>a 0k1 0<", { env: { FAKE_CUPTI_VERSION: "120600" } });
    expect(found.devices.get(0)?.[0]).toBe(1);
    forget(found);
  });

  test("what cannot be is told: no device with counters, sizes and numbers that are none, an older CUPTI", async () => {
    const cases = [
      [{ FAKE_CUPTI_SUPPORT: "virtual_gpu" }, "the virtual GPU does not allow profiling"],
      [{ FAKE_CHIP: "YY200" }, "there is no configuration of counters for chip YY200"],
      [{ FAKE_CUPTI_LIES: "size" }, /tells of no size that can be right/],
      [{ FAKE_PM: "many" }, /tells of more samples than there can be/],
    ] as const;
    for (const [env, text] of cases) {
      const found = await sampled("0>a 0k1 0<", { env });
      expect(failuresOf(found)).toEqual([expect.stringMatching(text)]);
      expect(found.devices.size).toBe(0);
      forget(found);
    }
    const gpu = await fakeGpu(["-DcuptiPmSamplingEnable=cuptiSomethingElse"]);
    const older = await sampled("0>a 0k1 0<", { env: { HYDRACONF_CUPTI_PATH: gpu.cupti } });
    expect(failuresOf(older)).toEqual(["this CUPTI has no PM Sampling, which came with CUDA 12.6"]);
    forget(older);
  });

  test("a limit of file sizes ends the samples, not the program", async () => {
    const found = await sampled("0>a 0k1 0<", {
      before: ["sh", "-c", 'ulimit -f 64; exec "$@"', "sh"],
    });
    expect(failuresOf(found)).toEqual(["what was measured could not be written"]);
    forget(found);
  });
});

describe("the clock of samples", () => {
  const clocks = { startNs: 5_000_000_000n, endNs: 9_000_000_000n };
  const realtimeOffsetNs = 1_700_000_000_000_000_000n;

  test("is CUPTI's own or ours, by where the samples are", () => {
    const offsetOf = (beginNs: bigint) => clockOffset(beginNs, { ...clocks, realtimeOffsetNs });
    expect(offsetOf(6_000_000_000n)).toBe(0n);
    expect(offsetOf(realtimeOffsetNs + 6_000_000_000n)).toBe(realtimeOffsetNs);
    expect(offsetOf(600_000_000_000n)).toBeNull();
  });
});

describe.runIf(canBuild)("beside NVIDIA's headers", () => {
  const include = cuptiInclude();

  test("our description of PM Sampling agrees with them in every place", async () => {
    if (include === null || !existsSync(join(include, "cupti_pmsampling.h"))) {
      console.warn("SKIPPED the check of cupti/pm_sampling.hpp: no cupti_pmsampling.h");
      return;
    }
    // Its static assertions are the test.
    const flags = ["-c", "-isystem", include];
    const built = buildFixture("pm_sampling_check.cc", "nvtx3 headers", flags);
    await expect(built).resolves.toBeTruthy();
  });
});
