import { describe, expect, test } from "vitest";
import { recordedSource } from "../../../../../src/profiler/machine/metric-source.ts";
import { NCU_ELSEWHERE } from "../../../../../src/profiler/tools/ncu/run/capabilities.ts";
import {
  type ReplayQuestion,
  replayNote,
} from "../../../../../src/profiler/tools/ncu/run/replay-count.ts";
import { cliConfig } from "./cli-config.ts";

const ask = (cli: Partial<ReplayQuestion["cli"]>, chip: string | null = null) =>
  replayNote(
    { cli: { ...cliConfig, ...cli }, ncu: NCU_ELSEWHERE, device: null, chip },
    recordedSource(),
  );

const alone = { set: null, sections: null } as const;
const TIME = "gpu__time_duration.sum";

describe("how often the work runs", () => {
  test("by chip, those with the same count together", async () => {
    const throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    expect(await ask({ ...alone, metrics: [throughput] })).toBe(
      "each kernel takes 5 passes on GA100; 6 on GA102, AD102; 8 on GH100, GB100, GB202",
    );
  });

  test("of the chip that the config names, in any case", async () => {
    expect(await ask({ ...alone, metrics: [TIME] }, "gh100")).toBe(
      "each kernel takes 1 pass on GH100",
    );
    await expect(ask({}, "GH101")).rejects.toMatchObject({
      code: "profile.chip",
      details: { key: "pipeline.ncu.chip", nearest: "GH100" },
    });
  });

  test("what the mode replays", async () => {
    const metrics = [TIME];
    const of = (replay_mode: ReplayQuestion["cli"]["replay_mode"]) =>
      ask({ ...alone, metrics, replay_mode }, "GH100");
    expect(await of("range")).toBe("each range takes 1 pass on GH100");
    expect(await of("application")).toBe("the program takes 1 pass on GH100");
    expect(await of("app-range")).toBe("the program takes 1 pass on GH100");
    expect(await ask({ ...alone, metrics, graph_profiling: "graph" }, "GH100")).toBe(
      "each kernel or graph takes 1 pass on GH100",
    );
  });

  test("sections that nobody can tell the metrics of make it the least", async () => {
    expect(await ask({ metrics: [TIME] }, "GH100")).toBe(
      "each kernel takes at least 1 pass on GH100; what sections and sets add is not counted",
    );
  });

  test("metrics that are unknown, or counted in another way, make it the least", async () => {
    for (const metric of ["other__metric.sum", "smsp__pcsamp_sample_count", "inst_executed"])
      expect(await ask({ ...alone, metrics: [TIME, metric] }, "GH100")).toBe(
        "each kernel takes at least 1 pass on GH100",
      );
    expect(await ask({ ...alone, metrics: [TIME, "launch__grid_size"] }, "GH100")).toBe(
      "each kernel takes 1 pass on GH100",
    );
  });

  test("metrics of DRAM by either name", async () => {
    const metrics = ["dram__bytes_read.sum"];
    expect(await ask({ ...alone, metrics }, "GB202")).toBe("each kernel takes 1 pass on GB202");
    expect(await ask({ ...alone, metrics }, "GH100")).toBe("each kernel takes 1 pass on GH100");
  });

  test("nothing that is known", async () => {
    expect(await ask({ metrics: null })).toBeNull();
  });
});
