import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  adaptToAvailable,
  queryAvailable,
  queryRefused,
} from "../../../../../src/profiler/tools/ncu/run/availability.ts";
import { probeNcu } from "../../../../../src/profiler/tools/ncu/run/capabilities.ts";
import { configArguments } from "../../../../../src/profiler/tools/ncu/run/cli-options.ts";
import { type NcuCliConfig, namesOf } from "../../../../../src/profiler/tools/profiler-config.ts";
import { composeTree } from "../../../../conf/compose-tree.ts";
import { cliConfig } from "./cli-config.ts";
import { realNcuOrSkip } from "./real-ncu.ts";

const version = { version: "2026.1" };
const available = {
  sets: new Set(["basic", "roofline"]),
  sections: new Set(["SpeedOfLight", "Occupancy"]),
  metrics: new Set(["gpu__time_duration", "sm__throughput"]),
};

describe("adaptToAvailable", () => {
  it("leaves out what there is not, one note each with the nearest name", () => {
    const { config, notes } = adaptToAvailable(
      {
        ...cliConfig,
        set: ["rofline", "basic"],
        sections: ["Occupancy", "Nothing"],
        metrics: ["sm__throughput.avg.pct_of_peak_sustained_elapsed", "gpu__time_durations.sum"],
      },
      available,
      version,
    );
    expect(config).toMatchObject({
      set: ["basic"],
      sections: ["Occupancy"],
      metrics: ["sm__throughput.avg.pct_of_peak_sustained_elapsed"],
    });
    expect(notes).toEqual([
      "set 'rofline' is left out: ncu 2026.1 has no such set (nearest: roofline)",
      "section 'Nothing' is left out: ncu 2026.1 has no such section",
      "metric 'gpu__time_durations.sum' is left out: ncu 2026.1 has no such metric for this GPU (nearest: gpu__time_duration)",
    ]);
  });

  it("takes the name that this GPU has for a metric of two names", () => {
    const metrics = ["dram__bytes_read.sum", "dram__bytes_op_read.sum", "dram__bytes_write.sum"];
    const on = (...names: readonly string[]) =>
      adaptToAvailable(
        { ...cliConfig, metrics },
        { ...available, metrics: new Set(names) },
        version,
      );
    const gb202 = on("dram__bytes_op_read", "dram__bytes_op_write");
    expect(gb202.config.metrics).toEqual(["dram__bytes_op_read.sum", "dram__bytes_op_write.sum"]);
    expect(gb202.notes).toEqual([
      "metric 'dram__bytes_read.sum' is 'dram__bytes_op_read.sum' on this GPU",
      "metric 'dram__bytes_write.sum' is 'dram__bytes_op_write.sum' on this GPU",
    ]);
    const gh100 = on("dram__bytes_read", "dram__bytes_write");
    expect(gh100.config.metrics).toEqual(["dram__bytes_read.sum", "dram__bytes_write.sum"]);
    const neither = on("gpu__time_duration");
    expect(neither.config.metrics).toEqual([]);
    expect(neither.notes).toHaveLength(3);
  });

  it("takes metrics in one text with commas, as ncu does", () => {
    const metrics = "gpu__time_duration.sum, sm__throughput.avg,sm__nothing.sum";
    const { config, notes } = adaptToAvailable({ ...cliConfig, metrics }, available, version);
    expect(config.metrics).toEqual(["gpu__time_duration.sum", "sm__throughput.avg"]);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toContain("metric 'sm__nothing.sum' is left out");
    const args = configArguments({ ...cliConfig, metrics });
    expect(args[args.indexOf("--metrics") + 1]).toBe(metrics.replace(", ", ","));
  });

  it("leaves expressions, groups and metrics of the launch to ncu, and all where it does not answer", () => {
    const metrics = [
      ...["regex:x", "group:y", "breakdown:z", "pmsampling:x__y.avg", "launch__waves"],
      ...["device__attribute_x", "nvlink__bandwidth", "numa__id_cpu", "smsp__pcsamp_interval"],
      ...["sass__inst_executed_per_opcode", "profiler__replayer_passes"],
    ];
    const sections = ["regex:.*Roofline"];
    const adapted = adaptToAvailable({ ...cliConfig, metrics, sections }, available, version);
    expect(adapted.config).toMatchObject({ metrics, sections });
    expect(adapted.notes).toEqual([]);
    const silent = { sets: null, sections: null, metrics: null };
    expect(adaptToAvailable({ ...cliConfig, metrics: ["x"] }, silent, version).notes).toEqual([]);
  });
});

const real = realNcuOrSkip("sections and metrics of the real ncu");

