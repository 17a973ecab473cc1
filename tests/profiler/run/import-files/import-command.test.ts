import { execFileSync } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { RegionReportBundle } from "../../../../src/report/model/document.ts";
import { samplesOrSkip } from "../../../shared.ts";
import { importer } from "./importer.ts";

const RECORDINGS = fileURLToPath(new URL("../../../fixtures/recordings", import.meta.url));
const { cwd, importFiles, refusal } = importer();
const mkfifo = (name: string) => execFileSync("mkfifo", [join(cwd, name)]);

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

  test("makes them also where the clock is far off", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    const { code } = await importFiles([source, "-o", "far off"], new Date(8.64e15));
    expect(code).toBe(0);
    const file = join(cwd, "far off/recorder/regions/report.json");
    expect(readFileSync(file, "utf8")).toContain('"9999-12-31T23:59:59.999Z"');
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
    const html = readFileSync(join(cwd, "pages", page), "utf8");
    expect(html).toContain("A::A1");
    // No command is known: the file is what tells the page from others.
    expect(html).toMatch(/<title>resnet-regions · recorder report of /);
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
      message: "a run is a run directory in which nothing was recorded",
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
    expect(report.notes.join("\n")).toContain("numbers are from the median run of 3");
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
    // Tables are what ncu leaves empty; other files are cut off.
    writeFileSync(join(cwd, "empty.pt.trace.json.gz"), "");
    expect(await refusal(["empty.pt.trace.json.gz", "-o", "new"])).toMatchObject({
      message: "empty.pt.trace.json.gz is empty",
      hint: "it was not written or copied to its end: write or copy it again",
    });
    expect(await refusal(["other.txt", "-o", "new"])).toMatchObject({
      message: "other.txt is not a file that can be imported",
      available: expect.arrayContaining([expect.stringContaining("deep-profile recording")]),
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

  test("opens no pipe, socket or device, which may never end: each is told as what it is", async () => {
    mkfifo("piped.csv");
    const server = createServer().listen(join(cwd, "socket.csv"));
    await once(server, "listening");
    symlinkSync("/dev/zero", join(cwd, "zero.csv"));
    for (const [name, what] of [
      ["piped.csv", "a pipe"],
      ["socket.csv", "a socket"],
      ["zero.csv", "a device"],
    ] as const)
      expect(await refusal([name])).toMatchObject({
        code: "profile.input",
        message: `${name} cannot be read: it is ${what}, not a file`,
      });
    server.close();
  });

  test("reads the recordings of a directory in which a pipe is called like one", async () => {
    const source = join(RECORDINGS, "resnet-regions");
    cpSync(source, join(cwd, "with a pipe"), { recursive: true });
    mkfifo("with a pipe/events-1-1.nvtxrec");
    const { code } = await importFiles(["with a pipe", "-o", "beside a pipe"]);
    expect(code).toBe(0);
    expect(readFileSync(join(cwd, "beside a pipe/recorder/regions/report.md"), "utf8")).toContain(
      "could not be read: it is a pipe, not a file",
    );
  });

  test("--help names every format", async () => {
    const { code, stdout } = await importFiles(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Usage: deep-profile import \[options\] FILE\|DIR\|RUN\.\.\.\n/);
    expect(stdout).toContain("deep-profile recording");
  });
});
