import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  assertValid,
  CONTRACTS,
  createReportValidator,
  type NCUProfileRegionReport,
  type ReportIssue,
} from "../../../src/report/index.ts";
import { anyRanges, twoLibraries, wellNested } from "../../profiler/analysis/timelines.ts";
import { runs } from "../../runs.ts";
import { bundleOf, resnet } from "../bundles.ts";

type Json = Record<string, unknown>;

const validator = createReportValidator();

/** The issues after one change to a valid document. */
function issuesAfter(change: (document: Json, report: Json, region: Json) => void): ReportIssue[] {
  // Through JSON: what reports share would otherwise change in all of them.
  const document: Json = JSON.parse(JSON.stringify(bundleOf([resnet])));
  const report = (document["reports"] as Json[])[0] ?? {};
  const region = (report["regions"] as Json[])[3] ?? {};
  change(document, report, region);
  return [...validator.validate(document)];
}

const inRegion = "/reports/0/regions/3";

describe("the schema", () => {
  it.each<[string, (document: Json, report: Json, region: Json) => void, string, string, string]>([
    [
      "a missing property",
      (_, __, region) => delete region["wall_ms"],
      inRegion,
      'property "wall_ms" is missing',
      "the property to be present",
    ],
    [
      "an unknown property",
      (_, report) => Object.assign(report, { "extra/~": 1 }),
      "/reports/0/extra~1~0",
      "this property is unknown",
      "one of scope, regions, families, kernels_of, totals, ranks, kernel_repeats, unshown_regions, generated_at, config_fingerprint, collector, environment, selection, failure, notes",
    ],
    [
      "a wrong type",
      (_, __, region) => Object.assign(region, { name: 7 }),
      `${inRegion}/name`,
      "7 does not fit",
      "a string",
    ],
    [
      "a negative time",
      (_, __, region) => Object.assign(region, { wall_ms: -1 }),
      `${inRegion}/wall_ms`,
      "-1 does not fit",
      "at least 0",
    ],
    [
      "an unknown kind",
      (_, __, region) => Object.assign(region, { kind: "gpu" }),
      `${inRegion}/kind`,
      '"gpu" does not fit',
      "one of push_pop, start_end, outside",
    ],
    [
      "a contract of another version",
      (document) => Object.assign(document, { contract: "hydraconf.region-report/2.0" }),
      "/contract",
      '"hydraconf.region-report/2.0" is not supported by hydraconf 0.1.0',
      `one of ${CONTRACTS.join(", ")}`,
    ],
    [
      "a field inside optional statistics",
      (_, __, region) =>
        Object.assign(region, { invocation_wall_ms: { min: "x", median: 1, max: 1, p95: 1 } }),
      `${inRegion}/invocation_wall_ms/min`,
      '"x" does not fit',
      "a number",
    ],
    [
      "a fingerprint that is none",
      (_, report) => Object.assign(report, { config_fingerprint: "" }),
      "/reports/0/config_fingerprint",
      '"" does not fit',
      "a string like /^sha256:[0-9a-f]{64}$/",
    ],
    [
      "a time that is none",
      (_, report) => Object.assign(report, { generated_at: "yesterdayZ" }),
      "/reports/0/generated_at",
      '"yesterdayZ" does not fit',
      "a string in the format date-time",
    ],
    [
      "a number that is no text and not null",
      (_, __, region) => Object.assign(region, { parent: 7 }),
      `${inRegion}/parent`,
      "7 does not fit",
      "a string or null",
    ],
    [
      "a number in place of optional statistics, once",
      (_, __, region) => Object.assign(region, { invocation_wall_ms: 7 }),
      `${inRegion}/invocation_wall_ms`,
      "7 does not fit",
      "a mapping",
    ],
    [
      "an object, without all that is in it",
      (_, __, region) => Object.assign(region, { name: { first: "a", second: "b" } }),
      `${inRegion}/name`,
      "an object does not fit",
      "a string",
    ],
    [
      "the beginning of a text that is longer than a line",
      (_, __, region) => Object.assign(region, { kind: "x".repeat(100) }),
      `${inRegion}/kind`,
      `"${"x".repeat(78)}… does not fit`,
      "one of push_pop, start_end, outside",
    ],
  ])("reports %s with place and expectation", (_, change, pointer, message, expected) => {
    expect(issuesAfter(change)).toEqual([{ pointer, message, expected }]);
  });

  it("reports all errors at once", () => {
    const issues = issuesAfter((document, report, region) => {
      delete region["domain"];
      report["scope"] = "everything";
      document["more"] = true;
    });
    expect(issues.map(({ pointer }) => pointer).sort()).toEqual(
      ["/more", inRegion, "/reports/0/scope"].sort(),
    );
  });

  it.each([null, 3, "text", [], {}])("refuses %j as a document", (document) => {
    expect(validator.validate(document).length).toBeGreaterThan(0);
  });
});

