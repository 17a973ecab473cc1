import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { streamNcuReport } from "../../../../../src/profiler/tools/ncu/rep/read-report.ts";
import { probeNcu } from "../../../../../src/profiler/tools/ncu/run/capabilities.ts";
import { readPass } from "../../../../../src/profiler/tools/ncu/run/read-pass.ts";
import { nsightEnvironment } from "../../../../nsight.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { metricValue } from "../results.ts";
import { realNcuOrSkip } from "./real-ncu.ts";
import { buildReport } from "./report-builder.ts";

const real = realNcuOrSkip("reading reports through ncu");
const sample = samplesOrSkip("reading reports through ncu");
const root = mkdtempSync(join(tmpdir(), "hydraconf-read-pass-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => {
  for (const [name, value] of Object.entries(nsightEnvironment())) vi.stubEnv(name, value);
});
afterEach(() => vi.unstubAllEnvs());

let folders = 0;
async function read(report: string, path = real?.cached ?? "") {
  const directory = join(root, `out-${++folders}`);
  mkdirSync(directory);
  const results: NcuResult[] = [];
  const summary = await readPass(report, (result) => results.push(result), {
    ncu: await probeNcu(path),
    directory,
    prefix: "",
    keepTables: true,
    stop: new AbortController().signal,
    say: () => {},
  });
  return { ...summary, rows: results, directory };
}