describe.skipIf(real === null)("the real ncu", () => {
  it("has the sets, sections and metrics of every preset on an H100", async () => {
    const ncu = await probeNcu(real?.cached ?? "");
    expect(ncu.version).toMatch(/^20\d\d\.\d/);
    const have = await queryAvailable(ncu, "gh100");
    expect(have.metrics?.size).toBeGreaterThan(1000);
    for (const preset of ["default", "high", "hopper"]) {
      const { ncu_cli } = composeTree([`profiling/ncu@pipeline.ncu=ncu.${preset}`]).pipeline.ncu;
      expect(adaptToAvailable({ ...cliConfig, ...ncu_cli }, have, ncu).notes, preset).toEqual([]);
    }
  });

  it.each<Partial<NcuCliConfig>>([
    { replay_mode: "range" },
    { replay_mode: "app-range" },
    { graph_profiling: "graph" },
  ])(
    "takes what is left of every preset with %o, and refuses what was left out",
    async (together) => {
      const ncu = await probeNcu(real?.cached ?? "");
      const none = { sets: null, sections: null, metrics: null };
      for (const preset of ["default", "hopper"]) {
        const { ncu_cli } = composeTree([`profiling/ncu@pipeline.ncu=ncu.${preset}`]).pipeline.ncu;
        const wanted = { ...cliConfig, ...ncu_cli, ...together };
        const refused = await queryRefused(ncu, wanted);
        const { config, notes } = adaptToAvailable(wanted, none, ncu, refused);
        expect(namesOf(config.metrics)).toContain("gpu__time_duration.sum");
        expect(real?.say(...configArguments(config), "true"), preset).not.toContain(
          "not supported",
        );
        expect(notes.join()).toContain("smsp__sass_thread_inst_executed_op_dadd_pred_on.sum");
      }
      // Each stands for a family that ncu counts per instruction, or per source line.
      const metrics = [
        ...["smsp__sass_sectors_mem_global.sum", "sm__sass_data_bytes_mem_shared.sum"],
        ...["memory_l1_wavefronts_shared", "thread_inst_executed"],
      ];
      const refused = await queryRefused(ncu, { ...cliConfig, ...together, metrics });
      expect([...refused].sort()).toEqual([...metrics].sort());
      const inKernels = await queryRefused(ncu, { ...cliConfig, metrics: "inst_executed" });
      expect(inKernels.size).toBe(0);
    },
  );

  it("has metrics of source lines, derived ones and its own in no list: none is left out", async () => {
    const ncu = await probeNcu(real?.cached ?? "");
    const have = await queryAvailable(ncu, "gh100");
    const listed = real?.say("--list-metrics", "--section", "regex:.*").split("\n") ?? [];
    // What is named after no part of the GPU: `inst_executed`, `memory_l1_wavefronts_shared`.
    const unlisted = listed
      .map((line) => line.replace(/^[ -]*/, ""))
      .filter((name) => /^(?:[a-z0-9]+(?:_[a-z0-9]+)+|(?:derived|profiler|sass)__\w+)$/.test(name));
    expect(unlisted).toContain("inst_executed");
    expect(unlisted).toContain("memory_l2_theoretical_sectors_global");
    expect(unlisted).toContain("derived__memory_l1_conflicts_shared_nway");
    // "Source Metrics" and "Profiler Metrics" of the Profiling Guide.
    const metrics = [
      ...unlisted,
      ...["branch_inst_executed", "thread_inst_executed_true", "smsp__pcsamp_sample_count"],
      ...["smsp__branch_targets_threads_divergent", "smsp__branch_targets_threads_uniform"],
      ...["smsp__sass_inst_executed_memdesc_explicit_evict_type", "profiler__replayer_passes"],
    ];
    expect(adaptToAvailable({ ...cliConfig, metrics }, have, ncu).notes).toEqual([]);
  });

  it("has counters of other GPUs only, which are left out", async () => {
    const ncu = await probeNcu(real?.cached ?? "");
    const have = await queryAvailable(ncu, "gh100");
    // Of Volta; a misspelt source metric; one that no GPU has.
    const metrics = ["lts__lts2xbar_cycles_active_x.sum", "inst_execute", "gpu_time_duration.sum"];
    expect(adaptToAvailable({ ...cliConfig, metrics }, have, ncu).config.metrics).toEqual([]);
  });

  it("has what it measures with, whatever a config file that lies around would have of it", async () => {
    const here = mkdtempSync(join(tmpdir(), "ncu-config-"));
    mkdirSync(join(here, "sections"));
    writeFileSync(
      join(here, "sections", "Own.section"),
      'Identifier: "Own"\nDisplayName: "Own"\nSets { Identifier: "own" }\n',
    );
    writeFileSync(
      join(here, "config.ncu-cfg"),
      "[List]\n--section-folder = sections\n[Query]\n--query-metrics-mode = suffix\n",
    );
    const inHere = join(here, "ncu");
    writeFileSync(inHere, `#!/bin/sh\ncd '${here}'\nexec '${real?.path}' "$@"\n`);
    chmodSync(inHere, 0o755);
    expect(await queryAvailable(await probeNcu(inHere), "gh100")).toEqual(
      await queryAvailable(await probeNcu(real?.cached ?? ""), "gh100"),
    );
  });

  it("leaves nothing out where it cannot ask a driver", async () => {
    const have = await queryAvailable(await probeNcu(real?.path ?? ""));
    expect(have.sections?.has("SpeedOfLight")).toBe(true);
    expect(have.sets?.has("roofline")).toBe(true);
    expect(have.metrics).toBeNull();
  });
});
