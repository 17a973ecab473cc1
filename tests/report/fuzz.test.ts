/** Names and numbers of every kind through every writer: what comes out is what its readers can read. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { textWidth } from "../../src/foundation/text/text-width.ts";
import { renderCsv } from "../../src/pages/csv.ts";
import { renderChromeTrace } from "../../src/profiler/run/chrome-trace.ts";
import { renderSpeedscope } from "../../src/profiler/run/speedscope.ts";
import { compareReports } from "../../src/report/compare/compare-reports.ts";
import { type Comparison, comparisonJsonPieces } from "../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../src/report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../src/report/compare/comparison-markdown.ts";
import { renderComparison } from "../../src/report/compare/comparison-terminal.ts";
import { checkGates, parseGates } from "../../src/report/compare/gates.ts";
import {
  type RunSummary,
  renderBundleJson,
  renderKernelsMarkdown,
  renderRegionMarkdown,
  renderRegionTable,
  renderRunMarkdown,
  renderStakeholderSummary,
} from "../../src/report/index.ts";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/model/document.ts";
import { renderHtmlReport } from "../../src/report/render/report-page.ts";
import { renderSectionsText } from "../../src/report/render/sections-text.ts";
import { buildSweepReport, jobReport } from "../../src/report/sweep/build-sweep-report.ts";
import type { SweepReport } from "../../src/report/sweep/sweep-types.ts";
import {
  renderSweepCsv,
  renderSweepHtml,
  renderSweepMarkdown,
  sweepJsonPieces,
} from "../../src/report/sweep/writers.ts";
import { createDocumentValidator } from "../../src/report/validation/document-contracts.ts";
import { kernelRecords, regionRecords } from "../../src/report/view/region-records.ts";
import { regionLabels } from "../../src/report/view/tree-rows.ts";
import { timelineOf } from "../profiler/analysis/timelines.ts";
import { runs } from "../runs.ts";
import { anyName, bundleOf, firstReport } from "./bundles.ts";
import { joined } from "./joined.ts";
import { readCsv } from "./read-csv.ts";

const name: fc.Arbitrary<string> = fc.oneof(
  anyName,
  fc.constantFrom(
    "=cmd|' /C calc'!A0",
    "+1+1",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\u202e\u2066exe.txt",
    "\u001b]0;title\u0007\u001b[2J\u001b[31m",
    "\u009b31m",
    "</script><script>alert(1)</script>",
    "]]> --> ' \" &",
    "\udc00\ud800",
    "| --- |",
    "``` `` `",
    "</td></tr></table>",
    "漢".repeat(10_000),
    "__proto__",
    "constructor",
    "\u2028\u2029",
  ),
);

/** Milliseconds as no clock gives them. */
const ms: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, 5e-324, 1e-300, 1e-9, 0.0004, 0.0005, 0.1, 1, 999.9995, 1e15, 1e21, 1e300),
  fc.double({ min: 0, max: 1e6, noNaN: true }),
);
const perhaps = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.option(value, { nil: null });

/** A report as the builder makes it, with other numbers. */
const anyBundle: fc.Arbitrary<RegionReportBundle> = fc
  .array(
    fc.record({
      label: name,
      kernel: name,
      domain: fc.oneof(fc.constant(""), name),
      metric: name,
      unit: fc.oneof(fc.constantFrom("", "ns", "%", "byte"), name),
      note: name,
      total: perhaps(ms),
      wall: perhaps(ms),
      // JSON has no negative zero.
      value: perhaps(fc.double({ noNaN: true, noDefaultInfinity: true }).map((x) => x + 0)),
    }),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => {
    const bundle = bundleOf([
      {
        pid: 1,
        ranges: parts.map(({ label, domain }, at) => ({
          name: label,
          domain,
          start: at,
          end: 100 - at,
        })),
        kernels: parts.map(({ kernel }, at) => ({ name: kernel, launch: at, ns: 5 })),
      },
    ]);
    const change = (region: NCUProfileRegion, at: number): NCUProfileRegion => {
      const part = parts[at % parts.length];
      if (part === undefined) return region;
      const { total, wall, metric, unit, value, note } = part;
      return {
        ...region,
        total_ms: total,
        exclusive_ms: total,
        wall_ms: wall,
        wall_exclusive_ms: wall,
        invocation_wall_ms: wall === null ? null : { min: 0, median: wall, p95: wall, max: wall },
        metrics: Object.fromEntries([[metric, { value, unit }]]),
        sections: Object.fromEntries([[metric, { [unit]: value, text: note }]]),
        kernels: region.kernels.map((kernel) => ({
          ...kernel,
          total_ms: total ?? 0,
          mean_ms: total ?? 0,
        })),
        notes: [note],
      };
    };
    return {
      ...bundle,
      reports: bundle.reports.map((report) => ({
        ...report,
        totals: {
          ...report.totals,
          total_ms: parts[0]?.total ?? null,
          wall_ms: parts[0]?.wall ?? null,
        },
        environment: {
          ...report.environment,
          hostname: parts[0]?.label ?? "",
          cpu: parts[0]?.kernel ?? "",
          command: parts.map(({ label }) => label),
        },
        regions: report.regions.map(change),
        notes: parts.map(({ note }) => note),
      })),
    };
  });

