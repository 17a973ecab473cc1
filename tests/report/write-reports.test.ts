import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createRegionBundler,
  createReportValidator,
  FILES_BESIDE_PAGE,
  type RegionReportBundle,
  regionKey,
  writeFileAtomic,
  writeReports,
  writeRunReports,
} from "../../src/report/index.ts";
import { wholeBundle, withNamesOnce } from "../../src/report/model/contract.ts";
import { COLLECTOR_FILES } from "../../src/report/model/report-files.ts";
import { growth } from "../growth.ts";
import { anyKernels, anyRanges, twoLibraries } from "../profiler/analysis/timelines.ts";
import { bundleOf, firstReport, hostileNames, regionNamed, repeated, resnet } from "./bundles.ts";

const temporary = () => mkdtempSync(join(tmpdir(), "reports-"));
const validator = createReportValidator();

const readBundle = (...path: string[]): RegionReportBundle =>
  JSON.parse(readFileSync(join(...path), "utf8"));

describe("writeReports", () => {
  it("writes the whole report and one per region", async () => {
    const directory = temporary();
    const bundle = bundleOf([resnet]);
    const written = await writeReports(bundle, directory);
    expect(readBundle(written.json)).toEqual(bundle);
    expect(readFileSync(written.json, "utf8")).toMatch(/^\{\n {2}"contract": .*\n\}\n$/s);
    expect(readdirSync(join(directory, "regions")).sort()).toEqual([
      "block.conv1",
      "block.conv2",
      "forward",
      "kernels.csv",
      "regions.csv",
      "report.json",
      "report.md",
      "residual",
      "stem",
    ]);
    expect(readdirSync(join(directory, "regions", "stem")).sort()).toEqual([
      "report.json",
      "report.md",
    ]);
    expect([...written.regionDirectories.values()]).toContain("stem");
  });

  it("stores many kernels that a single process and device repeat once", async () => {
    const directory = temporary();
    const bundle = bundleOf([
      {
        pid: 7,
        ranges: [
          { name: "step", start: 0, end: 9000 },
          { name: "inner", start: 1, end: 8000 },
        ],
        kernels: Array.from({ length: 600 }, (_, at) => ({
          name: `kernel_${at}`,
          launch: 2 + at,
          ns: 10 + at,
        })),
      },
    ]);
    const written = await writeReports(bundle, directory);
    const stored = readBundle(written.json);
    expect(validator.validate(stored)).toEqual([]);
    expect(
      stored.reports.map(({ scope, kernels_of, regions }) => [
        scope,
        kernels_of,
        regions.map(({ kernels }) => kernels.length),
      ]),
    ).toEqual([
      ["aggregate", undefined, [600, 600]],
      ["process:7", "aggregate", [0, 0]],
      ["device:cuda:0", "aggregate", [0, 0]],
    ]);
    expect(wholeBundle(stored)).toEqual(bundle);
    const rows = readFileSync(join(directory, "regions", "kernels.csv"), "utf8")
      .trim()
      .split("\n");
    expect(rows).toHaveLength(1 + 2 * 600);
    const [main, , device] = stored.reports;
    if (main === undefined || device === undefined) throw new Error("there are three reports");
    const issues = validator.validate({
      ...stored,
      reports: [main, { ...device, kernels_of: "rank:3" }],
    });
    expect(issues.map(({ message }) => message)).toContain(
      "no report of rank:3 before device:cuda:0",
    );
  });

  it("writes all of its files whatever the regions are called", async () => {
    const directory = temporary();
    const names = [...COLLECTOR_FILES];
    const bundle = bundleOf([
      {
        pid: 7,
        ranges: names.map((name, at) => ({ name, start: at * 100, end: at * 100 + 50 })),
      },
    ]);
    const { html, problems, regionDirectories } = await writeReports(bundle, directory, {
      html: {},
    });
    expect(problems).toEqual([]);
    expect(html).toBe(join(directory, "regions", "report.html"));
    const written = readdirSync(join(directory, "regions"), { withFileTypes: true });
    const files = written.filter((entry) => entry.isFile()).map(({ name }) => name);
    expect(files.sort()).toEqual([...FILES_BESIDE_PAGE, "report.html"].sort());
    expect([...regionDirectories.values()].sort()).toEqual(names.map((name) => `_${name}`).sort());
  });

  // The files of a report that is large enough: write-reports.slow.ts.
  it("stores names of kernels once where they would take most of the file", () => {
    const names = ["void a::gemm<float>(float*)", "gemm", "__proto__", "gemm#0", "#1"];
    const large = bundleOf([
      {
        pid: 7,
        ranges: [{ name: "step", start: 0, end: 9000 }],
        kernels: names.map((name, at) => ({ name, launch: 2 + at, ns: 10 + at })),
      },
    ]);
    expect(withNamesOnce(large)).toBe(large);
    const stored = withNamesOnce(large, 10);
    expect(validator.validate(stored)).toEqual([]);
    const [whole, short] = [large, stored].map((bundle) =>
      regionNamed(bundle, "step").kernels.map(({ kernel_name }) => kernel_name),
    );
    expect(short).toEqual(["kernel#0", "kernel#1", "__proto__#2", "gemm#3", "gemm#4"]);
    expect(short?.map((name) => stored.kernel_names?.[name])).toEqual(whole);
    expect(wholeBundle(stored)).toEqual(large);
    const ofRuns = { ...large, reports: large.reports.map((report) => repeated(report)) };
    const ofRunsStored = withNamesOnce(ofRuns, 10);
    expect(regionNamed(ofRunsStored, "step").repeats?.kernels?.at(-1)?.kernel_name).toBe("gemm#4");
    expect(wholeBundle(ofRunsStored)).toEqual(ofRuns);
  });

  it("puts a region and what is below it into the region's directory", async () => {
    const directory = temporary();
    const bundle = bundleOf([resnet]);
    await writeReports(bundle, directory);
    const residual = readBundle(directory, "regions", "residual", "report.json");
    expect(residual.reports.map(({ scope }) => scope)).toEqual([
      "aggregate",
      "process:4711",
      "device:cpu",
    ]);
    const report = firstReport(residual);
    expect(report.regions.map(({ path }) => path.join("/"))).toEqual([
      "forward/residual",
      "forward/residual/block.conv1",
      "forward/residual/block.conv2",
    ]);
    expect(report.totals).toEqual({
      region_count: 3,
      invocations: 6,
      kernel_count: 4,
      total_ms: 10,
      outside_ms: 0,
      outside_kernel_count: 0,
      wall_ms: null,
    });
    expect(validator.validate(residual)).toEqual([]);
  });

  it("calls a region in its sections.txt as in the heading of its report", async () => {
    const directory = temporary();
    const bundle = bundleOf([
      {
        ranges: [
          { name: "step", start: 0, end: 9, kind: "start_end" },
          { name: "step", start: 10, end: 19 },
        ],
      },
    ]);
    const sections = { S: { metrics: {}, messages: [] } };
    const reports = bundle.reports.map((report) => ({
      ...report,
      regions: report.regions.map((region) => ({ ...region, sections })),
    }));
    const { regionDirectories } = await writeReports({ ...bundle, reports }, directory);
    const firstLines = [...regionDirectories.values()].map((name) =>
      ["sections.txt", "report.md"].map(
        (file) => readFileSync(join(directory, "regions", name, file), "utf8").split("\n")[0],
      ),
    );
    expect(firstLines.sort()).toEqual([
      ["step (push/pop)", "# Region step (push/pop)"],
      ["step (start/end)", "# Region step (start/end)"],
    ]);
  });

  it("keeps hostile labels verbatim in safe directories", async () => {
    const directory = temporary();
    const ranges = hostileNames.map((name, index) => ({
      name,
      start: index * 2,
      end: index * 2 + 1,
    }));
    const { regionDirectories } = await writeReports(bundleOf([{ ranges }]), directory);
    expect(regionDirectories.size).toBe(hostileNames.length);
    expect(readdirSync(directory)).toEqual(["regions"]);
    const labels = [...regionDirectories.values()].map(
      (name) => firstReport(readBundle(directory, "regions", name, "report.json")).regions[0]?.name,
    );
    expect(labels).toEqual(hostileNames);
  });

  it("limits the directories to the longest regions, and says so in the report", async () => {
    const directory = temporary();
    const ranges = Array.from({ length: 10 }, (_, index) => ({
      name: `step${index}`,
      start: index * 100,
      end: index * 100 + index + 1,
    }));
    const written = await writeReports(bundleOf([{ ranges }]), directory, {
      maxRegionDirectories: 2,
    });
    expect([...written.regionDirectories.values()].sort()).toEqual(["step8", "step9"]);
    expect(written.regionsWithoutDirectory).toBe(8);
    expect(firstReport(readBundle(written.json)).notes.join()).toContain("2 longest of 10 regions");
  });

  it("writes nothing that breaks the contract", async () => {
    const directory = temporary();
    const bundle = bundleOf([resnet]);
    const [report, ...others] = bundle.reports;
    if (report === undefined) throw new Error("no report");
    const broken = { ...bundle, reports: [{ ...report, config_fingerprint: "none" }, ...others] };
    await expect(writeReports(broken, directory, { validator })).rejects.toThrow(
      "/reports/0/config_fingerprint",
    );
    expect(readdirSync(directory)).toEqual([]);
  });

  it("writes a report of an empty run", async () => {
    const directory = temporary();
    const { json, markdown } = await writeReports(bundleOf([]), directory);
    expect(firstReport(readBundle(json)).notes).toContain("no matching regions");
    expect(readFileSync(markdown, "utf8")).toContain("no matching regions");
  });

  it("takes time in proportion to the regions", async () => {
    const write = (size: number) => {
      const ranges = Array.from({ length: size }, (_, index) => ({
        name: `r${index}`,
        start: index * 10,
        end: index * 10 + 5,
      }));
      return writeReports(bundleOf([{ ranges }]), temporary(), { validator });
    };
    expect(await growth(write, 60)).toBeLessThan(40);
  });
});