/** An ncu that does something else first; `exec "$NCU" "$@"` is the real one. */
function ncuWith(script: string): string {
  const path = join(root, `ncu-${++folders}`);
  writeFileSync(path, `#!/bin/sh\nNCU=${real?.cached}\n${script}\nexec "$NCU" "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

describe.skipIf(real === null || sample === null)("readPass", () => {
  const report = () => sample?.("r1.ncu-rep") ?? "";

  it("gives percentages and ratios with all digits that the report has", async () => {
    const { rows, sections } = await read(report());
    // By the names of metrics: ncu's labels (`Duration`) would be found in no other table.
    expect(sections.get("GPU Speed Of Light Throughput")).toContain("gpu__time_duration.sum");
    const exact: NcuResult[] = [];
    streamNcuReport(report(), (result) => exact.push(result));
    const [row] = rows;
    const [own] = exact;
    if (row === undefined || own === undefined) throw new Error("no results");
    let sharper = 0;
    for (const [name, index] of row.columns.index) {
      const unit = row.columns.units[index];
      const value = row.values[index] ?? Number.NaN;
      const truth = metricValue(own, name);
      if (unit !== "%" || truth === null || truth === undefined || Number.isNaN(value)) continue;
      expect(Math.abs(value - truth), name).toBeLessThanOrEqual(0.000_001);
      // Base units alone would give two decimals.
      if (Math.abs(Number(truth.toFixed(2)) - truth) > 0.000_01) sharper++;
    }
    expect(sharper).toBeGreaterThan(5);
    expect(metricValue(row, "sm__inst_executed.avg.per_cycle_active")).toBeCloseTo(
      metricValue(own, "sm__inst_executed.avg.per_cycle_active") ?? Number.NaN,
      5,
    );
    expect(metricValue(row, "gpu__time_duration.sum")).toBe(52576);
  });

  it("takes nothing but digits from the table of ratios: no value of a scaled unit, none of another result", async () => {
    const expected = (await read(report())).rows[0];
    // As ncu prints where the names of ratios are too many for a command line.
    const auto = '*"--print-units auto --print-fp"*';
    const all = ncuWith(
      `case "$*" in ${auto}) set -- --import "$2" --csv --page raw --print-units auto --print-fp;; esac`,
    );
    const [row] = (await read(report(), all)).rows;
    const changes = row?.values.map((value, at) => Math.abs(value - (expected?.values[at] ?? 0)));
    expect(Math.max(...(changes ?? []).filter((change) => !Number.isNaN(change)))).toBeLessThan(
      0.006,
    );
    const other = ncuWith(
      `case "$*" in ${auto}) "$NCU" "$@" | sed 's/^"0","[0-9]*"/"0","1"/'; exit;; esac`,
    );
    const [base] = (await read(report(), other)).rows;
    const throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
    const [exact, rounded] = [row, base].map((one) => one && metricValue(one, throughput));
    expect(rounded).toBe(Number(exact?.toFixed(2)));
    expect(rounded).not.toBe(exact);
  });

  it("prints in the locale C.UTF-8, whatever the user's is, and in units that it names", async () => {
    const log = join(root, "locales");
    const asked = join(root, "asked");
    const spy = ncuWith(`echo "$LC_ALL" >> ${log}; echo "$*" >> ${asked}`);
    vi.stubEnv("LC_ALL", "de_DE.UTF-8");
    const { rows } = await read(report(), spy);
    expect(rows[0] && metricValue(rows[0], "gpu__time_duration.sum")).toBe(52576);
    const locales = readFileSync(log, "utf8").trim().split("\n");
    expect(locales.length).toBeGreaterThan(3);
    expect(new Set(locales)).toEqual(new Set(["C.UTF-8"]));
    const imports = readFileSync(asked, "utf8").match(/^--import.*/gm) ?? [];
    expect(imports.map((line) => /--print-units (\w+)/.exec(line)?.[1])).toEqual([
      ...["base", "auto", "base", "auto"],
    ]);
  });

  it("prints what was requested, whatever a config file of ncu says", async () => {
    const here = join(root, "with-config");
    mkdirSync(here);
    const spy = ncuWith(`cd '${here}'`);
    const expected = await read(report());
    for (const options of ["--page = details", "--kernel-name = another"]) {
      writeFileSync(join(here, "config.ncu-cfg"), `[Import]\n${options}\n`);
      const { rows, sections, notes, directory } = await read(report(), spy);
      expect([rows, sections, notes]).toEqual([expected.rows, expected.sections, expected.notes]);
      for (const table of ["raw.csv", "ratios.csv", "details.csv", "sections.txt"])
        expect(readFileSync(join(directory, table), "utf8"), table).toBe(
          readFileSync(join(expected.directory, table), "utf8"),
        );
    }
  });

  it("is complete but for its sections where ncu cannot print them, and says so", async () => {
    const broken = ncuWith(
      'case "$*" in *"--page details"*) echo "==ERROR== no sections here"; exit 1;; esac',
    );
    const { rows, sections, notes, directory } = await read(report(), broken);
    expect(rows).toHaveLength(1);
    expect(sections.size).toBe(0);
    expect(notes.join()).toMatch(/could not print the sections.*lack only their sections/);
    expect(existsSync(join(directory, "raw.csv"))).toBe(true);
    expect(existsSync(join(directory, "details.csv"))).toBe(false);
    expect(existsSync(join(directory, "sections.txt"))).toBe(false);
  });

  it("says so where ncu cannot print the sections as text", async () => {
    const broken = ncuWith(
      'case "$*" in *--csv*) ;; *--import*) echo "==ERROR== no text here"; exit 1;; esac',
    );
    const { rows, sections, notes, directory } = await read(report(), broken);
    expect(rows).toHaveLength(1);
    expect(sections.size).toBeGreaterThan(0);
    expect(notes).toEqual([
      expect.stringMatching(/^ncu could not print the text of the sections .*no text here$/),
    ]);
    expect(existsSync(join(directory, "sections.txt"))).toBe(false);
  });

  it("tells sections and what ncu's rules advise", async () => {
    const { rows, sections, directory } = await read(report());
    expect([...sections.keys()]).toContain("Occupancy");
    expect(rows[0]?.rules?.length).toBeGreaterThan(0);
    expect(readFileSync(join(directory, "sections.txt"), "utf8")).toContain("Section: ");
  });

  it("reads kernels and a range beside them from one report", async () => {
    const file = join(root, "mixed.ncu-rep");
    writeFileSync(
      file,
      buildReport(real?.template ?? "", [
        { kernel: "gemm", pushPop: [{ name: "A" }] },
        { kernel: "pool", pushPop: [{ name: "B" }] },
        { kernel: "", kind: "range", pushPop: [{ name: "A" }] },
      ]),
    );
    const own: NcuResult[] = [];
    streamNcuReport(file, (result) => own.push(result));
    const { rows } = await read(file);
    expect(own.map(({ kind }) => kind)).toEqual(["kernel", "kernel", "range"]);
    expect(rows.map(({ kind }) => kind)).toEqual(["kernel", "kernel", "range"]);
  });

  it("of a report without results gives none and says so, and leaves no tables", async () => {
    const file = join(root, "empty.ncu-rep");
    writeFileSync(file, buildReport(real?.template ?? "", []));
    const { results, rows, notes, unread, directory } = await read(file);
    expect([results, rows, unread]).toEqual([0, [], null]);
    expect(notes).toEqual(["empty.ncu-rep holds no results"]);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("reads the report by itself where ncu prints something else, and says so", async () => {
    const garbled = ncuWith(
      `case "$*" in *"--import "*"--page raw"*) for i in $(seq 400); do echo "what is this $i"; done; exit 0;; esac`,
    );
    const { results, rows, notes, unread } = await read(report(), garbled);
    expect([results, rows.length, unread]).toEqual([1, 1, null]);
    expect(notes.join()).toContain("raw.csv holds no table of ncu's results");
    expect(notes.join()).toContain("r1.ncu-rep was read without ncu");
  });

  it("keeps the results until a table breaks off, does not read them again, and says so", async () => {
    const file = join(root, "two.ncu-rep");
    writeFileSync(
      file,
      buildReport(real?.template ?? "", [{ kernel: "gemm" }, { kernel: "pool" }]),
    );
    const directory = join(root, "breaks-off");
    mkdirSync(directory);
    const seen: string[] = [];
    const { results, sections, notes, unread } = await readPass(
      file,
      ({ kernelName }) => {
        seen.push(kernelName);
        if (seen.length === 2)
          throw Object.assign(new Error("EIO: i/o error, read"), { code: "EIO", syscall: "read" });
      },
      {
        ncu: await probeNcu(real?.cached ?? ""),
        directory,
        prefix: "",
        keepTables: true,
        stop: new AbortController().signal,
        say: () => {},
      },
    );
    expect(seen).toHaveLength(2);
    expect(results).toBe(1);
    // They were read before the results.
    expect(sections.size).toBeGreaterThan(0);
    expect(unread).toBe(
      "the results of two.ncu-rep could not be read: its disk or network file system failed (input/output error)",
    );
    expect(notes).toEqual([unread]);
  });

  it("does not take the part of a table that a full disk had room for as the table", async () => {
    const directory = join(root, "full");
    mkdirSync(directory);
    symlinkSync("/dev/full", join(directory, "raw.csv.part"));
    const { results, notes, unread } = await readPass(report(), () => {}, {
      ncu: await probeNcu(real?.cached ?? ""),
      directory,
      prefix: "",
      keepTables: true,
      stop: new AbortController().signal,
      say: () => {},
    });
    expect([results, unread]).toEqual([1, null]);
    expect(notes.join()).toMatch(/could not print the metrics of .*ENOSPC.*was read without ncu/);
    expect(readdirSync(directory)).toEqual([]);
  });

  it("keeps the text of the sections alone, where the tables are not wanted", async () => {
    const directory = join(root, "without-tables");
    mkdirSync(directory);
    const { results, notes } = await readPass(report(), () => {}, {
      ncu: await probeNcu(real?.cached ?? ""),
      directory,
      prefix: "",
      keepTables: false,
      stop: new AbortController().signal,
      say: () => {},
    });
    expect([results, notes]).toEqual([1, []]);
    expect(readdirSync(directory)).toEqual(["sections.txt"]);
  });

  it("distinguishes an unreadable report from an empty one", async () => {
    const file = join(root, "damaged.ncu-rep");
    writeFileSync(file, "this is no report");
    const { results, notes, unread } = await read(file);
    expect(results).toBe(0);
    expect(unread).toMatch(/could not print the metrics of .*damaged\.ncu-rep: ==ERROR== /);
    expect(notes.join()).toContain("it has the wrong signature");
  });

  it("does not take a mistake of ours for a damaged table", async () => {
    const broken = readPass(
      report(),
      () => {
        throw new TypeError("a mistake");
      },
      {
        ncu: await probeNcu(real?.cached ?? ""),
        directory: root,
        prefix: "mistake.",
        keepTables: false,
        stop: new AbortController().signal,
        say: () => {},
      },
    );
    await expect(broken).rejects.toThrow("a mistake");
  });
});
