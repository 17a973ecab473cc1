import { describe, expect, test } from "vitest";
import { isCodedError } from "../../../../../src/engine/values/errors.ts";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { metricValue } from "../results.ts";
import { readNcuCsv } from "./whole-csv.ts";

const sample = samplesOrSkip("the samples of ncu's CSV");

describe.skipIf(sample === null)("ncu's CSV", () => {
  const read = async (name: string, options = {}) => readNcuCsv(sample?.(name) ?? "", options);
  const refusal = async (name: string) => {
    try {
      await read(name);
      return "accepted";
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return `${error.code}: ${error.message.replace(/.*\//, "")}`;
    }
  };
  const only = (results: readonly NcuResult[]): NcuResult => {
    expect(results).toHaveLength(1);
    return results[0] as NcuResult;
  };

  test("gives the same values in base units, in each locale", async () => {
    const base = only((await read("raw-1kernel-t4-base-units.csv")).results);
    expect(base.columns.names.length).toBe(1127 - 11);
    expect(base).toMatchObject({
      kind: "kernel",
      processId: 5816,
      processName: "cuda_example",
      device: "cuda:0",
      deviceName: "Tesla T4",
      kernelName: "matrix_addition2D(float *, float *, float *, int, int)",
      context: "1",
      stream: "7",
    });
    expect(metricValue(base, "gpu__time_duration.sum")).toBe(52576);
    expect(metricValue(base, "sm__inst_executed.avg.per_cycle_active")).toBe(0.58);
    for (const locale of ["en_US", "de_DE"]) {
      const { results, notes } = await read(`raw-1kernel-t4-base-units-${locale}.csv`);
      expect(notes).toEqual([]);
      expect(only(results).values).toEqual(base.values);
      expect(only(results).columns).toEqual(base.columns);
    }
  });

  test("gives the values of automatic units in base units, to the digits that were printed", async () => {
    const base = only((await read("raw-1kernel-t4-base-units.csv")).results);
    const auto = only((await read("raw-1kernel-t4-auto-units.csv")).results);
    expect(auto.columns).toEqual(base.columns);
    for (const [place, value] of auto.values.entries()) {
      const expected = base.values[place] ?? Number.NaN;
      if (Number.isNaN(expected)) expect(value).toBeNaN();
      else expect(Math.abs(value - expected)).toBeLessThan(0.0051 + Math.abs(expected) * 1e-6);
    }
    const unitOf = (name: string) => base.columns.units[base.columns.index.get(name) ?? -1];
    expect(unitOf("gpu__time_duration.sum")).toBe("ns");
    expect(unitOf("dram__bytes_read.sum")).toBe("byte");
    expect(unitOf("dram__bytes_read.sum.per_second")).toBe("byte/s");
    expect(unitOf("sm__cycles_elapsed.avg.per_second")).toBe("cycle/s");
  });

  test("reads the layout of ncu 2022 and of 2024 alike", async () => {
    const old = await read("raw-multi-kernel-gtx1660-ncu2022.3-kernel-time-col.csv");
    const today = await read("raw-multi-kernel-gtx1660-ncu2024.1.csv");
    expect(old.results.length).toBeGreaterThan(3);
    expect(old.results.map(({ kernelName }) => kernelName)).toEqual(
      today.results.map(({ kernelName }) => kernelName),
    );
    expect(old.results.map(({ stream }) => stream)).toEqual(
      today.results.map(({ stream }) => stream),
    );
    expect(old.results[0]?.columns.names.filter((name) => !name.includes("__"))).toEqual(
      today.results[0]?.columns.names.filter((name) => !name.includes("__")),
    );
    expect(old.results[0]?.device).toBeNull();
    expect(today.results[0]?.device).toBe("cuda:0");
    for (const [index, result] of old.results.entries()) {
      const other = today.results[index] as NcuResult;
      expect(metricValue(result, "gpu__time_duration.sum")).toBeGreaterThan(100);
      expect(metricValue(result, "gpu__time_duration.sum")).toBe(
        metricValue(other, "gpu__time_duration.sum"),
      );
    }
  });

  test("reads NVTX states with every kind of name and attribute", async () => {
    const { results, notes } = await read("syn-raw-nvtx-grammar-18-kernels.csv");
    expect(notes).toEqual([expect.stringContaining("the table has no units")]);
    expect(results).toHaveLength(18);
    const states = new Map(results.map(({ kernelName, nvtx }) => [kernelName.split("(")[0], nvtx]));
    const names = (kernel: string) =>
      states.get(kernel)?.pushPop.map(({ domain, name }) => `${domain}@${name}`);
    expect(states.get("k_plain")).toEqual({ pushPop: [], startEnd: [] });
    expect(names("k_A_x_B_y")).toEqual(["@A", "@x", "@B range", "@y"]);
    expect(names("k_A::A1")).toEqual(["@A", "@A::A1"]);
    expect(names("k_odd")).toEqual([
      '@q"uote',
      "@com,ma",
      "@co:lon",
      "@sl/ash",
      "@br[0]",
      "@st*ar",
      expect.stringMatching(/^@pl\+us?/),
      ...(names("k_odd")?.slice(7) ?? []),
    ]);
    expect(names("k_odd")?.join("|")).toContain("\nline");
    expect(names("k_odd")?.at(-1)).toBe("@ünï 漢");
    expect(names("k_bothdom")).toEqual(["@A", "Domain-A@A_range", "Domain-A@inner"]);
    expect(names("k_attr")).toEqual(["@colored", "@dbl", "@reg", "@js", "@i32"]);
    expect(names("k_samename_twice")).toEqual(["@A", "@A"]);
    expect(states.get("k_se2")?.startEnd).toEqual([
      { domain: "", name: "S1" },
      { domain: "", name: "S 2" },
      { domain: "Domain-A", name: "D1" },
    ]);
    expect(states.get("k_se_pp")).toEqual({
      pushPop: [{ domain: "", name: "A" }],
      startEnd: [{ domain: "", name: "S1" }],
    });
  });

  test("finds sections beside the labels that their body has", async () => {
    const { sections } = await read("details-1kernel-t4-print-details-all.csv");
    const plain = await read("details-1kernel-t4-auto-units-rules.csv");
    const added = [...sections.keys()].filter((name) => !plain.sections.has(name));
    expect(added).toEqual(["Memory Workload Analysis Tables", "NUMA Affinity"]);
    expect(sections.size).toBe(plain.sections.size + added.length);
  });

  test("reads registered strings of domains", async () => {
    const { results } = await read("syn-raw-nvtx-registered-string-domains.csv");
    expect(only(results).nvtx.pushPop).toEqual([
      { domain: "", name: "A" },
      { domain: "", name: "reg" },
      { domain: "Domain-A", name: "R1" },
    ]);
  });

  test("keeps processes, devices and odd texts apart, and has no number for nan, inf and texts", async () => {
    const { results, notes } = await read("syn-raw-multiprocess-multidevice-weird-values.csv");
    expect(notes).toEqual([expect.stringContaining("the table has no units")]);
    expect(
      results.map(({ processId, device, processName }) => [processId, device, processName]),
    ).toEqual([
      [100, "cuda:0", "python3.10"],
      [100, "cuda:1", "python3.10"],
      [100, "cuda:0", "python3.10"],
      [200, "cuda:0", "train, worker"],
      [200, "cuda:1", "train, worker"],
    ]);
    expect(results[3]?.kernelName).toBe(
      'void at::native::f<at::native::[lambda() "quoted" (instance 1)]>(T1)',
    );
    const odd = [...(results[2]?.values ?? [])].slice(-7);
    expect(odd).toEqual([0, Number.NaN, Number.NaN, -1234567.89, Number.NaN, 0, 0]);
  });

  test("takes a row for a range by its stream and grid, in both pages, alone and among kernels", async () => {
    const kinds = async (name: string) =>
      (await read(name)).results.map(({ kind, stream }) => `${kind} ${stream}`);
    expect(await kinds("syn-range-raw-4-ranges.csv")).toEqual(Array(4).fill("range null"));
    expect(await kinds("syn-mixed-kernel-and-range-raw.csv")).toEqual(["kernel 7", "range null"]);
    const real = only((await read("pub-cfregly-app-range-details-ncu2025.3.csv")).results);
    expect(real).toMatchObject({
      kind: "range",
      processId: 4242,
      nvtx: { pushPop: [], startEnd: [{ domain: "", name: "compute_kernel:profile" }] },
    });
    expect(metricValue(real, "gpu__time_duration.avg")).toBe(123480704);
  });

  test("reads details with rules, short rows and sections", async () => {
    const { results, sections, notes } = await read("details-1kernel-t4-metric-names-base.csv");
    const result = only(results);
    expect(notes).toEqual([]);
    expect(sections.get("GPU Speed Of Light Throughput")).toContain("gpu__time_duration.sum");
    expect(metricValue(result, "gpu__time_duration.sum")).toBe(52576);
    expect(result.rules?.length).toBeGreaterThan(3);
    expect(result.rules?.every(({ text }) => text.length > 10)).toBe(true);
    expect(result.rules?.some(({ speedup }) => speedup !== null && speedup > 0)).toBe(true);
    for (const name of [
      "details-1kernel-t4-auto-units-rules.csv",
      "details-1kernel-t4-print-details-all.csv",
      "details-multi-launch-rtx2060.csv",
      "details-multi-kernel-gtx1660-ncu2022.3-kernel-time-col.csv",
      "pub-llmperf-details-rtx5090-en_US.csv",
      "pub-llmperf-roofline-print-details-all-rtx5090.csv",
      "pub-llmperf-section-occupancy-rtx5090.csv",
      "pub-2020-kernel-time-details-fragment.csv",
      "syn-range-details.csv",
    ]) {
      const other = await read(name);
      expect(other.notes, name).toEqual([]);
      const ids = other.results.map(({ processId, id }) => `${processId} ${id}`);
      expect(ids.length, name).toBeGreaterThan(0);
      expect(new Set(ids).size, name).toBe(ids.length);
      expect(other.sections.size, name).toBeGreaterThan(0);
      for (const { values } of other.results) expect(values.length, name).toBeGreaterThan(0);
    }
  });

  test("agrees between the raw page and the details page", async () => {
    const raw = await read("raw-multi-launch-rtx2060.csv");
    const details = await read("details-multi-launch-rtx2060.csv");
    expect(details.results.map(({ id, kernelName }) => [id, kernelName])).toEqual(
      raw.results.map(({ id, kernelName }) => [id, kernelName]),
    );
    for (const [index, result] of details.results.entries()) {
      const duration = metricValue(raw.results[index] as NcuResult, "gpu__time_duration.sum");
      expect(metricValue(result, "Duration") / duration).toBeCloseTo(1, 2);
    }
  });

  test("takes 117.344 for what the rest of the file shows it to be", async () => {
    const { results } = await read("pub-windows2025.1-de-locale-details.csv");
    expect(metricValue(only(results), "gpu__time_duration.sum")).toBe(117344);
    expect(metricValue(only(results), "dram__bytes.sum")).toBe(27595520);
  });

  test("reads estimated speedups as the file writes its numbers", async () => {
    const cells = (...texts: readonly string[]) => texts.map((text) => `"${text}"`).join(",");
    const before = ["1", "7", "a", "h", "k", "1", "7"];
    const csv = [
      cells(
        ...["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"],
        ...["Section Name", "Metric Name", "Metric Unit", "Metric Value"],
        ...["Rule Name", "Rule Type", "Rule Description", "Estimated Speedup Type"],
        "Estimated Speedup",
      ),
      `${cells(...before, "S", "Duration", "ns", "1.234.567")},`,
      cells(...before, "S", "", "", "", "Rule", "OPT", "Do this.", "local", "27,80"),
      cells(...before, "S", "", "", "", "Rule", "INF", "Or that.", "", ""),
    ].join("\n");
    const results: NcuResult[] = [];
    await streamNcuCsv(
      (async function* () {
        yield Buffer.from(csv);
      })(),
      (result) => results.push(result),
    );
    expect(metricValue(only(results), "Duration")).toBe(1_234_567);
    expect(only(results).rules?.map(({ speedup, speedupType }) => [speedup, speedupType])).toEqual([
      [27.8, "local"],
      [null, undefined],
    ]);
  });

  test("finds the table behind what the program printed", async () => {
    const { results } = await read("constructed-preamble-plus-raw-csv.csv");
    expect(metricValue(only(results), "gpu__time_duration.sum")).toBe(52576);
    expect(metricValue(only(results), "dram__bytes_read.sum")).toBe(9612288);
  });

  test("reads a metric's value before its instances", async () => {
    const { results } = await read("raw-instances-t4.csv");
    expect([...only(results).values]).toContain(632520);
  });

  test("refuses files without results, and says why", async () => {
    expect(await refusal("empty-kernel-filter-no-match.csv")).toBe(
      "profile.input: empty-kernel-filter-no-match.csv holds no table of ncu's results",
    );
    expect(await refusal("syn-empty-report.csv")).toContain("no table of ncu's results");
    expect(await refusal("session-page-t4.csv")).toContain("no table of ncu's results");
    expect(await refusal("raw-summary-per-kernel-rtx2060.csv")).toContain("is a summary page");
    expect(await refusal("syn-raw-summary-per-nvtx.csv")).toContain("is a summary page");
  });
});
