import { describe, expect, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
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
