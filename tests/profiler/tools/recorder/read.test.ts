import { cpSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { toReportBundle } from "../../../../src/profiler/analysis/to-report.ts";
import { recordFlag, recordType } from "../../../../src/profiler/tools/recorder/format.ts";
import { readRecording } from "../../../../src/profiler/tools/recorder/read.ts";
import { outline } from "../../../native/outline.ts";
import { context } from "../../../report/bundles.ts";
import { fixture, folderWith } from "./folder.ts";
import { record, recording, records, START_NS, stringRecord } from "./writer.ts";

describe("counts of threads", () => {
  const HALF = 2 ** 31;
  const used = (type: number, words: readonly number[], flags: number) =>
    record(type, words, recordFlag.counts | flags);
  const rangesOf = (...written: readonly (readonly number[])[]) => {
    const records_ = [records.thread(0, 7), stringRecord(1, "a"), ...written];
    const chunk = { stream: 0, sequence: 0, baseNs: START_NS, records: records_ };
    return readRecording(folderWith(recording([chunk], { finishedNs: START_NS + 100n })));
  };

  test("have blocks read and written behind all else", () => {
    const { blocks, payloads } = recordFlag;
    const timeline = rangesOf(
      used(recordType.push, [1, 1, 1, 2, 3, 4, 0, 10, HALF * 2 - 5], blocks | payloads),
      used(recordType.pop, [9, 2, 4, 6, 8, 10, 3], blocks),
    );
    expect(timeline.processes[0]?.ranges[0]?.counts).toEqual([1, 2, 3, 4, 0, 8]);
    const [report] = toReportBundle(buildRegionModel(timeline), context).reports;
    expect(report?.regions[0]?.metrics).toMatchObject({
      involuntary_context_switches: { value: 4, unit: "" },
      blocks_read: { value: 0, unit: "" },
      blocks_written: { value: 8, unit: "" },
    });
  });

  test("have none where a recording is older, also beside others that have them", () => {
    const timeline = rangesOf(
      used(recordType.push, [1, 1, 1, 2, 3, 4], 0),
      used(recordType.pop, [9, 2, 4, 6, 8], 0),
      used(recordType.push, [11, 1, 2, 4, 6, 8, 0, 0], recordFlag.blocks),
      used(recordType.pop, [19, 3, 5, 7, 9, 1, 1], recordFlag.blocks),
    );
    expect(timeline.processes[0]?.ranges.map(({ counts }) => counts)).toEqual([
      [1, 2, 3, 4],
      [1, 1, 1, 1, 1, 1],
    ]);
    const [report] = toReportBundle(buildRegionModel(timeline), context).reports;
    expect(report?.regions[0]?.metrics).toEqual({
      minor_page_faults: { value: 2, unit: "" },
      major_page_faults: { value: 3, unit: "" },
      voluntary_context_switches: { value: 4, unit: "" },
      involuntary_context_switches: { value: 5, unit: "" },
    });
  });
});

describe("names of threads", () => {
  const BOOT = "01010101-0101-0101-0101-010101010101";
  const named = (samples: object) => {
    const chunk = { stream: 0, sequence: 0, baseNs: START_NS, records: [records.thread(0, 107)] };
    const folder = folderWith(
      recording([chunk], { pid: 100, boot: 1, finishedNs: START_NS + 100n }),
    );
    const file = { version: 1, boot_id: BOOT, origin_ns: String(START_NS), states: ["running"] };
    const row = [1, 100, 107, 0, 0, 0, 0, 0, 0, 0];
    const text = JSON.stringify({ ...file, samples: [row], ...samples });
    writeFileSync(join(folder, "samples-100.json"), text);
    const [process] = readRecording(folder).processes;
    expect(process?.threadSamples).toHaveLength(1);
    return process?.threadNames;
  };

  test("are those that samples saw of the process", () => {
    const names = [
      [100, 107, "loader-0"],
      [100, 108, "größe"],
      [99, 109, "other"],
    ];
    expect(named({ names })).toEqual(
      new Map([
        [107, "loader-0"],
        [108, "größe"],
      ]),
    );
  });

  test("are absent from older files, and from damaged ones", () => {
    expect(named({})).toEqual(new Map());
    expect(named({ names: 1 })).toEqual(new Map());
    expect(named({ names: [[100, 107], 5, null, [100, 107, 3]] })).toEqual(new Map());
  });
});

describe("recordings of real programs", () => {
  test("a workload's regions, in two domains", () => {
    const timeline = readRecording(fixture("resnet-regions"));
    expect(timeline).toMatchObject({ collector: "recorder", clock: "CLOCK_MONOTONIC", notes: [] });
    const [process] = timeline.processes;
    expect(process).toMatchObject({
      executable: "/opt/example/bin/shallow_resnet",
      finished: true,
      startNs: 0,
      kernels: [],
      notes: [],
    });
    const [regions, operations] = outline(timeline);
    const forward = `stem residual(${Array(3).fill("block.conv1 block.conv2").join(" ")}) head`;
    expect(regions).toBe(`main A(${forward} A::A1(${forward})) B(${forward})`);
    expect(operations).toMatch(/^main shallow_resnet\.ops conv2d 4x3x16x16 -> 4x16x16x16 k3 /);
    expect(process?.ranges.map(({ id }) => id)).toEqual(process?.ranges.map((_, i) => i));
  });

  test("a crash: what was open stays open", () => {
    const [process] = readRecording(fixture("crash")).processes;
    expect(process).toMatchObject({ finished: false });
    expect(process?.ranges).toMatchObject([
      { name: "done", endNs: expect.any(Number) },
      { name: "open", endNs: null, endThreadId: null },
    ]);
    expect(process?.endNs).toBe(process?.ranges[1]?.startNs);
    expect(process?.notes).toEqual([
      expect.stringMatching(
        /^process \d+ \(endings\): ended without finishing its recording: it crashed/,
      ),
    ]);
  });

  test("forked processes, on one clock and in order of their start", () => {
    const { processes } = readRecording(fixture("fork"));
    expect(processes.map(({ ranges }) => ranges.at(-1)?.name)).toEqual([
      "in parent",
      "in child",
      "in grandchild",
    ]);
    const [parent, child, grandchild] = processes;
    expect([child?.parentPid, grandchild?.parentPid]).toEqual([parent?.pid, child?.pid]);
    expect(child?.startNs).toBeGreaterThan(parent?.ranges[1]?.startNs ?? Number.NaN);
  });

  test("a recorder that had to stop", () => {
    const [process] = readRecording(fixture("size-limit")).processes;
    expect(process?.ranges.length).toBeGreaterThan(100);
    expect(process?.notes[0]).toMatch(/recording stopped after \d+\.\d{3} s \(EFBIG\)/);
  });

  test("threads: ranges stand in order of start, each on its thread", () => {
    const [process] = readRecording(fixture("threads")).processes;
    const starts = process?.ranges.map(({ startNs }) => startNs) ?? [];
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    const outer = process?.ranges.filter(({ name }) => name === "outer") ?? [];
    expect(new Set(outer.map(({ threadId }) => threadId)).size).toBe(4);
    expect(outer.every(({ domain }) => domain.startsWith("domain "))).toBe(true);
    expect(process?.notes).toEqual([]);
  });

  test("every kind of call", () => {
    const [process] = readRecording(fixture("full-api")).processes;
    expect([process?.ranges.length, process?.marks.length]).toEqual([21, 15]);
    expect(process?.threadNames.get(2)).toBe("second thread ②");
    expect(process?.categoryNames.map(({ name }) => name)).toEqual([
      "three",
      "four ④",
      "three of math",
    ]);
  });
});

describe("recordings of several processes", () => {
  const SECOND = 1_000_000_000n;
  const NOW = 1_800_000_000n * SECOND;
  const startedAt = (realtimeNs?: bigint) =>
    recording([], { finishedNs: 1n, ...(realtimeNs !== undefined && { realtimeNs }) });
  const notesOf = (...files: readonly Uint8Array[]) => readRecording(folderWith(...files)).notes;

  test("of one boot share a clock, which may have been set right meanwhile", () => {
    expect(notesOf(startedAt(NOW), startedAt(NOW + SECOND), startedAt())).toEqual([]);
  });

  test("that do not say when their clocks began are of no known machine", () => {
    const { processes } = readRecording(folderWith(startedAt(NOW), startedAt()));
    expect(processes.map(({ machine }) => machine)).toEqual([0, undefined]);
  });

  test("are told of one by one where few cannot be read, and counted where many cannot", () => {
    const broken = Array.from({ length: 500 }, () => Buffer.from("this is no recording"));
    const notes = notesOf(startedAt(NOW), ...broken);
    expect(notes).toHaveLength(17);
    expect(notes[0]).toMatch(/^1\.nvtxrec could not be read: /);
    expect(notes[16]).toBe("484 more recordings could not be read, or are empty");
  });

  test("of several boots or machines do not: they are side by side, and a note explains it", () => {
    const { processes, notes } = readRecording(
      folderWith(startedAt(NOW + 3600n * SECOND), startedAt(NOW)),
    );
    expect(processes.map(({ startNs }) => startNs)).toEqual([0, 0]);
    expect(notes).toEqual([
      expect.stringMatching(/^the recordings' clocks started at different times: .* side by side$/),
    ]);
  });

  test("of several machines that started together are ordered by the wall clock", () => {
    const uptime = (days: bigint, realtimeNs: bigint) =>
      recording([], { startNs: days * 86_400n * SECOND, finishedNs: 1n, realtimeNs });
    const { processes, notes, originNs } = readRecording(
      folderWith(uptime(3n, NOW + 2n * SECOND), uptime(200n, NOW), uptime(3n, NOW + 5n * SECOND)),
    );
    expect(processes.map(({ startNs }) => startNs)).toEqual([0, 2e9, 2e9]);
    expect(processes.map(({ machine }) => machine)).toEqual([1, 0, 0]);
    expect(originNs).toBe(200n * 86_400n * SECOND);
    expect(notes).toEqual([
      expect.stringMatching(
        /the recordings began within a minute .* use the machines' wall clocks$/,
      ),
    ]);
  });
});

describe("recordings that name the machine's start", () => {
  const SECOND = 1_000_000_000n;
  const NOW = 1_800_000_000n * SECOND;
  const UPTIME = 5_000n * SECOND;
  const startedAt = (realtimeNs: bigint, boot: number, startNs = UPTIME) =>
    recording([], { finishedNs: 1n, startNs, realtimeNs, boot });
  const read = (...files: readonly Uint8Array[]) => readRecording(folderWith(...files));

  test("are of two machines though both were started within a minute", () => {
    const { processes, notes } = read(
      startedAt(NOW, 1),
      startedAt(NOW + 20n * SECOND, 2, UPTIME + SECOND),
      startedAt(NOW + 30n * SECOND, 1, UPTIME + 30n * SECOND),
    );
    expect(processes.map(({ machine }) => machine)).toEqual([0, 1, 0]);
    expect(processes.map(({ startNs }) => startNs)).toEqual([0, 20e9, 30e9]);
    expect(notes).toEqual([expect.stringContaining("several machines or boots")]);
  });

  test("are of one clock though the machine slept, or its time was set, between them", () => {
    const { processes, notes } = read(
      startedAt(NOW, 1),
      startedAt(NOW + 7200n * SECOND, 1, UPTIME + 3n * SECOND),
    );
    expect(processes.map(({ machine }) => machine)).toEqual([0, 0]);
    expect(processes.map(({ startNs }) => startNs)).toEqual([0, 3e9]);
    expect(notes).toEqual([]);
  });

  test("are of the clock of one that does not, if both began at one time", () => {
    const unnamed = recording([], { finishedNs: 1n, startNs: UPTIME, realtimeNs: NOW });
    expect(read(startedAt(NOW, 1), unnamed).processes.map(({ machine }) => machine)).toEqual([
      0, 0,
    ]);
  });

  test("are of two machines also beside one that does not, which counts to the nearer one", () => {
    const unnamedAt = (realtimeNs: bigint) =>
      recording([], { finishedNs: 1n, startNs: UPTIME, realtimeNs });
    const machines = (...files: readonly Uint8Array[]) =>
      read(...files).processes.map(({ machine }) => machine);
    const named = [startedAt(NOW, 1), startedAt(NOW + 20n * SECOND, 2)];
    expect(machines(unnamedAt(NOW), ...named)).toEqual([0, 0, 1]);
    expect(machines(...named, unnamedAt(NOW + 19n * SECOND))).toEqual([0, 1, 1]);
  });
});

describe("what is no recording", () => {
  test("a missing directory is an error, an empty one a note", () => {
    const directory = join(mkdtempSync(join(tmpdir(), "recording-")), "missing");
    expect(() => readRecording(directory)).toThrow(
      expect.objectContaining({ code: "recording.not_found" }),
    );
    expect(readRecording(folderWith())).toMatchObject({
      processes: [],
      notes: [expect.stringMatching(/^no process loaded the recorder, .*nvtx3::scoped_range/)],
    });
  });

  test("a directory that cannot be read may be read later; one that is not there is an error", () => {
    const directory = folderWith(recording([]));
    const loop = join(directory, "loop");
    symlinkSync("loop", loop);
    const { notes, processes, refused } = readRecording(loop);
    expect([processes, refused]).toEqual([[], true]);
    expect(notes).toEqual([`'${loop}': its symbolic links form a loop`]);
    expect(() => readRecording(join(directory, "none"))).toThrow("There is no directory");
  });

  test.runIf(process.platform === "linux")(
    "a file that the system does not let be read leaves a note, and may be read later",
    () => {
      const directory = folderWith(recording([]));
      expect(readRecording(directory)).not.toHaveProperty("refused");
      // A regular file whose first bytes nobody can read: EIO.
      symlinkSync("/proc/self/mem", join(directory, "9.nvtxrec"));
      const timeline = readRecording(directory);
      expect([timeline.refused, timeline.processes.length]).toEqual([true, 1]);
      expect(timeline.notes).toContainEqual(
        expect.stringMatching(/^9\.nvtxrec could not be read: its disk .* failed/),
      );
    },
  );

  test.each([
    ["other bytes", Buffer.from("%PDF-1.7 and so on, for long enough"), /has the wrong signature/],
    ["another version", recording([], { major: 2 }), /format version 2\.0; only 1\.x is supported/],
  ])("%s does not take the readable recordings with it", (_, bytes, message) => {
    const directory = folderWith(bytes);
    cpSync(fixture("crash"), directory, { recursive: true });
    const timeline = readRecording(directory);
    expect(timeline.processes).toHaveLength(1);
    expect(timeline.notes).toEqual([expect.stringMatching(message)]);
    expect(timeline.notes[0]).toMatch(/0\.nvtxrec could not be read/);
  });

  test.each([
    ["an empty file", Buffer.alloc(0)],
    ["a file whose header is not written yet", Buffer.alloc(262144)],
    ["half a header", recording([]).subarray(0, 50)],
  ])("%s is passed over with a note", (_, bytes) => {
    const timeline = readRecording(folderWith(bytes));
    expect(timeline.processes).toEqual([]);
    expect(timeline.notes[0]).toMatch(/0\.nvtxrec: the process ended before it recorded anything/);
  });
});

describe("the format", () => {
  const simple = (littleEndian: boolean) =>
    recording(
      [
        {
          stream: 0,
          sequence: 0,
          baseNs: START_NS + 1000n,
          records: [
            records.thread(0, 7),
            stringRecord(1, "näme", littleEndian),
            stringRecord(2, "dømain", littleEndian),
            records.domain(5, 2),
            records.push(1, 1, 5),
            records.pop(2, 5),
          ],
        },
      ],
      { littleEndian, finishedNs: START_NS + 5000n },
    );

  test.each([true, false])("is read in either byte order (little-endian: %s)", (littleEndian) => {
    const timeline = readRecording(folderWith(simple(littleEndian)));
    expect(timeline.originNs).toBe(START_NS);
    expect(timeline.processes).toMatchObject([
      {
        pid: 100,
        executable: "/opt/example/bin/written",
        endNs: 5000,
        finished: true,
        ranges: [{ name: "näme", domain: "dømain", threadId: 7, startNs: 1001, endNs: 1002 }],
        notes: [],
      },
    ]);
  });

  const read = (...words: (readonly number[])[]) => {
    const chunk = { stream: 0, sequence: 0, baseNs: START_NS, records: words };
    const [process] = readRecording(folderWith(recording([chunk], { finishedNs: 1n }))).processes;
    return process;
  };

  test("a time record moves the base, for gaps beyond 32 bits", () => {
    const process = read(
      records.thread(0, 7),
      stringRecord(1, "long"),
      records.push(1, 1),
      records.time(START_NS + 60_000_000_000n),
      records.pop(5),
    );
    expect(process?.ranges).toMatchObject([{ startNs: 1, endNs: 60_000_000_005 }]);
  });

  test("records of unknown kinds are passed over and counted", () => {
    const unknown = record(120, [1, 2, 3]);
    const process = read(
      records.thread(0, 7),
      unknown,
      stringRecord(1, "a"),
      unknown,
      records.push(1, 1),
    );
    expect(process?.ranges).toMatchObject([{ name: "a" }]);
    expect(process?.notes).toContain("process 100 (written): records of an unknown kind: 2");
  });

  test("another thread that takes over a stream inherits no open range", () => {
    const process = read(
      records.thread(0, 7),
      stringRecord(1, "left open"),
      records.push(1, 1),
      records.thread(2, 8),
      records.pop(3),
    );
    expect(process?.ranges).toMatchObject([{ threadId: 7, endNs: null }]);
    expect(process?.notes).toContain("process 100 (written): pops without an open range: 1");
  });

  test("an end finds its start in a stream that stands later in the file", () => {
    const chunk = (stream: number, words: (readonly number[])[]) => ({
      stream,
      sequence: 0,
      baseNs: START_NS,
      records: words,
    });
    const bytes = recording([
      chunk(0, [records.thread(0, 7), records.end(9, 4294967297n)]),
      chunk(1, [records.thread(0, 8), stringRecord(1, "s"), records.start(3, 4294967297n, 1)]),
    ]);
    const [process] = readRecording(folderWith(bytes)).processes;
    expect(process?.ranges).toMatchObject([
      { kind: "start_end", threadId: 8, startNs: 3, endThreadId: 7, endNs: 9 },
    ]);
  });

  test("names that are not UTF-8 are read as Latin-1, with a note", () => {
    const process = read(records.thread(0, 7), record(1, [1, 3, 0x00e9_6261]), records.push(1, 1));
    expect(process?.ranges[0]?.name).toBe("abé");
    expect(process?.notes).toContain(
      "process 100 (written): names that are not UTF-8, read as Latin-1: 1",
    );
  });
});
