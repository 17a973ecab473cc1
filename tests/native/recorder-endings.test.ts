import { once } from "node:events";
import { chmodSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { WRITINGS } from "../../src/profiler/tools/recorder/format.ts";
import { noteEnd, readRecording } from "../../src/profiler/tools/recorder/read.ts";
import { watchRecording } from "../../src/profiler/tools/recorder/recording-progress.ts";
import { availableClients, buildFixture, recorderEnvironment } from "./fixtures.ts";
import { outline } from "./outline.ts";
import { type Recorded, record, recordingDirectory } from "./record.ts";

const endings = (): Promise<string> => buildFixture("endings.cc", "own client");

async function end(
  ending: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<Recorded> {
  return record(await endings(), [ending], variables);
}

/** Linkers of other systems know no library that stays, and no function of a program in its place. */
const isLinux = process.platform === "linux";

const clients = availableClients("the recorder and how programs end");

describe.runIf(clients.length > 0)("what was recorded survives", () => {
  test.each(
    (isLinux ? WRITINGS : (["mapped"] as const)).flatMap((writing) =>
      ["segv", "abort", "kill"].map((ending) => [ending, writing] as const),
    ),
  )("a process that ends by %s, %s", async (ending, writing) => {
    const { outcome, timeline } = await end(ending, { HYDRACONF_RECORDER_WRITING: writing });
    expect(outcome.code).toBeUndefined();
    expect(outline(timeline)).toEqual(["main done open"]);
    const [process] = timeline.processes;
    expect(process?.finished).toBe(false);
    expect(process?.ranges.map(({ endNs }) => endNs === null)).toEqual([false, true]);
    expect(process?.notes.join("\n")).toContain("ended without finishing its recording");
  });

  test.each(WRITINGS)("_exit, which runs no destructor, %s", async (writing) => {
    const { outcome, timeline } = await end("_exit", { HYDRACONF_RECORDER_WRITING: writing });
    expect(outcome.code).toBe(3);
    expect(outline(timeline)).toEqual(["main done open"]);
    expect(timeline.processes[0]?.finished).toBe(false);
  });

  test("what its parent saw of the end: open ranges last until then", async () => {
    const { timeline, directory } = await end("kill");
    const [process] = timeline.processes;
    const pid = process?.pid ?? 0;
    noteEnd(directory, pid + 1, timeline.originNs + 5_000_000_000n);
    expect(readRecording(directory).processes[0]?.endNs).toBe(process?.endNs);
    noteEnd(directory, pid, timeline.originNs + 5_000_000_000n);
    const [ended] = readRecording(directory).processes;
    expect(ended).toMatchObject({ endNs: 5_000_000_000, finished: false });
    const finished = await end("return");
    noteEnd(finished.directory, finished.timeline.processes[0]?.pid ?? 0, 1n);
    expect(readRecording(finished.directory)).toEqual(finished.timeline);
  });

  test("exec: the new program records into a file of its own", async () => {
    const { outcome, timeline } = await end("exec");
    expect(outcome.code).toBe(0);
    expect(outline(timeline)).toEqual(["main done open", "main done open"]);
    const [before, after] = timeline.processes;
    expect(after?.pid).toBe(before?.pid);
    expect([before?.finished, after?.finished]).toEqual([false, true]);
  });
});

describe.runIf(clients.length > 0)("an orderly end", () => {
  test("is noted, and gives back the space that was only reserved", async () => {
    const { timeline, directory } = await end("return");
    expect(timeline.processes.map(({ finished, notes }) => [finished, notes])).toEqual([
      [true, []],
    ]);
    const [file = ""] = readdirSync(directory);
    expect(statSync(join(directory, file)).size).toBe(8192);
  });

  test("does not end the recording: exit handlers and static destructors count", async () => {
    const { outcome, timeline } = await end("exit-late");
    expect(outcome.code).toBe(0);
    expect(outline(timeline)).toEqual(["main done open(at exit in a static destructor)"]);
    expect(timeline.processes[0]?.finished).toBe(true);
  });
});

describe.runIf(clients.length > 0)("a fork", () => {
  test("gives every child a file with its parent's id and only its own events", async () => {
    const { outcome, timeline } = await end("fork");
    expect(outcome.code).toBe(0);
    const byName = new Map(
      timeline.processes.map((process) => [process.ranges.at(-1)?.name, process] as const),
    );
    const parent = byName.get("in parent");
    const child = byName.get("in child");
    const grandchild = byName.get("in grandchild");
    expect(timeline.processes).toHaveLength(3);
    expect(child?.parentPid).toBe(parent?.pid);
    expect(grandchild?.parentPid).toBe(child?.pid);
    expect(outline({ ...timeline, processes: child === undefined ? [] : [child] })).toEqual([
      "main in child",
    ]);
    expect(grandchild?.ranges[0]?.threadId).toBe(grandchild?.pid);
    expect(timeline.processes.map(({ finished }) => finished)).toEqual([true, true, true]);
  });

  test("is safe while other threads record", async () => {
    const { outcome, timeline } = await end("fork-busy");
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    const [parent, ...children] = timeline.processes;
    expect(children.map(({ ranges }) => ranges.map(({ name }) => name))).toEqual(
      Array.from({ length: 60 }, () => ["in child"]),
    );
    expect(children.every(({ parentPid }) => parentPid === parent?.pid)).toBe(true);
    expect(timeline.processes.flatMap(({ notes }) => notes)).toEqual([]);
  });

  test("on two threads at once leaves no lock behind", async () => {
    const { outcome, timeline } = await end("fork-together");
    expect(outcome.code).toBe(0);
    expect(timeline.processes[0]?.ranges.at(-1)?.name).toBe("afterwards");
  });

  test("that ends by _exit costs a child with one range two pages of disk", async () => {
    const children = 50;
    const { outcome, timeline, directory } = await record(
      await buildFixture("many_ranges.cc", "own client"),
      ["0", `${children}`],
    );
    expect(outcome.code).toBe(7);
    expect(timeline.processes.map(({ ranges }) => ranges.length)).toEqual(
      Array.from({ length: children }, () => 1),
    );
    const sizes = readdirSync(directory).map((name) => {
      const { size, blocks } = statSync(join(directory, name));
      return [size, blocks * 512];
    });
    expect(sizes).toEqual(Array.from({ length: children }, () => [8192, 8192]));
  });

  test("leaves no file for a child that records nothing", async () => {
    const { timeline } = await end("fork-silent");
    expect(timeline.processes).toHaveLength(1);
  });
});

describe.runIf(clients.length > 0)("the program is never disturbed", () => {
  test("by descriptors: it may close them all, and reuse their numbers", async () => {
    const { outcome, timeline } = await end("close-descriptors");
    expect(outcome.code).toBe(0);
    expect(timeline.processes[0]?.ranges).toHaveLength(100_002);
  });

  test("by a full disk: recording stops, with a note, and the program goes on", async () => {
    const { outcome, timeline } = await end("size-limit");
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    const [process] = timeline.processes;
    expect(process?.ranges.length).toBeGreaterThan(10_000);
    expect(process?.ranges.length).toBeLessThan(100_002);
    expect(process?.notes.join("\n")).toMatch(/recording stopped after \d+\.\d+ s \(EFBIG\)/);
    expect(process?.notes.join("\n")).toMatch(/\d+ events could not be recorded/);
    expect(process?.finished).toBe(true);
  });

  test("by signals that interrupt the recorder itself", async () => {
    const { outcome, timeline } = await end("signals");
    expect(outcome.code).toBe(0);
    const [process] = timeline.processes;
    const interrupted = process?.marks.filter(({ name }) => name === "interrupted") ?? [];
    const dropped = /([\d,]+) events could not be recorded/.exec(process?.notes.join("\n") ?? "");
    // Each of the 500 signals or more makes a mark, a push and a pop, recorded or counted.
    expect(
      interrupted.length + Number((dropped?.[1] ?? "0").replaceAll(",", "")),
    ).toBeGreaterThanOrEqual(500);
    expect(process?.notes.filter((note) => !note.includes("could not be recorded"))).toEqual([]);
  });

  test("by a cancelled thread: it ends where the program says, and no lock stays behind", async () => {
    const { outcome, timeline } = await end("cancel");
    expect(outcome.code).toBe(0);
    const [process] = timeline.processes;
    expect(process?.ranges).toHaveLength(20_003);
    expect(process?.ranges.at(-1)?.name).toBe("on another thread");
    expect(process?.notes).toEqual([]);
  });

  test("by a thread that is to be cancelled and ends the program instead: what is left to do is done", async () => {
    const { outcome, timeline } = await end("exit-cancelled");
    expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(timeline.processes[0]?.ranges).toHaveLength(20_002);
    expect(timeline.processes[0]?.finished).toBe(true);
  });

  test.runIf(isLinux)(
    "by being closed like a plugin while threads that recorded still run",
    async () => {
      const { outcome, timeline } = await record(await buildFixture("unload.cc", "own client"));
      expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
      expect(outline(timeline)).toEqual(["other before"]);
      expect(timeline.processes[0]?.finished).toBe(true);
    },
  );

  test.runIf(isLinux)(
    "by files that are hard to open: tries again, and takes no standard stream's number",
    async () => {
      const program = await buildFixture("hard_open.cc", "own client", ["-rdynamic"]);
      const { outcome, timeline } = await record(program);
      expect(outcome.code).toBe(0);
      expect(timeline.processes[0]?.ranges).toHaveLength(20_000);
      expect(timeline.processes[0]?.notes).toEqual([]);
    },
  );

  test("by a disk without room for a first page: it is told, and no empty file stays", async () => {
    const directory = recordingDirectory();
    const env = await recorderEnvironment(directory);
    const limited = ["-c", 'ulimit -f 1; exec "$0" return', await endings()];
    const { exitCode, stderr } = await execa("bash", limited, { env });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(`region_recorder: cannot record into ${directory}: File too large`);
    expect(readdirSync(directory)).toEqual([]);
  });

  test("by an unusable directory: it is told on stderr and nothing is recorded", async () => {
    const program = await endings();
    const env = await recorderEnvironment("/dev/null/nowhere");
    const { exitCode, stderr } = await execa(program, ["return"], { env });
    expect(exitCode).toBe(0);
    expect(stderr).toBe("region_recorder: cannot record into /dev/null/nowhere: Not a directory");
  });

  test.runIf(process.getuid?.() === 0)(
    "by a directory that its user may not create: the reason is told, not the consequence",
    async () => {
      const folder = recordingDirectory();
      chmodSync(folder, 0o755);
      const place = join(folder, "new");
      const program = await endings();
      const env = await recorderEnvironment(place);
      const { exitCode, stderr } = await execa(program, ["return"], { env, uid: 65534 });
      expect(exitCode).toBe(0);
      expect(stderr).toBe(`region_recorder: cannot record into ${place}: Permission denied`);
    },
  );

  test("by children without a place to record: their parent's recording tells, once", async () => {
    const program = await buildFixture("fork_refused.cc", "own client");
    const directory = recordingDirectory();
    const env = await recorderEnvironment(directory);
    const { exitCode, stderr } = await execa(program, [directory], { env, reject: false });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
    const [parent] = readRecording(`${directory}.moved`).processes;
    expect(parent?.ranges).toHaveLength(2);
    expect(parent?.notes).toEqual([
      expect.stringMatching(/: 150 forked children could not be recorded \(ENOENT\)$/),
    ]);
  });

  test("without a directory to record into: nothing happens", async () => {
    const program = await endings();
    const env = { ...(await recorderEnvironment("")), HYDRACONF_RECORDER_DIR: undefined };
    expect(await execa(program, ["return"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
  });

  test("by a recorder that is not there", async () => {
    const program = await endings();
    const env = { NVTX_INJECTION64_PATH: "/nowhere/region_recorder.so" };
    expect(await execa(program, ["return"], { env })).toMatchObject({ exitCode: 0, stderr: "" });
  });
});

describe.runIf(clients.length > 0)("while the program runs", () => {
  test("its recording can be read and followed", async () => {
    const program = await endings();
    const directory = recordingDirectory();
    const progress = watchRecording(directory);
    expect(progress()).toEqual({ processes: 0, ranges: 0, openRegion: null });

    const running = execa(program, ["pause"], { env: await recorderEnvironment(directory) });
    await once(running.stdout, "data");
    expect(progress()).toEqual({ processes: 1, ranges: 2, openRegion: "open" });
    expect(readRecording(directory).processes[0]?.finished).toBe(false);

    running.stdin.end();
    await running;
    expect(progress()).toEqual({ processes: 1, ranges: 2, openRegion: null });
    expect(readRecording(directory).processes[0]?.finished).toBe(true);
  });
});
