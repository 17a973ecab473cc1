import { describe, expect, it } from "vitest";
import type { NvtxLabel } from "../../../../src/profiler/analysis/labels.ts";
import { toReportBundle } from "../../../../src/profiler/analysis/to-report.ts";
import { createResultReader } from "../../../../src/profiler/tools/ncu/read-results.ts";
import { labelsOf } from "../../../../src/profiler/tools/ncu/run/label-survey.ts";
import type { NcuConfig } from "../../../../src/profiler/tools/profiler-config.ts";
import { createReportValidator } from "../../../../src/report/validation/validate.ts";
import { context } from "../../../report/bundles.ts";
import { type RangeSketch, timelineOf } from "../../analysis/timelines.ts";
import { type ResultSketch, resultOf } from "./results.ts";
import { cliConfig } from "./run/cli-config.ts";

const configOf = (nvtx: NcuConfig["ncu_cli"]["nvtx"]): NcuConfig => ({
  ...{ enable: true, gating_nvtx: true, native_nvtx: true, fallback: true, require_match: true },
  top_n_kernels: null,
  timeout_min: null,
  ncu_cli: { ...cliConfig, nvtx },
});

/** The report of a run in which ncu measured nothing. */
function reportOf(config: NcuConfig) {
  const options = { aggregate: true, operationDomains: [], recorded: null, top: null };
  const { measured } = createResultReader({ config, ...options }).finish();
  if (measured.kind !== "regions") throw new Error("a timeline");
  return toReportBundle(measured.model, context);
}

describe("a report of ncu", () => {
  const labels = { include_patterns: ["forward"], exclude_patterns: ["stem"] };

  it.each([
    [
      { include: "forward", exclude: "stem" },
      { applies_to: "measurement", ...labels },
    ],
    [
      { include: ["forward", "A/"], exclude: ["stem", "regex:^B/"] },
      {
        ...{ applies_to: "measurement", ...labels },
        ...{ ncu_include_expressions: ["A/"], ncu_exclude_expressions: ["regex:^B/"] },
      },
    ],
  ])("tells what was filtered by %j, also where that took no region", async (nvtx, selection) => {
    const bundle = reportOf(configOf(nvtx));
    expect(bundle.reports).toMatchObject([{ regions: [], selection }]);
    expect(createReportValidator().validate(bundle)).toEqual([]);
  });

  it("tells of patterns that they choose what is shown where ncu filters nothing", () => {
    const config = configOf({ include: "forward", exclude: "stem" });
    expect(reportOf({ ...config, native_nvtx: false }).reports[0]?.selection).toEqual({
      ...{ applies_to: "report", ...labels },
    });
  });
});

describe("kernels that the config leaves out", () => {
  const GEMM = "void ns::gemm<float, 4>(float *)";
  const POOL = "pool(int *)";

  async function reportWithout(kernels: Partial<NcuConfig["ncu_cli"]>) {
    const config = configOf({ include: null, exclude: null });
    const reader = createResultReader({
      ...{ aggregate: true, operationDomains: [], recorded: null, top: null },
      config: { ...config, ncu_cli: { ...config.ncu_cli, ...kernels } },
    });
    await reader.readPass(null, async (add) => {
      for (const kernel of [GEMM, POOL]) add(resultOf({ kernel, in: ["A"], ns: 1000 }));
      return { results: 2, sections: new Map(), notes: [], unread: null };
    });
    const { measured } = reader.finish();
    if (measured.kind !== "regions") throw new Error("a timeline");
    const [report] = toReportBundle(measured.model, context).reports;
    return {
      names: report?.regions[0]?.kernels.map((kernel) => kernel.kernel_name),
      notes: (report?.notes ?? []).join("\n"),
      selection: report?.regions[0]?.selection,
    };
  }

  it.each<[Partial<NcuConfig["ncu_cli"]>, readonly string[]]>([
    [{ kernel_exclude: ["gemm"], kernel_name_base: "function" }, [POOL]],
    // As ncu takes names where nothing else is said.
    [{ kernel_exclude: ["gemm"], kernel_name_base: null }, [POOL]],
    [{ kernel_exclude: ["*gemm*"], kernel_name_base: "demangled" }, [POOL]],
    [{ kernel_exclude: [GEMM], kernel_name_base: "demangled" }, [POOL]],
    [{ kernel_exclude: ["regex:^po+l"], kernel_name_base: "demangled" }, [GEMM]],
    // ncu's filter let both pass: exclusion wins.
    [{ kernel_name: "regex:.", kernel_exclude: ["regex:^po+l"] }, [GEMM]],
  ])("count for no region: %j", async (kernels, names) => {
    expect((await reportWithout(kernels)).names).toEqual(names);
  });

  it("are named where a rule fits none, as whole demangled names fit no function", async () => {
    const { names, notes } = await reportWithout({ kernel_exclude: ["gemm"] });
    expect(names).toEqual([POOL, GEMM]);
    expect(notes).toContain(
      `pipeline.ncu.ncu_cli.kernel_exclude: 'gemm' matches no kernel; demangled names are: ${GEMM}; ${POOL}`,
    );
  });

  it("stand in the selection with what ncu itself was asked for", async () => {
    const { selection } = await reportWithout({
      ...{ kernel_name: "regex:.", kernel_exclude: ["*pool*"], kernel_name_base: null },
    });
    expect(selection).toMatchObject({
      kernel_include_patterns: ["regex:."],
      kernel_exclude_patterns: ["*pool*"],
      kernel_name_base: "function",
    });
  });
});