describe("regions that differ in the domains around them only", () => {
  const document = (change: (regions: Json[]) => void): unknown => {
    const bundle = JSON.parse(JSON.stringify(bundleOf([twoLibraries])));
    change(bundle.reports[0].regions);
    return bundle;
  };
  const issues = (change: (regions: Json[]) => void) => validator.validate(document(change));
  const at = (regions: readonly Json[], place: number): Json => regions[place] ?? {};

  it("are two, unless they are told to be of the same domains", () => {
    expect(issues(() => {})).toEqual([]);
    const [issue] = issues((regions) =>
      Object.assign(at(regions, 3), { path_domains: ["A", "io"] }),
    );
    expect(issue).toMatchObject({
      pointer: "/reports/0/regions",
      message:
        'two regions with the identity [7,"cuda:0","io",["step","load"],"push_pop",["A","io"]]',
    });
  });

  it("stand behind the range around them, and not only behind one of its name", () => {
    const [issue] = issues((regions) => regions.reverse());
    expect(issue).toMatchObject({ expected: "parents first" });
    // Of the step in B only what is inside is shown, and that comes first.
    const [hidden] = issues((regions) => {
      regions.splice(0, 4, at(regions, 3), at(regions, 0), at(regions, 1));
    });
    expect(hidden?.pointer).toBe("/reports/0/totals");
  });

  it("have a domain for each name of the path, and their own as the last", () => {
    const domains = (path_domains: readonly string[]) =>
      issues((regions) => Object.assign(at(regions, 1), { path_domains }))[0];
    const pointer = "/reports/0/regions/1/path_domains";
    expect(domains(["A"])).toMatchObject({ pointer, message: "1 domain for a path of 2" });
    expect(domains(["A", "B"])).toMatchObject({ pointer, expected: '"io"' });
    expect(domains(["io", "io"])).toBeUndefined();
  });
});

