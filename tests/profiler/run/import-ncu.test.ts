import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { nsightEnvironment, nsightOrSkip } from "../../nsight.ts";
import { samplesOrSkip } from "../../shared.ts";
import { importer } from "./import-files/importer.ts";

afterEach(() => vi.unstubAllEnvs());
const { cwd, importFiles, refusal } = importer();

const sample = samplesOrSkip("imports of Nsight's files");
const real = nsightOrSkip("ncu", "imports of Nsight's reports through ncu");

describe.skipIf(sample === null)("deep-profile import of Nsight's files", () => {
  const path = (name: string) => sample?.(name) ?? "";
  const bundleIn = (directory: string): RegionReportBundle =>
    JSON.parse(readFileSync(join(cwd, directory, "regions/report.json"), "utf8"));
  const textOf = (file: string) => readFileSync(file, "utf8");
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

  test("reads a CSV that a shell of Windows wrote", async () => {
    const csv = textOf(path("raw-1kernel-t4-base-units.csv"));
    writeFileSync(join(cwd, "marked.csv"), `\ufeff${csv.replaceAll("\n", "\r\n")}`);
    expect((await importFiles(["marked.csv", "-o", "marked"])).code).toBe(0);
    const region = bundleIn("marked/ncu").reports[0]?.regions[0];
    expect(region?.metrics["gpu__time_duration.sum"]).toEqual({ value: 52576, unit: "ns" });
  });

  test("fails for a truncated report, with reports of what could be read", async () => {
    const whole = readFileSync(path("gpm.ncu-rep"));
    writeFileSync(join(cwd, "cut.ncu-rep"), whole.subarray(0, whole.length * 0.6));
    const { code, stdout, stderr } = await importFiles(["cut.ncu-rep", "-o", "cut"]);
    expect(code).toBe(1);
    expect(stdout).toContain("cut.ncu-rep is truncated");
    expect(stderr).toContain("cut.ncu-rep is truncated or damaged");
    const kernels = Number(bundleIn("cut/ncu").reports[0]?.regions[0]?.kernels.length);
    expect(kernels).toBeGreaterThan(0);
    // What is whole beside it counts too.
    const both = await importFiles([path("r1.ncu-rep"), "cut.ncu-rep", "-o", "cut-too"]);
    expect(both.code).toBe(1);
  });

  test("writes nothing for a report that is truncated before its first result", async () => {
    const whole = readFileSync(path("r1.ncu-rep"));
    writeFileSync(join(cwd, "start.ncu-rep"), whole.subarray(0, 100));
    expect(await refusal(["start.ncu-rep", "-o", "start"])).toMatchObject({
      code: "profile.input",
      message: expect.stringMatching(/^start\.ncu-rep: nothing could be read/),
    });
    expect(existsSync(join(cwd, "start"))).toBe(false);
    // A whole report beside it is reported.
    const { code } = await importFiles(["start.ncu-rep", path("gpm.ncu-rep"), "-o", "rest"]);
    expect([code, existsSync(join(cwd, "rest/report.md"))]).toEqual([1, true]);
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
      expect(Object.keys(region?.metrics ?? {})).toEqual(Object.keys(own?.metrics ?? {}));
      const [inSections = [], ownInSections] = ["through", "rep"].map((directory) => [
        ...textIn(directory, "ncu/regions/_outside_/sections.txt").matchAll(
          /^ {2}\w.*| {4}\w+__\S+/gm,
        ),
      ]);
      expect(inSections.length).toBeGreaterThan(60);
      expect(inSections.map(String)).toEqual(ownInSections?.map(String));
      expect(Object.keys(region?.sections ?? {})).toContain("Occupancy");
      expect(readdirSync(join(cwd, "through/ncu")).sort()).toEqual([
        "details.csv",
        "ratios.csv",
        "raw.csv",
        "regions",
        "sections.txt",
      ]);
    },
  );

  test("reads a report without an ncu that does not even start, unless that one is asked for", async () => {
    const folder = join(cwd, "broken-nsight");
    mkdirSync(folder);
    writeFileSync(join(folder, "ncu"), "#!/bin/sh\necho no such library >&2\nexit 127\n");
    chmodSync(join(folder, "ncu"), 0o755);
    vi.stubEnv("HYDRACONF_NSIGHT", folder);
    const { code, stdout } = await importFiles([path("r1.ncu-rep"), "-o", "without"]);
    expect(code).toBe(0);
    expect(stdout).toContain("was read without ncu");
    expect(bundleIn("without/ncu").reports[0]?.totals.kernel_count).toBe(1);
    const refused = await refusal([path("r1.ncu-rep"), "--reader", "ncu", "-o", "refused"]);
    expect(refused?.message).toMatch(/r1\.ncu-rep: .* did not answer like Nsight Compute/);
  });

  test.skipIf(real === null)("joins the tables of several reports", async () => {
    for (const [name, value] of Object.entries(nsightEnvironment())) vi.stubEnv(name, value);
    await importFiles([path("r1.ncu-rep"), path("mojo.ncu-rep"), "--reader", "ncu", "-o", "both"]);
    expect(readdirSync(join(cwd, "both/ncu"))).toEqual(
      expect.arrayContaining(["mojo.raw.csv", "r1.raw.csv", "raw.csv", "sections.txt"]),
    );
    expect(bundleIn("both/ncu").reports[0]?.totals.kernel_count).toBe(5);
  });

  test("says where two tables of one report are given", async () => {
    const raw = path("raw-multi-launch-rtx2060.csv");
    const details = path("details-multi-launch-rtx2060.csv");
    const { stdout: printed } = await importFiles([raw, details, "-o", "twice"]);
    // Notes are wrapped.
    const stdout = printed.replaceAll(/\n {6}/g, " ");
    const note = /note: (.*) both have result \d+ of process \d+: if both are tables of one report/;
    expect(stdout).toMatch(note);
    expect(note.exec(stdout)?.[1]).toBe(`${raw} and ${details}`);
    const others = [raw, path("raw-1kernel-t4-base-units.csv")];
    expect((await importFiles([...others, "-o", "others"])).stdout).not.toContain("both have");
  });

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
    expect(stdout).toContain("calls and wall times are from a recording");
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

  test("takes C's numbers where a file leaves the locale open, and asks for it where they are not C's", async () => {
    const tableOf = (number: string) =>
      [
        '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","gpu__time_duration.sum"',
        '"","","","","","","","ns"',
        `"0","1","p","h","k","1","7","${number}"`,
        "",
      ].join("\n");
    writeFileSync(join(cwd, "open.csv"), tableOf("117.344"));
    await importFiles(["open.csv", "-o", "c"]);
    expect(bundleIn("c/ncu").reports[0]?.totals.total_ms).toBe(0.000117344);
    writeFileSync(join(cwd, "comma.csv"), tableOf("117,344"));
    const { stdout } = await importFiles(["comma.csv", "-o", "comma"]);
    expect(stdout).toContain("1 number like 1.234 was left out");
    expect(bundleIn("comma/ncu").reports[0]?.totals.total_ms).toBeNull();
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
    ["session-page-t4.csv", "ncu's session page"],
    ["nsys-stats-cuda_gpu_kern_sum.csv", "table of nsys stats"],
    ["nsys-stats-nvtx_pushpop_trace.csv", "table of nsys stats"],
    ["nsys-stats-nvtx_gpu_proj_trace.csv", "table of nsys stats"],
    ["nsys-stats-h100-nvtx_kern_sum.csv", "table of nsys stats"],
    ["syn-empty-report.csv", "ncu's terminal output"],
    ["log-pub-errnvgpuctrperm.txt", "ncu's terminal output"],
  ])("says what to give instead of %s", async (name, hint) => {
    expect(await refusal([path(name), "-o", "z"])).toMatchObject({
      code: "profile.input",
      hint: expect.stringContaining(hint),
    });
  });

  const littleEndian = (text: string): Buffer => Buffer.from(text, "utf16le");
  const bigEndian = (text: string): Buffer => littleEndian(text).swap16();

  test.each([
    ["that PowerShell redirected into a file", "\ufeff", "\r\n", littleEndian],
    ["whose mark is all of its first line", "\ufeff==PROF== Connected\n", "\n", littleEndian],
    ["of UTF-16 without a mark", "", "\r\n", littleEndian],
    ["of UTF-16 with the high bytes first", "\ufeff", "\r\n", bigEndian],
    ["of that without a mark", "\n\n", "\n", bigEndian],
  ])("reads a table %s", async (_what, before, lineEnd, encode) => {
    const table = readFileSync(path("raw-1kernel-t4-base-units.csv"), "utf8");
    writeFileSync(join(cwd, "utf16.csv"), encode(before + table.replaceAll("\n", lineEnd)));
    const out = `utf16-${before.length}-${lineEnd.length}-${encode.name}`;
    await importFiles(["utf16.csv", "-o", out]);
    expect(bundleIn(`${out}/ncu`).reports[0]?.totals).toMatchObject({
      kernel_count: 1,
      total_ms: 0.052576,
    });
  });
});
