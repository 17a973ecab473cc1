/** Every writer of a run's reports, on real recordings of the recorder, Nsight Systems and Nsight Compute. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { renderChromeTrace } from "../../../src/profiler/run/chrome-trace.ts";
import { renderSpeedscope } from "../../../src/profiler/run/speedscope.ts";
import { nsysExportImporter } from "../../../src/profiler/tools/nsys/nsys-importer.ts";
import { readRecording } from "../../../src/profiler/tools/recorder/read.ts";
import { openSource } from "../../../src/profiler/tools/source-file.ts";
import { samplesOrSkip } from "../../shared.ts";
import { type Imported, importReal } from "./imported.ts";
import { expectSnapshot, RECORDINGS } from "./neutral.ts";

const sample = samplesOrSkip("snapshots of reports of Nsight's files");
const samples = sample?.("") ?? "";

const OF_RUN = ["report.md", "kernels.md", "stakeholder_summary.md"];
const ofCollector = (collector: string) =>
  ["report.json", "report.md", "report.html", "regions.csv", "kernels.csv"].map(
    (file) => `${collector}/regions/${file}`,
  );

async function expectFiles(name: string, imported: Imported, files: readonly string[]) {
  await expectSnapshot(`${name}/terminal.txt`, imported.terminal);
  for (const file of files)
    await expectSnapshot(`${name}/${file.replaceAll("/regions/", "/")}`, imported.text(file));
}

describe("reports of a recording", () => {
  it("of the network on a CPU", async () => {
    const imported = await importReal("cpu", RECORDINGS, ["resnet-batch-1"]);
    await expectFiles("cpu", imported, [
      ...OF_RUN,
      ...ofCollector("recorder"),
      "recorder/regions/block.conv1/report.md",
    ]);
  });

  it("of several processes: a parent, a child and its child", async () => {
    const imported = await importReal("processes", RECORDINGS, ["fork"]);
    await expectFiles("processes", imported, [...OF_RUN, "recorder/regions/report.md"]);
  });

  it("as timelines for Perfetto and speedscope", async () => {
    const timeline = readRecording(join(RECORDINGS, "resnet-regions"));
    await expectSnapshot("timeline/trace.json", [...renderChromeTrace(timeline)].join(""));
    await expectSnapshot(
      "timeline/trace.speedscope.json",
      [...renderSpeedscope(timeline, timeline.collector)].join(""),
    );
  });
});

describe.skipIf(sample === null)("reports of Nsight's files", () => {
  it("of kernels on two GPUs, from an export of Nsight Systems", async () => {
    const file = "nsys-real-nvtx+synthetic-cuda-2023.4.sqlite";
    await expectFiles("nsys", await importReal("nsys", samples, [file]), [
      ...OF_RUN,
      ...ofCollector("nsys"),
    ]);
    const imported = await nsysExportImporter.read(openSource(file, samples), {
      reader: "auto",
      numberFormat: null,
      allThreads: false,
      directory: "",
      prefix: "",
      withTool: (work) => work(new AbortController().signal),
      say: () => {},
    });
    if (imported.kind !== "timeline") throw new Error("nsys has a timeline");
    const { timeline } = imported;
    await expectSnapshot("nsys/trace.json", [...renderChromeTrace(timeline)].join(""));
    await expectSnapshot(
      "nsys/trace.speedscope.json",
      [...renderSpeedscope(timeline, timeline.collector)].join(""),
    );
  });

  it("of metrics of whole ranges, from Nsight Compute", async () => {
    const imported = await importReal("ranges", samples, ["syn-range-raw-4-ranges.csv"]);
    await expectFiles("ncu-ranges", imported, [...OF_RUN, ...ofCollector("ncu")]);
  });

  it("of kernels with their metrics, from Nsight Compute", async () => {
    const imported = await importReal("kernels", samples, [
      "raw-multi-kernel-gtx1660-ncu2024.1.csv",
      "raw-multi-launch-rtx2060.csv",
    ]);
    await expectFiles("ncu-kernels", imported, [
      ...OF_RUN,
      "ncu/regions/report.md",
      "ncu/regions/kernels.csv",
    ]);
  });

  it("of two collectors in one run, and the sections of a region", async () => {
    const both = await importReal("both", samples, [
      "syn-raw-nvtx-grammar-18-kernels.csv",
      "nsys-real-nvtx+synthetic-cuda-2023.4.sqlite",
    ]);
    await expectFiles("two-collectors", both, OF_RUN);
    const report = await importReal("sections", samples, ["r1.ncu-rep"], ["--reader", "own"]);
    await expectFiles("sections", report, ["ncu/regions/_outside_/sections.txt"]);
    expect(report.terminal).toContain("was read without ncu");
  });
});