describe("the rules beyond the schema", () => {
  const cases: [string, (document: Json, report: Json, region: Json) => void, string][] = [
    ["path ends with name", (_, __, r) => (r["name"] = "other"), `${inRegion}/path`],
    ["parent", (_, __, r) => (r["parent"] = "stem"), `${inRegion}/parent`],
    ["depth", (_, __, r) => (r["depth"] = 1), `${inRegion}/depth`],
    [
      "exclusive <= total",
      (_, report, r) => {
        r["exclusive_ms"] = 4.5;
        Object.assign((report["regions"] as Json[])[4] ?? {}, { exclusive_ms: 5 });
      },
      `${inRegion}/exclusive_ms`,
    ],
    [
      "wall exclusive <= wall",
      (_, __, r) => (r["wall_exclusive_ms"] = 7),
      `${inRegion}/wall_exclusive_ms`,
    ],
    [
      "wall time of at most the longest call for each",
      (_, __, r) => (r["wall_ms"] = 99),
      `${inRegion}/wall_ms`,
    ],
    [
      "wall time of at least the longest call",
      (_, __, r) => (r["invocation_wall_ms"] = { min: 0, median: 2, max: 7, p95: 7 }),
      `${inRegion}/wall_ms`,
    ],
    [
      "calls no longer than those of the parent",
      (_, __, r) =>
        Object.assign(r, {
          wall_ms: 600,
          invocation_wall_ms: { min: 300, median: 300, max: 300, p95: 300 },
        }),
      "/reports/0/regions",
    ],
    [
      "processor time within the wall time of its thread",
      (_, __, r) => (r["cpu_ms"] = 6000),
      `${inRegion}/cpu_ms`,
    ],
    [
      "processor time of a call within the longest call",
      (_, __, r) =>
        Object.assign(r, { cpu_ms: 6, invocation_cpu_ms: { min: 1, median: 2, max: 5, p95: 5 } }),
      `${inRegion}/invocation_cpu_ms`,
    ],
    [
      "processor time of no more than its calls",
      (_, __, r) =>
        Object.assign(r, { cpu_ms: 5, invocation_cpu_ms: { min: 1, median: 1, max: 1, p95: 1 } }),
      `${inRegion}/cpu_ms`,
    ],
    ["kernel count", (_, __, r) => (r["kernel_count"] = 3), `${inRegion}/kernel_count`],
    ["kernel time", (_, __, r) => (r["total_ms"] = 4.1), `${inRegion}/total_ms`],
    [
      "part of an unknown whole",
      (_, __, r) => (r["wall_ms"] = null),
      `${inRegion}/wall_exclusive_ms`,
    ],
    [
      "statistics in order",
      (_, __, r) => (r["invocation_wall_ms"] = { min: 2, median: 1, max: 3, p95: 3 }),
      `${inRegion}/invocation_wall_ms`,
    ],
    ...[
      { min: 1, median: 4, max: 9, p95: 3 },
      { min: 1, median: 2, max: 3, p95: 4 },
    ].map((stats): (typeof cases)[number] => [
      `statistics in order, and not ${Object.values(stats)}`,
      (_, __, r) => (r["invocation_wall_ms"] = stats),
      `${inRegion}/invocation_wall_ms`,
    ]),
    [
      "kernel mean",
      (_, __, r) => Object.assign((r["kernels"] as Json[])[0] ?? {}, { mean_ms: 4 }),
      `${inRegion}/kernels/0/mean_ms`,
    ],
    [
      "one record per kernel",
      (_, __, r) => {
        const [kernel] = r["kernels"] as Json[];
        const half = { ...kernel, calls: 1, total_ms: 2, mean_ms: 2 };
        r["kernels"] = [half, half];
      },
      `${inRegion}/kernels`,
    ],
    [
      "unique regions",
      (_, report) => {
        const regions = report["regions"] as Json[];
        const [first] = regions.splice(0, 1);
        regions.unshift(
          { ...first },
          { ...first, exclusive_ms: 0, invocations: 0, invocation_wall_ms: null },
        );
        (report["totals"] as Json)["region_count"] = 6;
      },
      "/reports/0/regions",
    ],
    ["parents first", (_, report) => (report["regions"] as Json[]).reverse(), "/reports/0/regions"],
    [
      "region count",
      (_, report) => ((report["totals"] as Json)["region_count"] = 4),
      "/reports/0/totals",
    ],
    [
      "invocations",
      (_, report) => ((report["totals"] as Json)["invocations"] = 1),
      "/reports/0/totals",
    ],
    [
      "exclusive times within the total",
      (_, report) => ((report["totals"] as Json)["total_ms"] = 15),
      "/reports/0/totals",
    ],
    [
      "outside time within the total",
      (_, report) => ((report["totals"] as Json)["outside_ms"] = 17),
      "/reports/0/totals",
    ],
    ["process of the scope", (_, report) => (report["scope"] = "process:1"), "/reports/0/scope"],
    ["device of the scope", (_, report) => (report["scope"] = "device:cuda:0"), "/reports/0/scope"],
    [
      "unique scopes",
      (document) => {
        const reports = document["reports"] as NCUProfileRegionReport[];
        document["reports"] = [...reports, ...reports.slice(1, 2)];
      },
      "/reports",
    ],
    ["aggregate first", (document) => (document["reports"] as Json[]).reverse(), "/reports"],
  ];

  it("take equal statistics, and regions of no process, for what they are", () => {
    const stats = { min: 2, median: 2, max: 2, p95: 2 };
    const change = { invocation_wall_ms: stats, wall_ms: 4, wall_exclusive_ms: 4 };
    expect(issuesAfter((_, __, region) => Object.assign(region, change))).toEqual([]);
    const ofNone = (document: Json, report: Json) => {
      document["reports"] = [{ ...report, scope: "process:12" }];
      for (const region of report["regions"] as Json[]) region["process_id"] = null;
    };
    expect(issuesAfter(ofNone)).toEqual([]);
  });

  it("take one part in a million for rounding, and nothing more", () => {
    const timed = (factor: number) =>
      issuesAfter((_, __, region) => {
        const [kernel] = region["kernels"] as Json[];
        Object.assign(kernel ?? {}, { mean_ms: (kernel?.["mean_ms"] as number) * factor });
      }).map(({ pointer }) => pointer);
    const pointer = `${inRegion}/kernels/0/mean_ms`;
    expect([1 + 0.9e-6, 1 - 0.9e-6].map(timed)).toEqual([[], []]);
    expect([1 + 1.1e-6, 1 - 1.1e-6].map(timed)).toEqual([[pointer], [pointer]]);
  });

  it.each(cases)("%s", (_, change, pointer) => {
    expect(issuesAfter(change).map((issue) => issue.pointer)).toEqual([pointer]);
  });
});