const runOf = (bundle: RegionReportBundle): RunSummary => ({
  sections: [
    { collector: "recorder", directory: "recorder", bundle, regionDirectories: new Map() },
  ],
  notes: firstReport(bundle).notes,
});

const comparisonOf = (a: RegionReportBundle, b: RegionReportBundle): Comparison => {
  const reports = compareReports(firstReport(a), firstReport(b));
  return {
    names: { a: firstReport(a).notes[0] ?? "", b: firstReport(b).notes[0] ?? "" },
    reports,
    config: firstReport(a).notes.map((note) => ({ key: note, a: null, b: note })),
    gates: checkGates(
      parseGates(
        Object.keys(reports.totals)
          .map((key) => `${key}>5%`)
          .join(),
      ),
      reports,
    ),
  };
};

const sweepOf = (bundles: readonly RegionReportBundle[]): SweepReport =>
  buildSweepReport(
    bundles.map((bundle, at) => {
      const { notes } = firstReport(bundle);
      return {
        name: `${at}${notes[0]}`,
        overrides: [`n=${at + 1}`, `text=${notes[0]}`],
        result:
          at === 2
            ? { report: null, problem: notes[0] ?? "" }
            : { report: jobReport(firstReport(bundle)) },
      };
    }),
    { collector: "recorder", generatedAt: new Date(0) },
  );

