import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printableLabel } from "../../../src/foundation/text/printable.ts";
import { CONTRACT } from "../../../src/report/model/document.ts";
import { renderHtmlReport } from "../../../src/report/render/report-page.ts";
import { twoLibraries } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { anyName, bundleOf, firstReport, hostileNames, largeBundle, resnet } from "../bundles.ts";
import { dataOf, valuesOf } from "./page.ts";

/** The most that a page may have. */
const MB = 2_000_000;
const render = (bundle: Parameters<typeof renderHtmlReport>[0], title = "Report") =>
  renderHtmlReport(bundle, { title });

const named = (names: readonly string[]) =>
  bundleOf([
    { pid: 1, ranges: names.map((name, at) => ({ name, start: at * 10, end: at * 10 + 9 })) },
  ]);

/** Elements of the page: what a parser would make of it, names included. */
const elementsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<([a-z!][a-z0-9-]*)/gi)].map(([, tag = ""]) => tag.toLowerCase());

describe("renderHtmlReport", () => {
  it("holds the numbers of the report", () => {
    const bundle = bundleOf([resnet], { operationDomains: ["shallow_resnet.ops"] });
    const { strings, scopes } = dataOf(render(bundle));
    // One process on one device: the three reports say the same.
    expect(scopes).toHaveLength(1);
    const [scope] = scopes;
    const { regions } = firstReport(bundle);
    expect(scope?.regions.label.map((index) => strings[index])).toEqual(
      regions.map(({ name }) => name),
    );
    expect(scope?.regions.parent).toEqual([-1, 0, 0, 2, 2]);
    expect(valuesOf(scope, "Wall ms")).toEqual(regions.map(({ wall_ms }) => wall_ms));
    expect(valuesOf(scope, "Total excl. ms")).toEqual(
      regions.map(({ exclusive_ms }) => exclusive_ms),
    );
    expect(scope?.kernels.slice(1).map(({ calls }) => calls)).toEqual(
      regions.map(({ kernels }) => kernels.map(({ calls }) => calls)),
    );
    expect(scope?.kernelWords).toBe("CPU operations");
  });

  it("has tables of the calls of CUDA and of the system, where they were recorded", () => {
    const bundle = named(["step"]);
    const call = { name: "cudaMalloc", calls: 2, total_ms: 3, min_ms: 1, max_ms: 2 };
    const called = {
      ...bundle,
      reports: bundle.reports.map((report) => ({
        ...report,
        regions: report.regions.map((region) => ({
          ...region,
          host_calls: [{ ...call, api: "cuda" as const }],
        })),
      })),
    };
    const html = render(called);
    expect(html).toContain("CUDA API calls</h2>");
    expect(html).toMatch(/cudaMalloc.*1\.500.*1\.000.*2\.000.*step/s);
    expect(html).not.toContain("OS runtime calls");
    expect(render(bundle)).not.toContain("CUDA API calls");
  });

  it("lists families, with their longest member, and links the answer to them", () => {
    const steps = Array.from({ length: 30 }, (_, at) => ({
      name: `step ${at}`,
      start: at * 1_000_000,
      end: at * 1_000_000 + (at === 7 ? 900_000 : 600_000),
    }));
    const html = render(bundleOf([{ pid: 1, ranges: steps }]));
    expect(html).toMatch(/<section id="families".*<h2 id="families-heading">Families<\/h2>/);
    expect(html).toMatch(
      /<th scope="row">step #<\/th><td class="right">30<\/td>.*<a class="to-region" href="#region=step%207">step 7<\/a>/,
    );
    expect(html).toContain('<a href="#families">step #</a>');
    expect(render(named(["step", "save"]))).not.toContain("#families");
  });

  it("keeps the reports of several processes apart", () => {
    const { scopes } = dataOf(render(bundleOf([resnet, { ...resnet, pid: 4712 }])));
    expect(scopes.map(({ scope }) => scope)).toEqual(["aggregate", "process:4711"]);
    const different = { ...resnet, pid: 4712, ranges: resnet.ranges?.slice(0, 3) ?? [] };
    expect(dataOf(render(bundleOf([resnet, different]))).scopes.map(({ scope }) => scope)).toEqual([
      "aggregate",
      "process:4711",
      "process:4712",
    ]);
  });

  it("says what it leaves out of many processes, sections and values of the configuration", () => {
    const processes = Array.from({ length: 70 }, (_, at) => ({
      pid: at + 1,
      ranges: [{ name: `of ${at}`, start: 0, end: at + 1 }],
    }));
    const all = bundleOf(processes);
    const { scopes } = dataOf(render(all));
    expect(render(all)).toContain(
      `${all.reports.length - scopes.length} reports of single processes and devices not shown`,
    );
    expect(render(bundleOf(processes.slice(0, 3)))).not.toContain("not shown");

    const config = Array.from({ length: 2003 }, (_, at) => ({
      key: `k${at}`,
      value: "1",
      origin: "conf/config.yaml:1",
    }));
    const shown = (lines: typeof config) =>
      /Configuration \((.*?)\)/.exec(
        renderHtmlReport(bundleOf([resnet]), { title: "Report", config: lines }),
      )?.[1];
    expect(shown(config)).toMatch(/^2,?003 values, .*; 3 more in config\.yaml$/);
    expect(shown(config.slice(0, 2))).toBe("2 values, with where each comes from");
  });

  it("lets only its own script and style run, and loads nothing", () => {
    const html = render(bundleOf([resnet]));
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const hash = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(policy).toContain(`script-src ${hash(/<script>(.*)<\/script>/s.exec(html)?.[1])};`);
    expect(policy).toContain(`style-src ${hash(/<style>(.*?)<\/style>/s.exec(html)?.[1])};`);
    expect(html).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//);
  });

  it("makes no element of any name", () => {
    const plain = elementsOf(
      render(named(hostileNames.map((_, index) => `name ${"x".repeat(index + 1)}`))),
    );
    expect(elementsOf(render(named(hostileNames), hostileNames[0]))).toEqual(plain);
    fc.assert(
      fc.property(fc.uniqueArray(anyName, { minLength: 1, maxLength: 4 }), (names) => {
        const html = render(named(names), names[0] ?? "");
        const like = named(names.map((_, index) => `name ${"x".repeat(index + 1)}`));
        expect(elementsOf(html)).toEqual(elementsOf(render(like)));
        const { strings } = dataOf(html);
        for (const name of names) expect(strings).toContain(printableLabel(name, 240));
      }),
      { numRuns: runs(60) },
    );
  });

  it("stays under 2 MB with 1,000 regions and 100,000 kernel records, and says what it folds", () => {
    const html = render(largeBundle(1000, 100));
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MB);
    const [scope] = dataOf(html).scopes;
    expect(scope?.regions.label).toHaveLength(1000);
    const kept = scope?.kernels.reduce((sum, { name }) => sum + name.length, 0);
    expect(kept).toBe(10_000);
    expect(html).toMatch(/only the 10000 longest of \d+ kernel records are shown/);
    // What is folded is not lost: every region's list adds up to what it was.
    const first = largeBundle(1000, 100).reports[0]?.regions[5];
    const list = scope?.kernels[6];
    const shown =
      (list?.total ?? []).reduce<number>((sum, ms) => sum + (ms ?? 0), 0) +
      (list?.other?.total ?? 0);
    const whole = first?.kernels.reduce((sum, { total_ms }) => sum + (total_ms ?? 0), 0) ?? 0;
    expect(shown / whole).toBeCloseTo(1, 5);
  });

  it("leaves metrics of the machine out before those of kernels", () => {
    const many = largeBundle(500, 1);
    const metrics = Object.fromEntries(
      Array.from({ length: 600 }, (_, at) => [
        `${at % 2 === 0 ? "device__attribute" : "sm__op"}_${at}`,
        { value: at / 7, unit: "" },
      ]),
    );
    const reports = many.reports.map((report) => ({
      ...report,
      regions: report.regions.map((region) => ({ ...region, metrics })),
    }));
    const html = render({ ...many, reports });
    const shown = dataOf(html).scopes[0]?.metrics.map(({ name }) => name) ?? [];
    expect(shown).toHaveLength(400);
    expect(html).toContain("200 metrics not shown");
    expect(shown.slice(0, 300).filter((name) => name.startsWith("device"))).toEqual([]);
  });

  it.each([
    ["long names", largeBundle(1000, 10), "x".repeat(10_000)],
    ["very many regions", largeBundle(30_000, 1), ""],
  ])("stays under 2 MB with %s", (_, bundle, suffix) => {
    const long = {
      ...bundle,
      reports: bundle.reports.map((report) => ({
        ...report,
        notes: Array.from({ length: 3000 }, (_, at) => `note ${at} ${suffix}`),
        regions: report.regions.map((region, at) => ({
          ...region,
          kernels: region.kernels.map((kernel) => ({
            ...kernel,
            kernel_name: `${at}${kernel.kernel_name}${suffix}`,
          })),
        })),
      })),
    };
    const html = renderHtmlReport(long, { title: suffix, files: ["report.json"] });
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(MB);
    expect(html).toContain('id="left-out"');
  });

  it("has regions inside of the range around them, also where only a domain tells it", () => {
    const { strings, scopes } = dataOf(render(bundleOf([twoLibraries])));
    const { label = [], parent = [] } = scopes[0]?.regions ?? {};
    expect(label.map((at) => strings[at])).toEqual(["step @A", "load @io", "step @B", "load @io"]);
    expect(parent).toEqual([-1, 0, -1, 2]);
  });

  it("shows an empty report", () => {
    expect(render({ contract: CONTRACT, reports: [] })).toContain("No reports.");
    expect(dataOf(render(bundleOf([{ pid: 1, ranges: [] }]))).scopes[0]?.regions.label).toEqual([]);
  });
});
