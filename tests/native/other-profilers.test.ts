/**
 * The recorder beside other tools that want CUPTI, which has room for one: what each keeps that starts before the recorder, or
 * after it. `docs/harmless.md` has the table of it.
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { fakeGpu } from "./fake-gpu.ts";
import { availableClients, buildFixture } from "./fixtures.ts";
import { bare } from "./gpu-recording.ts";
import {
  nsightLibrary,
  otherCupti,
  type Profiled,
  type Profiler,
  profiledProgram,
  profilerLibrary,
  runProfiled,
} from "./other-profilers.ts";

const canBuild = availableClients("the recorder beside other profilers").length > 0;

const MULTIPLE_SUBSCRIBERS = 39;
const names = ({ processes }: Profiled) =>
  [...(processes[0]?.kernels ?? [])].map(({ name }) => name);
const ranges = ({ processes }: Profiled) => (processes[0]?.ranges ?? []).map(({ name }) => name);
const notes = ({ processes }: Profiled) => bare(processes.flatMap((process) => process.notes));

const handedOver = (call: string, library: string) =>
  new RegExp(
    `^GPU work was recorded for the first \\d+\\.\\d{3} s: then the program's own profiler began \\(${call}, called by ${library}`,
  );
const TAKEN =
  "GPU kernels were not recorded: cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED (another tool already uses CUPTI in this process: ncu, nsys, or the program's own profiler)";

/** Where a profiler finds its CUPTI: the file that the recorder has, or one of its own. */
async function cuptiOf(which: "same" | "own") {
  return { PROFILER_CUPTI: which === "own" ? await otherCupti() : (await fakeGpu()).cupti };
}

describe.runIf(canBuild && process.platform === "linux")("a profiler inside the program", () => {
  const kinds: readonly (readonly [Profiler, "same" | "own", string])[] = [
    ["kineto", "same", "cuptiSubscribe"],
    ["kineto bound at once", "same", "cuptiSubscribe"],
    ["proton", "same", "cuptiSubscribe"],
    ["proton", "own", "cuptiSubscribe"],
    ["mosaic", "same", "cuptiSubscribe_v2"],
    ["mosaic", "own", "cuptiSubscribe_v2"],
  ];

  test.each(kinds)(
    "%s (%s libcupti) that begins after the recorder gets CUPTI",
    async (kind, which, call) => {
      const library = await profilerLibrary(kind);
      const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
      const result = await runProfiled([...steps, "launch", "third"], await cuptiOf(which));
      expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
      expect(names(result)).toEqual(["first"]);
      expect(ranges(result)).toEqual(["first", "second", "third"]);
      expect(notes(result)).toEqual([
        expect.stringMatching(handedOver(call, kind.startsWith("kineto") ? "kineto" : "looked_up")),
      ]);
    },
  );

  test.each(kinds)(
    "%s (%s libcupti) is seen, too, when it is loaded after the recorder",
    async (kind, which) => {
      const library = await profilerLibrary(kind);
      const steps = ["launch", "first", "load", library, "start", "launch", "second", "stop"];
      const result = await runProfiled(steps, await cuptiOf(which));
      expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
      expect(names(result)).toEqual(["first"]);
    },
  );

  test.each(kinds)(
    "%s (%s libcupti) that began before the recorder keeps CUPTI",
    async (kind, which) => {
      const library = await profilerLibrary(kind);
      const steps = ["load", library, "start", "launch", "first", "stop", "launch", "second"];
      const result = await runProfiled(steps, await cuptiOf(which));
      expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
      expect(names(result)).toEqual([]);
      expect(ranges(result)).toEqual(["first", "second"]);
      expect(notes(result)).toEqual([TAKEN]);
    },
  );

  test.each(kinds)(
    "%s (%s libcupti) that is only loaded costs the recording nothing",
    async (kind, which) => {
      const library = await profilerLibrary(kind);
      const steps = ["load", library, "launch", "first", "launch", "second"];
      const result = await runProfiled(steps, await cuptiOf(which));
      expect(result).toMatchObject({ code: 0, said: [] });
      expect(names(result)).toEqual(["first", "second"]);
      expect(notes(result)).toEqual([]);
    },
  );

  test.each(kinds)(
    "%s (%s libcupti) is refused where gpu=on keeps CUPTI, which is noted",
    async (kind, which, call) => {
      const library = await profilerLibrary(kind);
      const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
      const env = { ...(await cuptiOf(which)), HYDRACONF_RECORDER_GPU: "on" };
      const result = await runProfiled(steps, env);
      expect(result).toMatchObject({ code: 0, said: [`start ${MULTIPLE_SUBSCRIBERS}`, "stop 0"] });
      expect(names(result)).toEqual(["first", "second"]);
      expect(notes(result)).toEqual([
        expect.stringMatching(
          new RegExp(
            `^the program's own profiler was refused CUPTI after \\d+\\.\\d{3} s \\(${call}, called by .*pipeline.recorder.gpu=on keeps it`,
          ),
        ),
      ]);
    },
  );

  test("one that is part of the program itself gets CUPTI, too", async () => {
    const program = await profiledProgram("has kineto inside");
    const steps = ["load", "inside", "launch", "first", "start", "launch", "second", "stop"];
    const result = await runProfiled(steps, {}, program);
    expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
    expect(names(result)).toEqual(["first"]);
    expect(notes(result)).toEqual([
      expect.stringMatching(handedOver("cuptiSubscribe", "profiled_program")),
    ]);
  });

  test("where its calls cannot be watched a note says what to set", async () => {
    const system = await buildFixture("no_mprotect.cc", "own client", ["-shared", "-fPIC"]);
    const library = await profilerLibrary("kineto bound at once");
    const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
    const result = await runProfiled(steps, { LD_PRELOAD: system });
    expect(result).toMatchObject({ code: 0, said: [`start ${MULTIPLE_SUBSCRIBERS}`, "stop 0"] });
    expect(names(result)).toEqual(["first", "second"]);
    expect(notes(result)).toEqual([
      expect.stringMatching(
        /^\d+ calls? between the program's libraries cannot be watched here: .*pipeline\.recorder\.gpu=off leaves CUPTI to it$/,
      ),
    ]);
  });

  test.each(kinds)(
    "%s (%s libcupti) that comes and goes on many threads is seen the next time",
    async (kind, which) => {
      const library = await profilerLibrary(kind);
      const steps = ["launch", "first", "storm", library, "load", library, "start"];
      const result = await runProfiled(
        [...steps, "launch", "second", "stop"],
        await cuptiOf(which),
      );
      expect(result).toMatchObject({ code: 0, said: ["calm", "start 0", "stop 1"] });
      expect(names(result)).toEqual(["first"]);
    },
  );

  test("profiles of a profiler that begins again are its own", async () => {
    const library = await profilerLibrary("proton");
    const profile = ["start", "launch", "inside", "stop"];
    const steps = ["load", library, "launch", "first", ...profile, "launch", "between", ...profile];
    const result = await runProfiled(steps, await cuptiOf("same"));
    expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1", "start 0", "stop 1"] });
    expect(names(result)).toEqual(["first"]);
    expect(notes(result)).toHaveLength(1);
  });

  test("lookups of the program find what they would without the recorder", async () => {
    const result = await runProfiled(["launch", "first", "next"], await cuptiOf("same"));
    expect(result.said).toEqual(["next ok", "error ok"]);
  });
});

