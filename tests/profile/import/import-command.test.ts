import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { runImport } from "../../../src/profile/subcommands/import.ts";
import type { RegionReportBundle } from "../../../src/report/document.ts";
import { isConfigError } from "../../../src/values/errors.ts";
import { nsightEnvironment, nsightOrSkip } from "../../nsight.ts";
import { samplesOrSkip } from "../ncu/samples.ts";

const RECORDINGS = fileURLToPath(new URL("../../fixtures/recordings", import.meta.url));

const cwd = mkdtempSync(join(tmpdir(), "hydraconf import-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

/** Runs `deep-profile import` in this process; a refusal is its error. */
async function importFiles(args: readonly string[]) {
  const out = { stdout: "", stderr: "" };
  const code = await runImport(args, {
    cwd,
    env: { COLUMNS: "100" },
    now: new Date(2026, 0, 2, 3, 4, 5),
    console: {
      stdout: (text) => {
        out.stdout += text;
      },
      stderr: (text) => {
        out.stderr += text;
      },
    },
  });
  return { code, ...out };
}

const refusal = async (args: readonly string[]) => {
  try {
    await importFiles(args);
    return null;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return error.details;
  }
};

describe("deep-profile import", () => {
  test("makes the reports of a recording, in a directory of its own each time", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    for (const stamp of ["20260102-030405", "20260102-030405-2"]) {
      const { code, stdout } = await importFiles([source]);
      expect(code).toBe(0);
      const run = join(cwd, "tmp/profile-output", stamp);
      expect(readdirSync(run).sort()).toEqual([
        "kernels.md",
        "recorder",
        "report.md",
        "stakeholder_summary.md",
      ]);
      const bundle: RegionReportBundle = JSON.parse(
        readFileSync(join(run, "recorder/regions/report.json"), "utf8"),
      );
      const labels = bundle.reports[0]?.regions.map(({ name }) => name) ?? [];
      expect(labels).toContain("A::A1");
      for (const label of labels) expect(stdout).toContain(label);
      expect(stdout).toContain(join("tmp/profile-output", stamp, "report.md"));
    }
  });

  test("shows the regions asked for, in the directory asked for", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    const { stdout } = await importFiles([
      source,
      "-o",
      "chosen",
      "--include",
      "B",
      "--no-aggregate",
    ]);
    const bundle: RegionReportBundle = JSON.parse(
      readFileSync(join(cwd, "chosen/recorder/regions/report.json"), "utf8"),
    );
    expect(bundle.reports[0]?.scope).toMatch(/^process:/);
    expect(bundle.reports[0]?.regions.map(({ path }) => path[0])).not.toContain("A");
    expect(stdout).toContain("the selection leaves out");
    expect(await refusal([source, "-o", "chosen"])).toMatchObject({ code: "app.run_directory" });
  });

  test("writes pages as runs do, unless told otherwise", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    const page = "recorder/regions/report.html";
    const { stdout } = await importFiles([source, "-o", "pages"]);
    expect(stdout).toContain(join("pages", page));
    expect(readFileSync(join(cwd, "pages", page), "utf8")).toContain("A::A1");
    await importFiles([source, "-o", "no-pages", "--no-html"]);
    expect(existsSync(join(cwd, "no-pages", page))).toBe(false);
    expect(existsSync(join(cwd, "no-pages/recorder/regions/report.md"))).toBe(true);
  });

  test("takes the directory of a run for what its collectors left in it", async () => {
    const run = join(cwd, "a run");
    mkdirSync(join(run, "recorder/repeats"), { recursive: true });
    writeFileSync(join(run, "config.yaml"), "repeats: 2\n");
    expect(await refusal(["a run", "-o", "new"])).toMatchObject({
      code: "profile.input",
      message: "a run is the directory of a run in which nothing was recorded",
      hint: expect.stringContaining("deep-profile report"),
    });
    for (const repeat of ["1", "2", "10"])
      cpSync(join(RECORDINGS, "resnet-regions"), join(run, "recorder/repeats", repeat), {
        recursive: true,
      });
    expect((await importFiles(["a run", "-o", "repeats"])).stderr.split("\n")).toEqual([
      ...["1", "2", "10"].map((repeat) => `reading ${join("a run/recorder/repeats", repeat)}`),
      "",
    ]);
    expect(readdirSync(join(cwd, "repeats")).sort()).toEqual([
      ...["kernels.md", "recorder", "report.md", "stakeholder_summary.md"],
    ]);
    const [report] = JSON.parse(
      readFileSync(join(cwd, "repeats/recorder/regions/report.json"), "utf8"),
    ).reports;
    expect(report.regions.length).toBeGreaterThan(0);
    for (const region of report.regions) expect(region.repeats).toMatchObject({ runs: 3 });
    expect(report.notes.join("\n")).toContain("numbers are those of the median run of 3");
    cpSync(join(RECORDINGS, "resnet-regions"), join(run, "recorder"), { recursive: true });
    rmSync(join(run, "recorder/repeats"), { recursive: true });
    const { stdout } = await importFiles(["a run", "-o", "of-run"]);
    expect(stdout).toContain("A::A1");
    expect(readdirSync(join(cwd, "of-run")).sort()).toEqual([
      ...["kernels.md", "recorder", "report.md", "stakeholder_summary.md"],
    ]);
  });

  test("says what it cannot read, and leaves nothing behind", async () => {
    writeFileSync(join(cwd, "empty.csv"), "");
    writeFileSync(join(cwd, "other.txt"), "hello\n");
    writeFileSync(
      join(cwd, "torn.nvtxrec"),
      Uint8Array.of(0x89, 0x4e, 0x56, 0x54, 0x58, 0x52, 0x45, 0x43, 9),
    );
    expect(await refusal([])).toMatchObject({ code: "app.usage" });
    expect(await refusal(["absent", "-o", "new"])).toMatchObject({
      code: "profile.input",
      message: "absent cannot be read: there is no such file or directory",
    });
    expect(await refusal(["empty.csv", "-o", "new"])).toMatchObject({
      message: "empty.csv is empty",
      hint: expect.stringContaining("ncu writes an empty table"),
    });
    expect(await refusal(["other.txt", "-o", "new"])).toMatchObject({
      message: "other.txt is not a file that can be imported",
      available: expect.arrayContaining([expect.stringContaining("recording of deep-profile")]),
    });
    expect(existsSync(join(cwd, "new"))).toBe(false);
  });

  test.skipIf(samplesOrSkip("imports of runs with Nsight's files") === null)(
    "takes an export of nsys rather than its report, and every report of ncu",
    async () => {
      const sample = samplesOrSkip("imports of runs with Nsight's files") ?? String;
      const run = join(cwd, "all");
      for (const folder of ["nsys", "ncu"]) mkdirSync(join(run, folder), { recursive: true });
      writeFileSync(join(run, "run.json"), "{}");
      writeFileSync(join(run, "nsys/run.nsys-rep"), "not read");
      cpSync(sample("nsys-real-2023.4-nvtx-only-cpu.sqlite"), join(run, "nsys/run.sqlite"));
      cpSync(sample("r1.ncu-rep"), join(run, "ncu/level-1.ncu-rep"));
      const { stderr } = await importFiles(["all", "--reader", "own", "-o", "of-all"]);
      expect(stderr).toBe("reading all/nsys/run.sqlite\nreading all/ncu/level-1.ncu-rep\n");
    },
  );

  test("--help names every format", async () => {
    const { code, stdout } = await importFiles(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: deep-profile import \[options\] FILE\|RUN\.\.\.\n/);
    expect(stdout).toContain("recording of deep-profile");
  });
});