describe("ranges of any shape", () => {
  it("give reports that are valid: inner ranges of several threads together may take longer", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          anyRanges,
          wellNested.map(({ ranges = [] }) => [...ranges]),
        ),
        (ranges) => {
          const timed = ranges.map((range) =>
            range.kind === "start_end" ? range : { ...range, cpu: (range.end ?? 40) - range.start },
          );
          expect(validator.validate(bundleOf([{ ranges: timed }]))).toEqual([]);
        },
      ),
      { numRuns: runs(300) },
    );
    const around = { name: "step", start: 0, end: 10, kind: "start_end" } as const;
    const inner = [1, 2, 3].map((thread) => ({ name: "load", start: 1, end: 9, thread }));
    const bundle = bundleOf([{ ranges: [around, ...inner] }]);
    expect(bundle.reports[0]?.regions.map(({ wall_ms }) => (wall_ms ?? 0) * 1e6)).toEqual([10, 24]);
    expect(validator.validate(bundle)).toEqual([]);
  });

  it("give reports that are valid where another range is at the place that a path names", () => {
    const open = (name: string, start: number, end: number, thread = 1) => ({
      name,
      start,
      end,
      thread,
    });
    const shared = { ...open("b", 1, 9, 2), kind: "start_end" } as const;
    for (const ranges of [
      // `c` is inside `a` and `b`, which overlap. The `b` at `a / b` is another one.
      [open("a", 0, 5), open("b", 1, 10), open("c", 2, 4), open("a", 20, 25), open("b", 21, 21)],
      // `b` of the other thread is not inside `a`, but `c` is inside both.
      [open("a", 0, 9), shared, open("c", 2, 4), open("a", 20, 25), open("b", 21, 21)],
    ]) {
      const bundle = bundleOf([{ ranges }]);
      expect(bundle.reports[0]?.regions.map(({ path }) => path)).toContainEqual(["a", "b", "c"]);
      expect(validator.validate(bundle)).toEqual([]);
    }
  });

  it("give reports of devices that are valid where a thread launched in a range that another one opened", () => {
    const ranges = [
      { name: "a", start: 0, end: 9 },
      { name: "shared", start: 1, end: 8, kind: "start_end" as const },
      { name: "a", start: 20, end: 21 },
    ];
    const kernels = [
      { name: "k", launch: 2, ns: 1, thread: 2 },
      { name: "k", launch: 20, ns: 1, thread: 1 },
    ];
    const bundle = bundleOf([{ ranges, kernels }]);
    const wallOnDevice = bundle.reports
      .find(({ scope }) => scope === "device:cuda:0")
      ?.regions.map(({ path, wall_ms }) => [path.join(), (wall_ms ?? 0) * 1e6]);
    expect(wallOnDevice).toContainEqual(["a", 1]);
    expect(wallOnDevice).toContainEqual(["a,shared", 7]);
    expect(validator.validate(bundle)).toEqual([]);
  });
});

describe("assertValid", () => {
  it("passes what is valid and names what is not", () => {
    const bundle = bundleOf([resnet]);
    expect(() => assertValid(validator, bundle)).not.toThrow();
    expect(() => assertValid(validator, { ...bundle, reports: [] })).toThrow(
      /: \/reports: a list of 0 does not fit, expected a list of at least 1$/,
    );
    const wrong = bundle.reports.map((report) => ({ ...report, config_fingerprint: "" }));
    expect(() => assertValid(validator, { ...bundle, reports: wrong })).toThrow(/ \(and 2 more\)$/);
  });
});
