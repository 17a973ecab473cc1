import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nsightEnvironment, nsightOrSkip } from "../../../../nsight.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import type { NcuResults } from "../results.ts";
import { buildReport } from "../run/report-builder.ts";
import { readNcuReport } from "./whole-report.ts";

const what = "metrics of sections as the real ncu shows them";
const ncu = nsightOrSkip("ncu", what);
const sample = samplesOrSkip(what);

/** A range or a graph with the metrics and sections of the sample's first kernel, which ncu does not show all. */
const asRange = (report: string): Buffer => buildReport(report, [{ kernel: "", kind: "range" }]);
const asGraph = (report: string): Buffer => buildReport(report, [{ kernel: "", kind: "graph" }]);

/** Sections and their metrics that have a number, in their order. */
const shown = ({ results, sections }: Pick<NcuResults, "results" | "sections">) =>
  [...sections].flatMap(([title, metrics]) => {
    const numbers = metrics.filter((name) =>
      results.some(({ columns, values }) => !Number.isNaN(values[columns.index.get(name) ?? -1])),
    );
    return numbers.length === 0 ? [] : [[title, numbers]];
  });

test.skipIf(ncu === null || sample === null).each([
  ["kernels", "r1.ncu-rep", (report: string) => readFileSync(report)],
  ["kernels", "mojo.ncu-rep", (report: string) => readFileSync(report)],
  ["kernels", "gpm.ncu-rep", (report: string) => readFileSync(report)],
  ["a range", "r1.ncu-rep", asRange],
  ["a range", "gpm.ncu-rep", asRange],
  ["a graph", "r1.ncu-rep", asGraph],
  ["a graph", "gpm.ncu-rep", asGraph],
] as const)("sections show of %s of %s what ncu shows of them", async (_, name, made) => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-sections-oracle-"));
  try {
    const report = join(directory, "made.ncu-rep");
    writeFileSync(report, made(sample?.(name) ?? ""));
    const env = { ...process.env, ...nsightEnvironment(), LC_ALL: "C.UTF-8" };
    const page = ["--csv", "--page", "details", "--print-metric-name", "name"];
    const table = join(directory, "details.csv");
    const args = ["--import", report, ...page, "--print-units", "base"];
    writeFileSync(table, execFileSync(ncu ?? "", args, { env, maxBuffer: 1e8 }));
    const printed = shown(await readNcuCsv(table));
    expect(printed.length).toBeGreaterThan(2);
    expect(shown(readNcuReport(report))).toEqual(printed);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
