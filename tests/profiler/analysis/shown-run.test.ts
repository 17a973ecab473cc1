import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CollectedRun, reportOn } from "../../../src/profiler/run/run.ts";
import { readStaticAnalysis } from "../../../src/profiler/run/static-analysis.ts";
import type { Collection } from "../../../src/profiler/tools/tool.ts";
import { timelineOf } from "./timelines.ts";

const DOCUMENT = { parameters: { count: 0, bytes: 0 }, layers: [] };

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-shown-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A run that took so many milliseconds, and printed just that. */
function runOf(ms: number) {
  const stdoutFile = join(directory, `${ms}.json`);
  writeFileSync(stdoutFile, JSON.stringify({ ...DOCUMENT, timings_ms: { median: ms } }));
  const timeline = timelineOf([{ ranges: [{ name: "A", start: 0, end: ms * 1e6 }] }]);
  return { timeline, stdoutFile };
}

/** What `reportOn` makes of these runs when the last of them ended with an exit code. */
function sectionOf(times: readonly number[], exitCode: number) {
  const repeats = times.map(runOf);
  const collection = {
    collector: "recorder",
    measured: { kind: "timeline", timeline: repeats[0]?.timeline, repeats },
    source: { kind: "repeats", runs: [] },
    outcome: { exitCode, argv: ["x"], stdoutFile: repeats.at(-1)?.stdoutFile },
    notes: [],
  } as unknown as Collection;
  const run = {
    config: {
      pipeline: {
        recorder: { operation_domains: [], include: [], exclude: [] },
        report: { aggregate: true },
      },
    },
    workload: { argv: [], stdout: "document" },
    inputs: {},
    fingerprint: "sha256:0",
    environment: { gpus: [], hydraconf: "0.0.0" },
    collections: [collection],
    missing: [],
  } as unknown as CollectedRun;
  const { sections, workload } = reportOn(run, new Date(0));
  const [section] = sections;
  if (section === undefined) throw new Error("a collection makes a section");
  return { section, ...readStaticAnalysis(workload, section) };
}

describe("the run that is shown", () => {
  it.each([
    [[20, 30, 10], 20],
    [[10, 20, 30], 20],
    [[30, 10, 20], 20],
    [[4, 1, 3, 2], 2],
  ])("of %j is that of %d ms, in regions and in the workload's own output", (times, median) => {
    const { section, analysis } = sectionOf(times, 0);
    expect(section.bundle.reports[0]?.regions[0]?.wall_ms).toBe(median);
    expect(JSON.parse(readFileSync(section.stdoutFile ?? "", "utf8")).timings_ms.median).toBe(
      median,
    );
    expect(analysis?.passMs).toBe(median);
  });

  it("is told of by its own document, also where a later run failed", () => {
    expect(sectionOf([20, 30, 10], 3).analysis?.passMs).toBe(20);
  });
});
