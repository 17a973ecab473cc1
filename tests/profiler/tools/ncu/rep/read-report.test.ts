import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { isCodedError } from "../../../../../src/engine/values/errors.ts";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { reportVersion } from "../../../../../src/profiler/tools/ncu/rep/read-report.ts";
import { unitOfMetric } from "../../../../../src/profiler/tools/ncu/rep/units.ts";
import { runs } from "../../../../runs.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import {
  firstMetric,
  firstResult,
  metricField,
  withField,
  withLateNames,
  withNvtx,
  withProcessName,
} from "./altered-report.ts";
import { readNcuReport } from "./whole-report.ts";

const sample = samplesOrSkip("our reader of ncu's report files");
const directory = mkdtempSync(join(tmpdir(), "hydraconf-rep-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Of the sample's first result, in the order of the file. */
const FIRST_METRIC = "launch__grid_size";

const written = (name: string, bytes: Uint8Array): string => {
  const file = join(directory, name);
  writeFileSync(file, bytes);
  return file;
};

const refusal = (file: string): string => {
  try {
    readNcuReport(file);
    return "accepted";
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return `${error.code}: ${error.message}`;
  }
};

describe.skipIf(sample === null)("our reader of ncu's report files", () => {
  const path = (name: string) => sample?.(name) ?? "";

  test.each([
    // The precision of each table: two decimals in base units, seven digits in others.
    ["r1.ncu-rep", "raw-1kernel-t4-base-units.csv", 0.0051, 0],
    ["gpm.ncu-rep", "raw-multi-launch-rtx2060.csv", 0.0051, 1e-4],
    ["mojo.ncu-rep", "raw-multi-kernel-gtx1660-ncu2024.1.csv", 0.0051, 1e-4],
  ])("%s holds what ncu prints of it", async (report, table, digits, share) => {
    const own = readNcuReport(path(report));
    const printed = await readNcuCsv(path(table));
    expect(own.notes).toEqual([]);
    expect(reportVersion(path(report))).toMatch(/^202\d\.\d\.\d/);
    expect(own.sections.get("GPU Speed Of Light Throughput")?.length).toBeGreaterThan(3);
    expect(own.results.length).toBe(printed.results.length);
    expect(own.results.length).toBeGreaterThan(0);
    let compared = 0;
    for (const [index, result] of own.results.entries()) {
      const { columns, values, rules: _rules, ...identity } = printed.results[index] as NcuResult;
      expect(result).toMatchObject(identity);
      expect(result.mangledName).toMatch(/^\w+$/);
      for (const [name, at] of columns.index) {
        const expected = values[at] as number;
        const found = result.values[result.columns.index.get(name) ?? -1] ?? Number.NaN;
        if (Number.isNaN(expected)) expect(found, name).toBeNaN();
        else {
          const off = Math.abs(found - expected);
          expect(off, `${name}: ${found}, printed ${expected}`).toBeLessThanOrEqual(
            digits + Math.abs(expected) * share,
          );
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(200);
  });

  test("knows the units of nearly all metrics from their names", async () => {
    const [own] = readNcuReport(path("r1.ncu-rep")).results;
    const [printed] = (await readNcuCsv(path("raw-1kernel-t4-base-units.csv"))).results;
    if (own === undefined || printed === undefined) throw new Error("both have a result");
    const wrong = printed.columns.names.filter((name, at) => {
      const place = own.columns.index.get(name);
      return place !== undefined && own.columns.units[place] !== printed.columns.units[at];
    });
    expect(wrong.length).toBeLessThan(printed.columns.names.length * 0.02);
    for (const name of ["gpu__time_duration.sum", "dram__bytes_read.sum", "lts__t_sectors.sum"])
      expect(wrong).not.toContain(name);
  });

  // As ncu 2024.1 prints them.
  test.each([
    ["pmsampling:sm__inst_executed_realtime.avg.pct_of_peak_sustained_elapsed", "%"],
    ["pmsampling:sm__inst_executed_realtime.avg.per_cycle_active", "inst/cycle"],
    ["FE_B.TriageAC.gr__ctas_launched_queue_sync.sum", "block"],
    ["sm__cycles_active.avg.peak_sustained_elapsed.per_second", "cycle/s"],
    ["sm__ops_path_tensor_src_fp16.sum.per_cycle_elapsed", "/cycle"],
    ["smsp__issue_active.avg.per_cycle_active", ""],
    ["l1tex__lsu_writeback_active.avg.per_second", "cycle/s"],
    ["l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio", "sector/request"],
    ["derived__sm__sass_thread_inst_executed_op_ffma_pred_on_x2", "thread"],
    ["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum", "inst"],
    ["launch__sm_count", "SM"],
    ["profiler__pmsampler_interval_time", "ns"],
  ])("the unit of %s is %j", (name, unit) => {
    expect(unitOfMetric(name)).toBe(unit);
  });

  test("reads what ncu's rules say", () => {
    const [result] = readNcuReport(path("r1.ncu-rep")).results;
    const occupancy = result?.rules?.find(({ rule }) => rule === "AchievedOccupancy");
    expect(occupancy).toMatchObject({ section: "Occupancy", type: "OPT" });
    expect(occupancy?.text).toContain(
      "theoretical (100.0%) and measured achieved occupancy (79.4%)",
    );
    for (const { text } of result?.rules ?? []) expect(text).not.toMatch(/@\w+:/);
  });

  test("takes the last value of a metric that stands twice, as ncu does", () => {
    const [plain] = readNcuReport(path("r1.ncu-rep")).results;
    const again = withField(readFileSync(path("r1.ncu-rep")), (result) =>
      metricField(firstMetric(result), 4711.5),
    );
    const [result] = readNcuReport(written("twice.ncu-rep", again)).results;
    expect(result?.columns.names).toEqual(plain?.columns.names);
    expect(result?.values[result.columns.index.get(FIRST_METRIC) ?? -1]).toBe(4711.5);
  });

  test.each([
    [2 ** 64, 0],
    [40 * 2 ** 64, 0],
    [1.5e19, 1.5e19],
  ])("shows a counter of %d as %d, as ncu does: it has 64 bits", (counted, shown) => {
    const changed = withField(readFileSync(path("r1.ncu-rep")), (result) =>
      metricField(firstMetric(result), counted),
    );
    const [result] = readNcuReport(written("counted.ncu-rep", changed)).results;
    expect(result?.values[result.columns.index.get(FIRST_METRIC) ?? -1]).toBe(shown);
  });

  test("knows names that a later block adds, whichever block a result stands in", () => {
    const whole = readFileSync(path("r1.ncu-rep"));
    const [plain] = readNcuReport(path("r1.ncu-rep")).results;
    const { results } = readNcuReport(written("late-names.ncu-rep", withLateNames(whole)));
    expect(results).toHaveLength(2);
    for (const { columns, values } of results) {
      expect(columns.names).toEqual(plain?.columns.names);
      expect(values).toEqual(plain?.values);
    }
  });

  test.each([
    ["/opt/my tools/train", "train"],
    ["C:\\work\\bin\\estimate.exe\0", "estimate.exe"],
    ["\\\\host\\share\\estimate.exe", "estimate.exe"],
    ["/opt/odd\\name", "odd\\name"],
  ])("knows the program of %s", (program, name) => {
    const renamed = withProcessName(readFileSync(path("r1.ncu-rep")), program);
    const [result] = readNcuReport(written("program.ncu-rep", renamed)).results;
    expect(result?.processName).toBe(name);
  });

  test("knows the ranges of all threads", () => {
    const { threadId, bytes } = withNvtx(readFileSync(path("r1.ncu-rep")));
    const [result] = readNcuReport(written("nvtx.ncu-rep", bytes)).results;
    expect(threadId).toBeGreaterThan(0);
    expect(result?.nvtx).toEqual({
      pushPop: [
        { domain: "", name: "A" },
        { domain: "", name: "A::A1" },
        { domain: "lib", name: "inner" },
      ],
      startEnd: [
        { domain: "", name: "first" },
        { domain: "lib", name: "second" },
      ],
      otherThreads: [[{ domain: "", name: "backward" }]],
    });
  });

  test("reads a report that was cut short as far as it goes", () => {
    const whole = readFileSync(path("gpm.ncu-rep"));
    const all = readNcuReport(path("gpm.ncu-rep")).results.length;
    for (const share of [0.3, 0.6, 0.9]) {
      const cut = whole.subarray(0, Math.floor(whole.length * share));
      const { results, notes } = readNcuReport(written("cut.ncu-rep", cut));
      expect(results.length).toBeLessThan(all);
      expect(notes.join()).toContain("is truncated");
    }
  });

  test("leaves out a result that is damaged, says so, and reads the others", () => {
    const whole = readFileSync(path("gpm.ncu-rep"));
    const all = readNcuReport(path("gpm.ncu-rep")).results;
    // An unknown field of wire type 7, which there is none of, at the start of the first result.
    whole.set([0xa7, 0x06], firstResult(whole).message + 4);
    const { results, notes } = readNcuReport(written("damaged.ncu-rep", whole));
    expect(results.map(({ id }) => id)).toEqual(all.map(({ id }) => id).slice(1));
    expect(notes.join()).toContain("1 damaged result was left out");
  });

  test("refuses or reads whatever bytes are wrong, and never fails otherwise", () => {
    const whole = readFileSync(path("r1.ncu-rep"));
    const place = fc.oneof(
      fc.nat(whole.length - 1),
      fc.nat(200),
      fc.nat(400).map((off) => Math.min(firstResult(whole).message + off, whole.length - 1)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 6 }),
        (wrong) => {
          const bytes = Buffer.from(whole);
          for (const [at, byte] of wrong) bytes[at] = byte;
          refusal(written("fuzzed.ncu-rep", bytes));
        },
      ),
      { numRuns: runs(150) },
    );
  });

  test("refuses what is no report", () => {
    expect(refusal(written("other.ncu-rep", Buffer.from("hello, this is text")))).toMatch(
      /^profile\.input: .*it has the wrong signature$/,
    );
    expect(refusal(written("tiny.ncu-rep", Buffer.from("NVR\0")))).toContain("header is damaged");
  });
});
