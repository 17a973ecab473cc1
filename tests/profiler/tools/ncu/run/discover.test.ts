import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Workload } from "../../../../../src/profiler/machine/process.ts";
import {
  discoverLabels,
  noMatchNote,
  unmatchedNotes,
} from "../../../../../src/profiler/tools/ncu/run/discover.ts";
import { labelsOf } from "../../../../../src/profiler/tools/ncu/run/label-survey.ts";
import {
  type Collection,
  type Collector,
  silentProgress,
} from "../../../../../src/profiler/tools/tool.ts";
import { timelineOf } from "../../../analysis/timelines.ts";

const discovered = labelsOf(
  timelineOf([
    {
      ranges: [
        { name: "A", start: 0, end: 10 },
        { name: "B", start: 20, end: 30, domain: "D" },
        { name: "x;y", start: 40, end: 50 },
      ],
    },
  ]),
  [],
);

describe("what is said of patterns that match nothing", () => {
  it("names the labels there are, and the list that joined labels were meant as", () => {
    expect(noMatchNote({ include: ["nope"] }, discovered)).toBe(
      "nvtx.include (nope) matches none of the program's regions, so ncu was not started; available: A, D@B, x;y",
    );
    expect(noMatchNote({ include: ["A;B"] }, discovered)).toContain(
      "so ncu was not started (several regions are a list: [A,B]); available",
    );
  });

  it("shows a range without a name as tables do", () => {
    const nameless = labelsOf(
      timelineOf([
        {
          ranges: [
            { name: "", start: 0, end: 10 },
            { name: "", start: 20, end: 30, domain: "D" },
          ],
        },
      ]),
      [],
    );
    expect(noMatchNote({ include: ["nope"] }, nameless)).toMatch(
      /available: \(no name\), D@\(no name\)$/,
    );
  });

  it("is a note for each of them beside others that match", () => {
    expect(unmatchedNotes({ include: ["A", "A;B", "nope*", "x;y"] }, discovered)).toEqual([
      "nvtx.include: 'A;B' matches none of the program's regions (several regions are a list: [A,B]); available: A, D@B, x;y",
      "nvtx.include: 'nope*' matches none of the program's regions; available: A, D@B, x;y",
    ]);
    expect(unmatchedNotes({ include: ["*"] }, discovered)).toEqual([]);
  });
});

const directory = mkdtempSync(join(tmpdir(), "hydraconf-discover-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("discoverLabels", () => {
  const recorded = (name: string, about: Partial<Collection> = {}): Collection =>
    ({
      collector: "recorder",
      measured: {
        kind: "timeline",
        timeline: timelineOf([{ ranges: [{ name, start: 0, end: 10 }] }]),
      },
      outcome: { exitCode: 0 },
      ...about,
    }) as Collection;

  /** Names of the labels, where an earlier collector brought this. */
  async function labels(earlier: Collection): Promise<readonly string[]> {
    const recorder: Collector = { name: "recorder", collect: async () => recorded("own") };
    const never = new AbortController().signal;
    const found = await discoverLabels(
      {} as Workload,
      {
        directory,
        interrupt: { stop: never, kill: never },
        progress: silentProgress,
        say: () => {},
        earlier: [earlier],
      },
      { recorder, operationDomains: [] },
    );
    return found.labels.labels.map(({ name }) => name);
  }

  it("takes what an earlier collector saw of the whole run, and records the program itself else", async () => {
    expect(await labels(recorded("earlier"))).toEqual(["earlier"]);
    // A capture range of nsys leaves out what stands outside of it.
    expect(await labels(recorded("earlier", { partial: true }))).toEqual(["own"]);
  });
});
