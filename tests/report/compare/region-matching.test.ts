import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { waterfallOf } from "../../../src/report/compare/comparison.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { keysOfBoth, regionsByKey } from "../../../src/report/compare/region-matching.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
} from "../../../src/report/model/document.ts";
import { type ProcessSketch, twoLibraries } from "../../profiler/analysis/timelines.ts";
import { bundleOf, firstReport, regionNamed, resnet } from "../bundles.ts";

const sample = regionNamed(bundleOf([resnet]), "forward");
const region = (...path: readonly string[]): NCUProfileRegion => ({ ...sample, path });
const order = (a: readonly NCUProfileRegion[], b: readonly NCUProfileRegion[]) => {
  const known = regionsByKey([...a, ...b]);
  return keysOfBoth(a, b).map((key) => known.get(key)?.path.join("/"));
};

describe("the order of the regions of two reports", () => {
  it("has what only the first has behind what stands before it there", () => {
    expect(order([region("x"), region("gone"), region("y")], [region("x"), region("y")])).toEqual([
      "x",
      "gone",
      "y",
    ]);
    expect(order([region("gone"), region("x")], [region("x"), region("new")])).toEqual([
      "gone",
      "x",
      "new",
    ]);
  });

  it("takes regions of one path for two where their domains or kinds differ", () => {
    const x = region("x");
    expect(keysOfBoth([x], [{ ...x, domain: "other" }])).toHaveLength(2);
    expect(keysOfBoth([x], [{ ...x, kind: "start_end" }])).toHaveLength(2);
    expect(order([x, { ...x, domain: "other" }], [x, region("x", "below")])).toEqual([
      "x",
      "x/below",
      "x",
    ]);
  });

  it("may hold more regions than a call takes arguments", () => {
    const gone = Array.from({ length: 150_000 }, (_, at) => region(`step ${at}`));
    const keys = keysOfBoth([region("first"), ...gone], [region("first")]);
    expect(keys).toHaveLength(150_001);
    expect(keys.at(-1)).toContain("step 149999");
  });
});

const only = (domain: string): ProcessSketch => ({
  ranges: [
    { name: "step", start: 0, end: 10_000_000, domain },
    { name: "load", start: 1_000_000, end: 4_000_000, domain: "io" },
  ],
});
const reportOf = (sketch: ProcessSketch) => firstReport(bundleOf([sketch]));
const changes = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
  compareReports(a, b).regions.map(({ path, domain, path_domains = [domain], presence }) => [
    path.map((name, level) => `${name}@${path_domains[level] ?? "?"}`).join("/"),
    presence,
  ]);

describe("regions of two reports", () => {
  it("are the same where names and domains along their paths are", () => {
    const both = reportOf(twoLibraries);
    expect(changes(both, both).map(([, presence]) => presence)).toEqual(Array(4).fill("both"));
    expect(changes(both, reportOf(only("B")))).toEqual(
      [
        ["step@B", "both"],
        ["step@B/load@io", "both"],
        ["step@A", "removed"],
        ["step@A/load@io", "removed"],
      ].sort(([a = ""], [b = ""]) => Number(a.includes("@B")) - Number(b.includes("@B"))),
    );
    expect(
      changes(reportOf(only("A")), reportOf(only("B"))).map(([, presence]) => presence),
    ).toEqual(["removed", "removed", "added", "added"]);
  });

  it("can each be named in a gate, by its path with domains", () => {
    const comparison = compareReports(reportOf(twoLibraries), reportOf(twoLibraries));
    const reasons = (gate: string) =>
      checkGates(parseGates(gate), comparison).map(({ reason }) => reason.split(":")[0]);
    expect(reasons("region:load.total_ms>5%")).toEqual([
      "total_ms of region step @A / load @io",
      "total_ms of region step @B / load @io",
    ]);
    expect(reasons('region:"step / load".total_ms>5%')).toHaveLength(2);
    expect(reasons('region:"step @B / load @io".total_ms>5%')).toEqual([
      "total_ms of region step @B / load @io",
    ]);
  });
});