describe("createRegionBundler", () => {
  it("drops scopes without the region and keeps neighbours that share the path out", () => {
    const bundle = bundleOf([
      {
        pid: 1,
        ranges: [
          { name: "a", start: 0, end: 10, domain: "x" },
          { name: "b", start: 1, end: 2 },
          { name: "a", start: 20, end: 30 },
        ],
      },
      { pid: 2, ranges: [{ name: "other", start: 0, end: 5 }] },
    ]);
    const cut = createRegionBundler(bundle)(regionNamed(bundle, "a"));
    expect(cut.reports.map(({ scope }) => scope)).toEqual(["aggregate", "process:1"]);
    expect(firstReport(cut).regions.map(({ path, domain }) => [path.join("/"), domain])).toEqual([
      ["a", "x"],
      ["a/b", ""],
    ]);
    expect(validator.validate(cut)).toEqual([]);
  });
});

it("a region has no region of another kind in its bundle, but what is inside of either", () => {
  const bundle = bundleOf([
    {
      ranges: [
        { name: "a", start: 0, end: 9, kind: "start_end" },
        { name: "a", start: 10, end: 30 },
        { name: "b", start: 12, end: 20 },
      ],
    },
  ]);
  const bundler = createRegionBundler(bundle);
  const shown = firstReport(bundle).regions.map((region) =>
    firstReport(bundler(region)).regions.map(({ path, kind }) => `${path.join("/")} ${kind}`),
  );
  // One name in one domain is one thing of the program, however it is opened: b is inside of both.
  expect(shown).toEqual([
    ["a start_end", "a/b push_pop"],
    ["a push_pop", "a/b push_pop"],
    ["a/b push_pop"],
  ]);
});

