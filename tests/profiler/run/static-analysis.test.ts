import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Workload } from "../../../src/profiler/machine/process.ts";
import { measurePeaks, readStaticAnalysis } from "../../../src/profiler/run/static-analysis.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-static-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const stdoutFile = join(directory, "stdout.json");

const LAYER = { name: "stem", operation: "conv2d", range: "stem", flops: 1e9, bytes: 4e6 };
const PEAKS = { gflops_per_second: 100, gbytes_per_second: null, source: "measured" };
const DOCUMENT = {
  parameters: { count: 3, bytes: 12 },
  layers: [LAYER],
  timings_ms: { median: 2 },
  peaks: PEAKS,
  device: "cpu",
};

const WORKLOAD: Workload = {
  label: "shallow_resnet",
  argv: ["shallow_resnet"],
  cwd: directory,
  env: {},
  stdout: "document",
  device: "cpu",
  inputFiles: [],
};
const read = () => readStaticAnalysis(WORKLOAD, { collector: "recorder", stdoutFile });
function readOf(document: unknown) {
  writeFileSync(stdoutFile, typeof document === "string" ? document : JSON.stringify(document));
  return read();
}

it("reads what the workload printed", () => {
  const { parameters, layers, peaks } = DOCUMENT;
  const analysis = { parameters, layers, peaks: null, passMs: 2 };
  expect(readOf(DOCUMENT)).toEqual({ analysis });
  const section = { collector: "recorder", stdoutFile };
  expect(readStaticAnalysis(WORKLOAD, section, peaks)).toEqual({
    analysis: { ...analysis, peaks },
  });
});

const { name: _, ...nameless } = LAYER;

it.each<readonly [string, unknown]>([
  ["a layer without a name", { ...DOCUMENT, layers: [LAYER, nameless] }],
  ["a text for a number", { ...DOCUMENT, layers: [{ ...LAYER, flops: "many" }] }],
  ["less than no bytes", { ...DOCUMENT, layers: [{ ...LAYER, bytes: -1 }] }],
  ["a number too large", JSON.stringify(DOCUMENT).replace("1000000000", "1e999")],
  ["layers that are no list", { ...DOCUMENT, layers: { ...[LAYER] } }],
  ["a layer that is null", { ...DOCUMENT, layers: [null] }],
  ["no parameters", { ...DOCUMENT, parameters: undefined }],
  ["no median", { ...DOCUMENT, timings_ms: {} }],
  ["a peak that is a text", { ...DOCUMENT, peaks: { ...PEAKS, gflops_per_second: "high" } }],
  ["a list", []],
  ["null", null],
  ["what was cut", '{"layers"'],
])("says that %s is not what the workload printed", (_, document) => {
  expect(readOf(document)).toEqual({
    problem: "no static analysis: the workload's output recorder/stdout.json has been changed",
  });
});

describe("what the device can do at most", () => {
  const asked = async (script: string, stop = new AbortController().signal) => {
    const said: string[] = [];
    const workload = { ...WORKLOAD, peaksArgv: ["sh", "-c", script] };
    return { peaks: await measurePeaks(workload, stop, (line) => said.push(line)), said };
  };

  it("is what a run of its own printed, never what the profiled one did", async () => {
    const own = { ...PEAKS, gflops_per_second: 200 };
    const { peaks, said } = await asked(`echo '${JSON.stringify({ ...DOCUMENT, peaks: own })}'`);
    expect({ peaks, said }).toEqual({ peaks: own, said: [] });
    readOf(DOCUMENT);
    const section = { collector: "recorder", stdoutFile };
    expect(readStaticAnalysis(WORKLOAD, section, own).analysis?.peaks).toEqual(own);
  });

  it("is unknown, with the reason, where that run failed or told nothing", async () => {
    expect(await asked("echo first >&2; echo no such device >&2; exit 1")).toEqual({
      peaks: null,
      said: ["what the device can do at most is unknown: no such device"],
    });
    expect(await asked("echo '{}'")).toEqual({
      peaks: null,
      said: ["what the device can do at most is unknown: it gave none"],
    });
  });

  it("is not waited for once the run is to stop", async () => {
    const stop = new AbortController();
    const answer = asked("exec sleep 1000", stop.signal);
    stop.abort("SIGINT");
    expect(await answer).toEqual({ peaks: null, said: [] });
    expect(await measurePeaks(WORKLOAD, new AbortController().signal, () => {})).toBeNull();
  });
});

it.skipIf(process.platform === "win32")("opens no pipe in its place", () => {
  rmSync(stdoutFile);
  execFileSync("mkfifo", [stdoutFile]);
  expect(read().problem).toContain("cannot be read: it is a pipe, not a file");
});