/** Ranges one after the other on one thread, in ms; `outer/inner` is inside the range before it. */
function reportInARow(
  ranges: readonly (readonly [path: string, ms: number])[],
  fold: number | null = 128,
): NCUProfileRegionReport {
  const ends: number[] = [0];
  const sketches = ranges.map(([path, ms]) => {
    const depth = path.split("/").length - 1;
    const start = ends[depth] ?? 0;
    ends.length = depth + 1;
    ends[depth] = start + ms * 1e6;
    ends.push(start);
    return { name: path.split("/").at(-1) ?? "", start, end: start + ms * 1e6 };
  });
  return firstReport(bundleOf([{ pid: 1, ranges: sketches }], { labels: { fold } }));
}
const many = (count: number, name: string, ms: number) =>
  Array.from({ length: count }, (_, at) => [`${name} ${at}`, ms] as const);

describe("families of two reports", () => {
  const pathsOf = (regions: readonly { readonly path: readonly string[] }[]) =>
    regions.map(({ path }) => path.join(" / "));

  it("match a family of which each report has other members, or that one folds", () => {
    for (const [inA, inB] of [
      [30, 33],
      [128, 129],
      [129, 128],
    ] as const) {
      const { regions, families } = compareReports(
        reportInARow([...many(inA, "aten::gelu, seq", 1), ["save", 20]]),
        reportInARow([...many(inB, "aten::gelu, seq", 1), ["save", 20]]),
      );
      expect(pathsOf(regions)).toEqual(["aten::gelu, seq #", "save"]);
      expect(families).toEqual([]);
      expect(regions[0]).toMatchObject({
        presence: "both",
        changes: { wall_ms: { a: inA, b: inB }, invocations: { a: inA, b: inB } },
      });
    }
  });

  it("show members that both have, and judge the family", () => {
    const of = (slow: number) =>
      reportInARow([
        ["layer 1", 10],
        ["layer 2", slow],
        ["layer 3", 10],
        ["save", 5],
      ]);
    const reports = compareReports(of(10), of(30));
    expect(pathsOf(reports.regions)).toEqual(["layer 1", "layer 2", "layer 3", "save"]);
    expect(reports.members).toEqual([]);
    expect(reports.families).toMatchObject([
      { path: ["layer #"], members: { a: 3, b: 3 }, changes: { wall_ms: { a: 30, b: 50 } } },
    ]);
    expect(waterfallOf(reports, 9)?.parts.map(({ label, ms }) => [label, ms])).toEqual([
      ["layer # (layer 2 alone +20.000 ms)", 20],
    ]);
    const reasons = (text: string) =>
      checkGates(parseGates(text), reports).map(({ reason }) => reason);
    expect(reasons("region:*.wall_ms>5%").map((text) => text.replace(/:.*/, ""))).toEqual([
      "wall_ms of region layer #",
      "wall_ms of region save",
    ]);
    expect(reasons("region:layer #.wall_ms>5%")).toEqual([
      expect.stringMatching(/^wall_ms of region layer #: 30 -> 50 /),
    ]);
    expect(reasons("region:layer 2.wall_ms>5%")).toEqual([
      expect.stringMatching(/^wall_ms of region layer 2: 10 -> 30 /),
    ]);
  });

  it("find a member by its label also where the table has the family alone", () => {
    const reports = compareReports(
      reportInARow(many(3, "step", 10)),
      reportInARow([...many(3, "step", 10), ["step 7", 10]]),
    );
    expect(pathsOf(reports.regions)).toEqual(["step #"]);
    expect(pathsOf(reports.members)).toEqual(["step 0", "step 1", "step 2", "step 7"]);
    const [result] = checkGates(parseGates("region:step 2.wall_ms>5%"), reports);
    expect(result?.reason).toMatch(/^wall_ms of region step 2: 10 -> 10 /);
  });

  it("are one region where as many members have other names, beside one with the same", () => {
    const of = (step: string) =>
      reportInARow([
        ["step 1", 10],
        [step, 10],
        ["layer 1", 5],
        ["layer 2", 5],
      ]);
    const reports = compareReports(of("step 2"), of("step 3"));
    expect(pathsOf(reports.regions)).toEqual(["step #", "layer 1", "layer 2"]);
    expect(pathsOf(reports.families)).toEqual(["layer #"]);
    expect(pathsOf(reports.members)).toEqual(["step 1", "step 2", "step 3"]);
  });

  it("stand with those inside them where the members stand", () => {
    const of = (...steps: readonly number[]) =>
      reportInARow([
        ["init", 1],
        ...steps.flatMap((step) => [
          [`step ${step}`, 10] as const,
          [`step ${step}/load`, 4] as const,
        ]),
        ["save", 1],
      ]);
    const same = compareReports(of(1, 2), of(1, 2));
    expect(pathsOf(same.regions)).toEqual([
      ...["init", "step 1", "step 1 / load", "step 2", "step 2 / load", "save"],
    ]);
    expect(pathsOf(same.families)).toEqual(["step #", "step # / load"]);
    expect(same.regions.map(({ presence }) => presence)).toEqual(Array(6).fill("both"));
    const other = compareReports(of(1, 2), of(1, 2, 3));
    expect(pathsOf(other.regions)).toEqual(["init", "step #", "step # / load", "save"]);
    expect(other.families).toEqual([]);
    expect(pathsOf(other.members)).toEqual([
      ...["step 1", "step 1 / load", "step 2", "step 2 / load", "step 3", "step 3 / load"],
    ]);
  });

  it("are no family where a report has members without one", () => {
    const { families: _, ...before } = reportInARow(many(2, "step", 10));
    const after = reportInARow(many(3, "step", 10));
    for (const [a, b] of [
      [before, after],
      [after, before],
    ] as const) {
      const reports = compareReports(a, b);
      expect(pathsOf(reports.regions)).toEqual(["step 0", "step 1", "step 2"]);
      expect([reports.families, reports.members]).toEqual([[], []]);
    }
  });

  it("give one region of each report one name", () => {
    const of = (name: string, ms: number) =>
      reportInARow([
        [name, ms],
        ["save", 1],
      ]);
    expect(compareReports(of("batch 32", 10), of("batch 64", 20)).regions).toMatchObject([
      { path: ["batch #"], presence: "both" },
      { path: ["save"] },
    ]);
    expect(compareReports(of("batch 32", 10), of("batch 32", 20)).regions).toMatchObject([
      { path: ["batch 32"], presence: "both" },
      { path: ["save"] },
    ]);
  });

  it("keep the labels that both have at a level of their paths", () => {
    const of = (epoch: string, ...steps: readonly string[]) =>
      reportInARow([[epoch, 50], ...steps.map((step) => [`${epoch}/${step}`, 10] as const)]);
    const paths = (a: NCUProfileRegionReport, b: NCUProfileRegionReport) =>
      pathsOf(compareReports(a, b).regions);
    expect(paths(of("epoch 1", "step 2"), of("epoch 1", "step 3"))).toEqual([
      ...["epoch 1", "epoch 1 / step #"],
    ]);
    expect(paths(of("epoch 1", "step 2"), of("epoch 2", "step 2"))).toEqual([
      ...["epoch #", "epoch # / step 2"],
    ]);
    expect(paths(of("epoch 1", "load"), of("epoch 2", "load"))).toEqual([
      ...["epoch #", "epoch # / load"],
    ]);
    // Of three labels, two that are the same do not make it that of all.
    expect(paths(of("e", "x 1", "y"), of("e", "x 2", "y"))).toEqual(["e", "e / x #", "e / y"]);
    const [region] = compareReports(of("epoch 1", "step 2"), of("epoch 1", "step 3")).regions.slice(
      1,
    );
    expect(region).toMatchObject({ family: ["epoch #", "step #"], presence: "both" });
  });
});