describe("regions that differ in the domains around them only", () => {
  const bundle = bundleOf([twoLibraries]);

  it("have directories of their own, with nothing of the other", async () => {
    const directory = temporary();
    const { regionDirectories } = await writeReports(bundle, directory);
    expect(new Set(regionDirectories.values()).size).toBe(4);
    const times = firstReport(bundle).regions.map((region) => {
      const name = regionDirectories.get(regionKey(region)) ?? "";
      const own = readBundle(join(directory, "regions", name, "report.json"));
      expect(validator.validate(own)).toEqual([]);
      return firstReport(own).regions.map(({ path_domains, total_ms }) => [path_domains, total_ms]);
    });
    const [loadA, loadB] = [
      [["A", "io"], 0.1],
      [["B", "io"], 7],
    ];
    expect(times).toEqual([[[undefined, 0.1], loadA], [loadA], [[undefined, 7], loadB], [loadB]]);
  });

  it("have headings of their own", async () => {
    const directory = temporary();
    const { markdown } = await writeReports(bundle, directory);
    const text = readFileSync(markdown, "utf8");
    expect(text.match(/^### .*/gm)).toEqual([
      "### step &#64;A",
      "### step &#64;A / load &#64;io",
      "### step &#64;B",
      "### step &#64;B / load &#64;io",
    ]);
    expect(text.match(/^\| (?:└.)?(?:step|load) [^|]* \| 1 \| (\S+)/gm)).toEqual([
      "| step &#64;A | 1 | 0.100",
      "| └\u00a0load &#64;io | 1 | 0.100",
      "| step &#64;B | 1 | 7.000",
      "| └\u00a0load &#64;io | 1 | 7.000",
    ]);
  });
});