/** What no reader of a report should meet: numbers that are none, objects as text. */
const NONSENSE = /\bNaN\b|\bInfinity\b|\[object |\bundefined\b/;

/** The first place that fits, with what stands around it; null where there is none. */
function around(text: string, wrong: RegExp): string | null {
  const found = wrong.exec(text);
  return found === null ? null : text.slice(Math.max(0, found.index - 60), found.index + 60);
}

/** Text that terminals and pages show as it stands: no controls, marks of direction, half characters. */
function expectPlain(text: string): void {
  expect(around(text, /[^\P{Cc}\n]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)).toBeNull();
  expect(around(text, NONSENSE)).toBeNull();
}

/** Markdown with no markup of names: tables stay tables, and nothing is HTML. */
function expectMarkdown(text: string): void {
  expectPlain(text);
  // The command line is code, in which nothing is markup; its fences have tests of their own.
  expect(around(text.replaceAll(/^\| Command \|.*$/gm, ""), /<[a-z!/]/i)).toBeNull();
  let columns = 0;
  for (const line of text.split("\n")) {
    const bars = line.startsWith("| ") ? line.replaceAll(/\\./g, "").split("|").length : 0;
    if (columns !== 0 && bars !== 0) expect(bars, line.slice(0, 200)).toBe(columns);
    columns = bars;
  }
}

/** A page whose elements are ours alone, and whose data can be read. */
function expectPage(html: string): void {
  expectPlain(html);
  const scripts = [...html.matchAll(/<script[^>]*>(.*?)<\/script>/gs)];
  expect(scripts).toHaveLength(2);
  expect(() => JSON.parse(scripts[0]?.[1] ?? "")).not.toThrow();
  const withoutBars = html.replaceAll(
    /<svg viewBox="0 0 \d+ 20" preserveAspectRatio="none" aria-hidden="true">/g,
    "",
  );
  expect(withoutBars.match(/<(?:img|iframe|b|object|svg)\b/gi)).toBeNull();
  expect(html.match(/<\/(?:html|body|style)>/gi)).toHaveLength(3);
}

/** A table that every CSV reader reads, and no spreadsheet computes. */
function expectCsv(pieces: Iterable<string>): void {
  const rows = readCsv([...pieces].join(""));
  expect(new Set(rows.map((cells) => cells.length)).size).toBe(1);
  for (const cell of rows.flat()) {
    expect(cell).not.toMatch(/^[=+@\t\r]/);
    // A minus begins numbers, and nothing else.
    if (cell.startsWith("-")) expect(Number.isFinite(Number(cell))).toBe(true);
    expect(cell === "NaN" || cell === "Infinity").toBe(false);
  }
}

const validator = createDocumentValidator();
const ASSETS = { script: "", style: "" };
const options = (usual: number) => ({ numRuns: runs(usual) });

describe("any names and numbers", () => {
  it("are plain text on a terminal, of any width", () => {
    fc.assert(
      fc.property(anyBundle, anyBundle, fc.integer({ min: 20, max: 200 }), (a, b, width) => {
        const table = renderRegionTable(firstReport(a), { width });
        expectPlain(table);
        for (const [before, after] of [
          [a, b],
          [b, a],
        ] as const)
          expectPlain(
            renderComparison(comparisonOf(before, after), {
              width,
              color: false,
              regions: 60,
              kernels: 9,
            }),
          );
        // Numbers are never cut; where there is room for them, so is there for all of the line.
        const [heading = ""] = table.split("\n");
        for (const line of table.split("\n").slice(1, -2))
          expect(textWidth(line)).toBeLessThanOrEqual(Math.max(width, textWidth(heading), 60));
        const { regions } = firstReport(a);
        const labelOf = regionLabels(regions);
        for (const region of regions)
          expectPlain(renderSectionsText(region, labelOf(region)) ?? "");
      }),
      options(60),
    );
  });

  it("are text in Markdown", () => {
    fc.assert(
      fc.property(anyBundle, anyBundle, (a, b) => {
        expectMarkdown(renderRegionMarkdown(a, { title: firstReport(a).notes[0] ?? "" }));
        expectMarkdown(renderKernelsMarkdown(runOf(a)));
        expectMarkdown(renderRunMarkdown(runOf(a)));
        expectMarkdown(renderStakeholderSummary(runOf(a)));
        expectMarkdown(joined(comparisonMarkdownPieces(comparisonOf(a, b))));
        expectMarkdown(joined(comparisonMarkdownPieces(comparisonOf(b, a))));
        expectMarkdown(renderSweepMarkdown(sweepOf([a, b, a])));
      }),
      options(60),
    );
  });

  it("are text in pages", () => {
    fc.assert(
      fc.property(anyBundle, anyBundle, (a, b) => {
        const title = firstReport(a).notes[0] ?? "";
        const config = [{ key: title, value: title, origin: title }];
        expectPage(renderHtmlReport(a, { title, config, files: [title], assets: ASSETS }));
        expectPage(renderComparisonHtml(comparisonOf(a, b), ASSETS));
        expectPage(renderSweepHtml(sweepOf([a, b, a]), ASSETS));
      }),
      options(40),
    );
  });

  it("are cells in CSV", () => {
    fc.assert(
      fc.property(anyBundle, anyBundle, (a, b) => {
        expectCsv(renderCsv(regionRecords(a)));
        expectCsv(renderCsv(kernelRecords(a)));
        expectCsv(renderSweepCsv(sweepOf([a, b, a])));
      }),
      options(60),
    );
  });

  it("come back from JSON as they were, under the contract", () => {
    fc.assert(
      fc.property(anyBundle, anyBundle, (a, b) => {
        expect(JSON.parse(renderBundleJson(a))).toEqual(a);
        const sweep = sweepOf([a, b, a]);
        const written = joined(sweepJsonPieces(sweep));
        expect(JSON.parse(written)).toEqual(sweep);
        expect(validator.validate(JSON.parse(written))).toEqual([]);
        const compared = JSON.parse(joined(comparisonJsonPieces(comparisonOf(a, b))));
        expect(validator.validate(compared)).toEqual([]);
      }),
      options(60),
    );
  });

  it("are names of slices and frames in timelines", () => {
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), (names) => {
        const timeline = timelineOf([
          {
            pid: 1,
            ranges: names.map((label, at) => ({ name: label, start: at, end: 1000 - at })),
            kernels: names.map((label, at) => ({ name: label, launch: at, ns: 5 })),
          },
        ]);
        const trace = JSON.parse([...renderChromeTrace(timeline)].join(""));
        const slices: readonly { ph: string; cat: string; name: string }[] = trace.traceEvents;
        expect(
          slices.flatMap((slice) =>
            slice.ph === "X" && slice.cat !== "kernel" ? [slice.name] : [],
          ),
        ).toEqual(names);
        const scope = JSON.parse([...renderSpeedscope(timeline, names[0] ?? "")].join(""));
        const frames = scope.shared.frames.map((frame: { name: string }) => frame.name);
        expect(new Set(frames)).toEqual(new Set(names));
        for (const { events } of scope.profiles) {
          const open: number[] = [];
          for (const { type, frame } of events)
            if (type === "O") open.push(frame);
            else expect(open.pop()).toBe(frame);
          expect(open).toEqual([]);
        }
      }),
      options(60),
    );
  });
});
