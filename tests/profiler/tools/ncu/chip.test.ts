import { describe, expect, test } from "vitest";
import type { MetricLibrary } from "../../../../src/profiler/machine/chip-metrics.ts";
import { thisMachine } from "../../../../src/profiler/machine/doctor/machine.ts";
import {
  type MetricSource,
  recordedSource,
} from "../../../../src/profiler/machine/metric-source.ts";
import { ToolError } from "../../../../src/profiler/machine/tool-error.ts";
import { probeChip } from "../../../../src/profiler/tools/ncu/ncu-settings.ts";

// doctor's line about the chip of the GPU.

const check = { name: "GPU", state: "ok", detail: "" } as const;
const facts = (absence: string | null) => ({
  machine: thisMachine({}),
  gpu: { driver: check, permissions: check, absence, countersAllowed: true },
});

/** A library that says what the record says, on a machine with a GPU of this chip. */
function sourceOn(chip: string | null): MetricSource {
  const record = recordedSource();
  const library: MetricLibrary = {
    chips: record.chips,
    chipOfDevice: async () => chip,
    names: async () => [],
    // Throughputs of several units take more passes at an interval.
    describe: async (chips, metrics, way) =>
      (await record.describe(chips, metrics)).map((answer) => ({
        ...answer,
        metrics: answer.metrics.map((metric) => ({
          ...metric,
          ...{ description: "" },
          ...(way === "samples" && { passes: metric.name.includes("throughput") ? 12 : 1 }),
        })),
      })),
  };
  return { ...record, library };
}

describe("the chip of the GPU", () => {
  test.each([
    [
      "GH100",
      "GH100 has every metric that presets and reports name; 25 of its 29 take one pass alone at an interval (pipeline.counters.timeline)",
    ],
    [
      "GB202",
      "GB202 has every metric that presets and reports name; 25 of its 29 take one pass alone at an interval (pipeline.counters.timeline)",
    ],
    [
      "GB10B",
      "GB10B lacks metrics that presets and reports name: dram__bytes.sum, dram__bytes.sum.peak_sustained, dram__bytes.sum.per_second, dram__bytes_op_read.sum, dram__bytes_op_write.sum, dram__bytes_read.sum and 3 more; 19 of its 22 take one pass alone at an interval (pipeline.counters.timeline)",
    ],
  ])("%s", async (chip, detail) => {
    const found = await probeChip(facts(null), async () => sourceOn(chip));
    expect(found).toEqual({ name: "chip", state: "ok", detail });
  });

  test("is left out without a GPU, a library, or an answer", async () => {
    expect(await probeChip(facts("no GPU answers"), async () => sourceOn("GH100"))).toBeNull();
    expect(await probeChip(facts(null), async () => recordedSource())).toBeNull();
    expect(await probeChip(facts(null), async () => sourceOn(null))).toBeNull();
  });

  test("a library that is too old is a warning with a remedy", async () => {
    const error = new ToolError({
      tool: "CUPTI",
      code: "profile.metric_library_version",
      message: "too old",
      hint: "install a newer one",
    });
    const found = await probeChip(facts(null), async () => {
      throw error;
    });
    expect(found).toEqual({
      name: "chip",
      state: "warning",
      detail: "too old",
      hint: "install a newer one",
    });
  });
});