describe("a range that was measured", () => {
  /** Paths of the regions that got a result, of a pass over one label. */
  async function regionsOf(
    ranges: readonly RangeSketch[],
    measured: Pick<NvtxLabel, "domain" | "name">,
    state: Pick<ResultSketch, "in" | "startEnd">,
  ): Promise<readonly string[]> {
    const recorded = timelineOf([{ pid: 1, ranges }]);
    const { labels } = labelsOf(recorded, []);
    const reader = createResultReader({
      ...{ aggregate: true, operationDomains: [], recorded, top: null },
      config: configOf({ include: null, exclude: null }),
    });
    const wanted = labels.filter(
      ({ domain, name }) => domain === measured.domain && name === measured.name,
    );
    await reader.readPass(wanted, async (add) => {
      add(resultOf({ kind: "range", ns: 1000, ...state }));
      return { results: 1, sections: new Map(), notes: [], unread: null };
    });
    const result = reader.finish().measured;
    if (result.kind !== "regions") throw new Error("a timeline");
    const { regions } = toReportBundle(result.model, context).reports[0] ?? { regions: [] };
    return regions
      .filter(({ total_ms }) => total_ms !== null)
      .map(({ path, wall_ms }) => `${path.join(" > ")}${wall_ms === null ? "" : ", known"}`);
  }

  const startEnd = "start_end" as const;
  const outer = { name: "outer", domain: "D", start: 0, end: 100 };
  const inner = { name: "inner", start: 10, end: 90 };
  const phase = { name: "phase", kind: startEnd, start: 0, end: 100 };

  it.each<
    [
      string,
      readonly RangeSketch[],
      Pick<NvtxLabel, "domain" | "name">,
      Pick<ResultSketch, "in" | "startEnd">,
      readonly string[],
    ]
  >([
    // ncu lists the default domain first, and its first API call may come when `inner` is open.
    [
      "of a domain around the default one",
      [outer, inner],
      { domain: "D", name: "outer" },
      { in: ["inner", "D@outer"] },
      ["outer, known"],
    ],
    [
      "inside a range of another domain",
      [outer, inner],
      { domain: "", name: "inner" },
      { in: ["inner", "D@outer"] },
      ["outer > inner, known"],
    ],
    [
      "inside a start/end range",
      [phase, inner],
      { domain: "", name: "inner" },
      { in: ["inner"], startEnd: ["phase"] },
      ["phase > inner, known"],
    ],
    [
      "around a start/end range",
      [
        { ...inner, start: 0, end: 100 },
        { ...phase, start: 10, end: 90 },
      ],
      { domain: "", name: "inner" },
      { in: ["inner"], startEnd: ["phase"] },
      ["inner, known"],
    ],
    [
      "of start and end inside another range",
      [
        { ...inner, start: 0, end: 100 },
        { ...phase, start: 10, end: 90 },
      ],
      { domain: "", name: "phase" },
      { in: ["inner"], startEnd: ["phase"] },
      ["inner > phase, known"],
    ],
    [
      "where no recorded path fits",
      [phase, { ...outer, start: 5, end: 50 }, { ...inner, start: 200, end: 300 }],
      { domain: "D", name: "outer" },
      { in: ["inner", "D@below", "D@outer"] },
      ["below > outer"],
    ],
  ])("is the region that a recording knows: %s", async (_, ranges, measured, state, paths) => {
    expect(await regionsOf(ranges, measured, state)).toEqual(paths);
  });
});