const sample = samplesOrSkip("imports of Nsight's files");
const real = nsightOrSkip("ncu", "imports of Nsight's reports through ncu");

describe.skipIf(sample === null)("deep-profile import of Nsight's files", () => {
  const path = (name: string) => sample?.(name) ?? "";
  const bundleIn = (directory: string): RegionReportBundle =>
    JSON.parse(readFileSync(join(cwd, directory, "regions/report.json"), "utf8"));
  const textIn = (...names: readonly string[]) => readFileSync(join(cwd, ...names), "utf8");

  test("makes NCU Region Reports of a CSV, with tables of single regions", async () => {
    const { code, stdout } = await importFiles([
      path("syn-raw-multiprocess-multidevice-weird-values.csv"),
      "-o",
      "csv",
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^forward +– +0\.158 +0\.105/m);
    expect(textIn("csv/ncu/regions/report.md")).toMatch(/^# NCU Region Reports\n/);
    const { reports } = bundleIn("csv/ncu");
    expect(reports.map(({ scope }) => scope)).toEqual([
      "aggregate",
      "process:100",
      "process:200",
      "device:cuda:0",
      "device:cuda:1",
    ]);
    expect(reports[0]?.environment.gpus).toEqual(["Tesla T4"]);
    expect(reports[0]?.regions[0]?.metrics).toMatchObject({
      "gpu__time_duration.sum": { value: 3 * 52576, unit: "" },
      launch__block_size: { value: 256, unit: "" },
    });
    const rows = textIn("csv/ncu/regions/forward/raw.csv").split("\n");
    expect(rows[0]).toMatch(/^"ID","Process ID","Process Name","Kernel Name",/);
    expect(rows[1]).toMatch(/^"","",/);
    expect(rows.slice(2, -1).map((row) => row.split(",")[0])).toEqual(['"0"', '"1"', '"3"']);
    expect(rows[4]).toContain('[lambda() ""quoted"" (instance 1)]');
  });

  test("reads a report without ncu, sections and rules included", async () => {
    const { stdout } = await importFiles([path("r1.ncu-rep"), "--reader", "own", "-o", "rep"]);
    expect(stdout).toContain("was read without ncu");
    const [report] = bundleIn("rep/ncu").reports;
    expect(report?.collector).toMatchObject({ name: "ncu", version: "2024.2.1.0" });
    expect(report?.regions[0]?.metrics["gpu__time_duration.sum"]).toEqual({
      value: 52576,
      unit: "ns",
    });
    expect(Object.keys(report?.regions[0]?.sections ?? {})).toContain("Occupancy");
    const sections = textIn("rep/ncu/regions/_outside_/sections.txt");
    expect(sections).toMatch(/^ {4}gpu__time_duration\.sum +ns +52,576$/m);
    expect(sections).toContain("  Launch Statistics\n");
    expect(sections).toMatch(/^ {4}OPT {2}The difference between calculated theoretical/m);
  });

  test.skipIf(real === null)(
    "reads reports through ncu as a run does, tables beside them",
    async () => {
      for (const [name, value] of Object.entries(nsightEnvironment())) vi.stubEnv(name, value);
      await importFiles([path("r1.ncu-rep"), "--reader", "ncu", "-o", "through"]);
      const region = bundleIn("through/ncu").reports[0]?.regions[0];
      expect(region?.metrics["gpu__time_duration.sum"]).toEqual({ value: 52576, unit: "ns" });
      const own = bundleIn("rep/ncu").reports[0]?.regions[0];
      const throughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
      const exact = own?.metrics[throughput]?.value ?? Number.NaN;
      // ncu's base units would round it.
      expect(Number(exact.toFixed(2))).not.toBe(exact);
      expect(region?.metrics[throughput]?.value).toBeCloseTo(exact, 5);
      expect(Object.keys(region?.sections ?? {})).toContain("Occupancy");
      expect(readdirSync(join(cwd, "through/ncu")).sort()).toEqual([
        "details.csv",
        "ratios.csv",
        "raw.csv",
        "regions",
        "sections.txt",
      ]);
      await importFiles([
        path("r1.ncu-rep"),
        path("mojo.ncu-rep"),
        "--reader",
        "ncu",
        "-o",
        "both",
      ]);
      expect(readdirSync(join(cwd, "both/ncu"))).toEqual(
        expect.arrayContaining(["mojo.raw.csv", "r1.raw.csv", "raw.csv", "sections.txt"]),
      );
      expect(bundleIn("both/ncu").reports[0]?.totals.kernel_count).toBe(5);
    },
  );

  test("puts kernels and ranges of one file into two reports", async () => {
    await importFiles([path("syn-mixed-kernel-and-range-raw.csv"), "-o", "mixed"]);
    expect(bundleIn("mixed/ncu").reports[0]?.regions[0]).toMatchObject({ kernel_count: 1 });
    expect(bundleIn("mixed/ncu-ranges").reports[0]?.regions[0]).toMatchObject({
      kernel_count: 0,
      kernels: [],
      invocations: 1,
    });
  });

  test("chooses kernels, and says what its rules do not match", async () => {
    const { stdout } = await importFiles([
      path("raw-multi-kernel-gtx1660-ncu2024.1.csv"),
      ...["--kernel", "mathKernel*", "--kernel", "nope"],
      ...["--kernel-exclude", "regex:2$", "--kernel-name-base", "function", "-o", "chosen-kernels"],
    ]);
    const kernels = bundleIn("chosen-kernels/ncu").reports[0]?.regions[0]?.kernels ?? [];
    expect(kernels.map(({ kernel_name }) => kernel_name).sort()).toEqual([
      "mathKernel1(float *)",
      "mathKernel3(float *)",
    ]);
    expect(stdout).toContain("--kernel: 'nope' matches no kernel");
    expect(bundleIn("chosen-kernels/ncu").reports[0]?.regions[0]?.selection).toEqual({
      include_patterns: [],
      exclude_patterns: [],
      kernel_include_patterns: ["mathKernel*", "nope"],
      kernel_exclude_patterns: ["regex:2$"],
      kernel_name_base: "function",
    });
  });

  test("counts the longest kernels of an nsys export given beside, and takes times from it", async () => {
    const { code, stdout } = await importFiles([
      path("syn-raw-nvtx-grammar-18-kernels.csv"),
      path("nsys-real-nvtx+synthetic-cuda-2023.4.sqlite"),
      ...["-o", "beside"],
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("calls and wall times are those of a recording");
    const region = bundleIn("beside/ncu").reports[0]?.regions.find(
      ({ path: names }) => names.join("/") === "A/A::A1",
    );
    expect(region).toMatchObject({ kernel_count: 1, invocations: 1 });
    expect(region?.wall_ms).toBeGreaterThan(0);
    expect(bundleIn("beside/nsys").reports[0]?.collector.name).toBe("nsys");
    expect(
      await refusal([path("raw-instances-t4.csv"), "--top-kernels", "3", "-o", "x"]),
    ).toMatchObject({
      code: "app.usage",
      message: expect.stringContaining("--top-kernels needs a recording"),
    });
  });

  test("asks for the locale where a file leaves it open", async () => {
    const table = [
      '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","gpu__time_duration.sum"',
      '"","","","","","","","ns"',
      '"0","1","p","h","k","1","7","117.344"',
      "",
    ].join("\n");
    writeFileSync(join(cwd, "open.csv"), table);
    const { stdout } = await importFiles(["open.csv", "-o", "open"]);
    expect(stdout).toContain("1 numbers like 1.234 were left out");
    await importFiles(["open.csv", "--locale", "de", "-o", "de"]);
    expect(bundleIn("de/ncu").reports[0]?.totals.total_ms).toBe(0.117344);
  });

  test("refuses what holds no results, with the remedy", async () => {
    expect(await refusal([path("raw-summary-per-kernel-rtx2060.csv"), "-o", "y"])).toMatchObject({
      code: "profile.input",
      hint: expect.stringContaining("--page raw"),
    });
    expect(await refusal([path("session-page-t4.csv"), "-o", "z"])).toMatchObject({
      message: expect.stringContaining("is not a file that can be imported"),
    });
  });

  test.each([
    ["session-page-t4.csv", "session page of ncu"],
    ["nsys-stats-cuda_gpu_kern_sum.csv", "table of nsys stats"],
    ["nsys-stats-nvtx_pushpop_trace.csv", "table of nsys stats"],
    ["nsys-stats-nvtx_gpu_proj_trace.csv", "table of nsys stats"],
    ["nsys-stats-h100-nvtx_kern_sum.csv", "table of nsys stats"],
    ["syn-empty-report.csv", "says on the terminal"],
    ["log-pub-errnvgpuctrperm.txt", "says on the terminal"],
  ])("says what to give instead of %s", async (name, hint) => {
    expect(await refusal([path(name), "-o", "z"])).toMatchObject({
      code: "profile.input",
      hint: expect.stringContaining(hint),
    });
  });
});

describe("the outputs in docs/running.md", () => {
  const directory = samplesOrSkip("the outputs of each replay mode in the documentation");
  const text = readFileSync(new URL("../../../docs/running.md", import.meta.url), "utf8");
  const section = text.slice(
    text.indexOf("### NVTX Range Replay"),
    text.indexOf("### What ncu says"),
  );
  const blocks = [
    ...section.matchAll(/^ {4}\$ deep-profile import (\S+\.csv)\n((?: {4}.*\n)+)/gm),
  ].map(([, sample = "", lines = ""]) => ({
    sample,
    lines: lines
      .trimEnd()
      .split("\n")
      .map((line) => line.slice(4)),
  }));

  test("show each kind of result", () => {
    expect(blocks.map(({ sample }) => sample.split("-").slice(0, 3).join("-"))).toEqual([
      "syn-raw-nvtx",
      "syn-range-raw",
      "pub-cfregly-app",
    ]);
  });

  test.skipIf(directory === null).each(blocks)(
    "are those of $sample",
    async ({ sample, lines }) => {
      const { code, stdout } = await importFiles([
        directory?.(sample) ?? "",
        "-o",
        `docs-${sample}`,
      ]);
      expect(code).toBe(0);
      const shown = stdout.split("\n").map((line) => line.trimEnd());
      // Rows may be left out, and stand in their order.
      const places = lines.map((line) => shown.indexOf(line));
      expect(places, stdout).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
    },
  );
});