/** More than a call can have arguments. */
describe("whatever was recorded", () => {
  it("a range that outlives the one around it has reports that add up", async () => {
    const bundle = bundleOf([
      {
        ranges: [
          { name: "X", start: 0, end: 20, kind: "start_end" },
          { name: "A", start: 10, end: 90, kind: "start_end" },
        ],
        kernels: [{ name: "k", launch: 50, ns: 1_000_000 }],
      },
    ]);
    expect((await writeReports(bundle, temporary())).problems).toEqual([]);
  });

  it("is written, each region of it too", async () => {
    await fc.assert(
      fc.asyncProperty(anyRanges, anyKernels, async (ranges, kernels) => {
        const written = await writeReports(bundleOf([{ ranges, kernels }]), temporary(), {
          validator,
        });
        expect(written.problems).toEqual([]);
        expect(written.regionsWithoutDirectory).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

describe("writeRunReports", () => {
  it("writes overview, kernels and summary, with links that lead somewhere", async () => {
    const directory = temporary();
    const bundle = bundleOf([resnet]);
    const { regionDirectories } = await writeReports(bundle, join(directory, "recorder"));
    const section = { collector: "recorder", directory: "recorder", bundle, regionDirectories };
    const files = await writeRunReports(directory, { sections: [section], notes: ["it was cold"] });
    expect(files.map((path) => path.slice(directory.length + 1))).toEqual([
      "kernels.md",
      "report.md",
      "stakeholder_summary.md",
    ]);
    const overview = readFileSync(join(directory, "report.md"), "utf8");
    expect(overview).toContain("it was cold");
    const links = [...overview.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
    expect(links.length).toBeGreaterThan(7);
    for (const link of links)
      expect(statSync(join(directory, decodeURIComponent(link))).isFile()).toBe(true);
  });

  it("says so when nothing was measured", async () => {
    const directory = temporary();
    await writeRunReports(directory, { sections: [], notes: ["the workload failed"] });
    const summary = readFileSync(join(directory, "stakeholder_summary.md"), "utf8");
    expect(summary).toContain("Nothing was measured");
    expect(summary).toContain("the workload failed");
  });
});

describe("writeFileAtomic", () => {
  it("makes directories, replaces, and leaves nothing behind", async () => {
    const directory = temporary();
    const file = join(directory, "a", "b", "x".repeat(250));
    await writeFileAtomic(file, "one");
    await writeFileAtomic(file, "two");
    expect(readFileSync(file, "utf8")).toBe("two");
    expect(readdirSync(join(directory, "a", "b"))).toEqual(["x".repeat(250)]);
  });

  it("keeps the old file, and no temporary one, when it fails", async () => {
    const directory = temporary();
    await writeFileAtomic(join(directory, "taken", "inside"), "kept");
    await expect(writeFileAtomic(join(directory, "taken"), "file")).rejects.toThrow();
    expect(readdirSync(directory)).toEqual(["taken"]);
    expect(readFileSync(join(directory, "taken", "inside"), "utf8")).toBe("kept");
  });
});

it("gives regions of several scopes one key", () => {
  const bundle = bundleOf([resnet]);
  const keys = bundle.reports.map(({ regions }) => regions.map(regionKey));
  expect(keys[1]).toEqual(keys[0]);
});