/** The rows of the table in `docs/harmless.md`, and what the tests here take for each of them. */
const TABLE: readonly (readonly [string, Profiler | "nsight" | "outside"])[] = [
  ["PyTorch's profiler (Kineto)", "kineto"],
  ["Triton's Proton", "proton"],
  ["JAX's profiler (XLA)", "proton"],
  ["Nsight Systems (`nsys`)", "nsight"],
  ["Nsight Compute (`ncu`)", "nsight"],
  ["Compute Sanitizer", "nsight"],
  ["DCGM", "outside"],
];

test("the table of docs/harmless.md has the tools that are tested here", () => {
  const page = readFileSync(new URL("../../docs/harmless.md", import.meta.url), "utf8");
  const [, table = ""] = page.split(/\n## (?:Other tools|When nothing can be recorded)\n/);
  const rows = [...table.matchAll(/^\| ([^|]+) \|/gm)].map(([, tool]) => tool?.trim());
  expect(rows.filter((tool) => tool !== "tool")).toEqual(TABLE.map(([tool]) => tool));
});

describe.runIf(canBuild)("a tool that the variables load, or that is preloaded", () => {
  test("before deep-profile, without a variable of the driver: CUPTI is refused, ranges are recorded", async () => {
    const nsight = await nsightLibrary();
    const env = { LD_PRELOAD: nsight, NSIGHT_PRELOADED: "1" };
    const result = await runProfiled(["launch", "first"], env);
    expect(result).toMatchObject({ code: 0, said: ["nsight: 1 kernels"] });
    expect(ranges(result)).toEqual(["first"]);
    expect(notes(result)).toEqual([TAKEN]);
  });

  test("after deep-profile, replacing both variables: it has everything, the recorder nothing", async () => {
    const nsight = await nsightLibrary();
    const result = await runProfiled(["launch", "first"], {
      NVTX_INJECTION64_PATH: nsight,
      CUDA_INJECTION64_PATH: nsight,
    });
    expect(result).toMatchObject({ code: 0, said: ["nsight: 1 kernels"], processes: [] });
  });

  test("that stands there before deep-profile: the recorder leaves the GPU to it", async () => {
    const nsight = await nsightLibrary();
    const result = await runProfiled(["range", "early", "launch", "first"], {
      CUDA_INJECTION64_PATH: nsight,
    });
    expect(result).toMatchObject({ code: 0, said: ["nsight: 1 kernels"] });
    expect(ranges(result)).toEqual(["early", "first"]);
    expect(names(result)).toEqual([]);
  });

  test("that replaces the driver's variable alone: a note names it", async () => {
    const nsight = await nsightLibrary();
    // The driver is loaded before the first range, where the recorder would begin.
    const library = await profilerLibrary("proton");
    const steps = ["load", library, "launch", "first", "range", "late"];
    const result = await runProfiled(steps, {
      ...(await cuptiOf("same")),
      CUDA_INJECTION64_PATH: nsight,
    });
    expect(result).toMatchObject({ code: 0, said: ["nsight: 1 kernels"] });
    expect(notes(result)).toEqual([
      `GPU kernels were not recorded: CUDA_INJECTION64_PATH names the library of another tool, to which the GPU is left: ${nsight}`,
    ]);
  });

  test("gpu=on takes the GPU where no tool has it yet, whatever the variable names", async () => {
    const nothing = await profilerLibrary("proton");
    const result = await runProfiled(["launch", "first", "launch", "second"], {
      CUDA_INJECTION64_PATH: nothing,
      HYDRACONF_RECORDER_GPU: "on",
    });
    expect(names(result)).toContain("second");
  });

  test("that replaces NVTX's variable alone: the note says whose ranges are missing", async () => {
    const nsight = await nsightLibrary();
    const result = await runProfiled(["launch", "first"], { NVTX_INJECTION64_PATH: nsight });
    expect(names(result)).toEqual(["first"]);
    expect(ranges(result)).toEqual([]);
    expect(result.notes.join("\n")).toContain(
      `1 process of the run had another injection library (${nsight}): only its GPU work was recorded`,
    );
  });

  test("libcupti as NVTX's library, as some images have it, takes CUPTI with the first range", async () => {
    const { cupti } = await fakeGpu();
    const result = await runProfiled(["range", "early", "launch", "first"], {
      NVTX_INJECTION64_PATH: cupti,
    });
    expect(names(result)).toEqual([]);
    expect(notes(result)).toEqual([TAKEN]);
    expect(result.notes.join("\n")).toContain(`another injection library (${cupti})`);
  });

  test("that is no file, or the recorder by another path, is no other tool", async () => {
    const gone = await runProfiled(["launch", "first"], { NVTX_INJECTION64_PATH: "/nowhere.so" });
    expect(gone.notes).toEqual([]);
    expect(names(gone)).toEqual(["first"]);
  });
});

describe.runIf(canBuild)(
  "CUPTI shared (HYDRACONF_CUPTI_SHARED=1, which no driver has shown yet)",
  () => {
    const SHARED = { HYDRACONF_CUPTI_SHARED: "1", FAKE_CUPTI_VERSION: "130300" };

    test("with a profiler that shares it: both have everything", async () => {
      const library = await profilerLibrary("mosaic");
      const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
      const result = await runProfiled(steps, { ...(await cuptiOf("same")), ...SHARED });
      expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
      expect(names(result)).toEqual(["first", "second"]);
      expect(notes(result)).toEqual([]);
    });

    test("with a profiler of the older functions, which may not be mixed: it is given up", async () => {
      const library = await profilerLibrary("kineto");
      const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
      const result = await runProfiled(steps, { ...(await cuptiOf("same")), ...SHARED });
      expect(result).toMatchObject({ code: 0, said: ["start 0", "stop 1"] });
      expect(names(result)).toEqual(["first"]);
    });

    test("a CUPTI that cannot be shared is used alone", async () => {
      const result = await runProfiled(["launch", "first"], { HYDRACONF_CUPTI_SHARED: "1" });
      expect(names(result)).toEqual(["first"]);
      expect(notes(result)).toEqual([]);
    });

    test("it is off unless asked for", async () => {
      const library = await profilerLibrary("mosaic");
      const steps = ["load", library, "launch", "first", "start", "launch", "second", "stop"];
      const result = await runProfiled(steps, {
        ...(await cuptiOf("same")),
        FAKE_CUPTI_VERSION: "130300",
      });
      expect(names(result)).toEqual(["first"]);
    });
  },
);

test.runIf(process.platform === "linux" && canBuild)(
  "the recorder reads no counters of the GPU unless asked: what reads them from outside, as DCGM, does not meet it",
  async () => {
    // The first calls of any who reads counters: range-counters.test.ts sees what the recorder says when they fail.
    for (const name of ["ProfilerInitialize", "ProfilerDeviceSupported", "RangeProfilerEnable"]) {
      const found = await runProfiled(["launch", "first"], {
        ...(await cuptiOf("same")),
        FAKE_CUPTI_FAIL: `${name}=35`,
      });
      expect(found, name).toMatchObject({ code: 0 });
      expect([names(found), notes(found)], name).toEqual([["first"], []]);
    }
  },
);
