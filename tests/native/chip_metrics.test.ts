import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { fakeGpu } from "./fake-gpu.ts";
import { availableClients, buildFixture, cuptiInclude } from "./fixtures.ts";
import { nativeProgram } from "./programs.ts";

// The program that asks NVIDIA's library about metrics and chips.

const canBuild = availableClients("the library of metrics and chips").length > 0;
const directory = mkdtempSync(join(tmpdir(), "chip-metrics-"));
afterAll(() => rmSync(directory, { recursive: true }));

async function ask(library: string, args: readonly string[], env: Record<string, string> = {}) {
  const program = await nativeProgram("chip_metrics");
  const { exitCode, stdout, signal } = await execa(program, [library, ...args], {
    env,
    reject: false,
  });
  return { exitCode, signal, answer: stdout === "" ? null : JSON.parse(stdout) };
}

describe.runIf(canBuild)("with a pretended library", () => {
  const library = () => buildFixture("fake_host_library.cc", "own client", ["-shared", "-fPIC"]);

  test("chips, names, metrics, and a configuration in a file", async () => {
    const path = await library();
    const version = { library_version: 130001 };
    expect((await ask(path, ["chips"])).answer).toEqual({ ...version, chips: ["XX100"] });
    expect((await ask(path, ["names", "XX100"])).answer.metrics).toEqual([
      { type: "counter", rollups: [".sum", ".avg"], names: ["fake__bytes", "fake__cycles"] },
      { type: "ratio", rollups: [], names: [] },
      { type: "throughput", rollups: [], names: [] },
    ]);
    const { answer } = await ask(path, ["metrics", "XX100", "--", "fake__bytes.sum", "other"]);
    const properties = { type: "counter", unit: "byte", unit_of_hardware: "", description: "" };
    expect(answer.chips).toEqual([
      {
        chip: "XX100",
        metrics: [{ name: "fake__bytes.sum", ...properties, passes: 3 }],
        passes: 3,
      },
    ]);
    const file = join(directory, "image");
    const image = await ask(path, ["image", "XX100", file, "--", "fake__bytes.sum"]);
    expect(image.answer).toEqual({ ...version, chip: "XX100", passes: 3, bytes: 16 });
    expect(readFileSync(file)).toEqual(Buffer.alloc(16, 7));
  });

  test.each([
    ["chips", ["chips"], "library_answer", /tells of 18446744073709551615 chips/],
    ["nameless", ["chips"], "library_answer", /no name for one of its chips/],
    ["object", ["names", "XX100"], "library_answer", /Initialize gave nothing/],
    [
      "image",
      ["metrics", "XX100", "--", "fake__a"],
      "library_answer",
      /18446744073709551615 bytes/,
    ],
    ["empty", ["metrics", "XX100", "--", "fake__a"], "library_answer", /empty configuration/],
    ["passes", ["metrics", "XX100", "--", "fake__a"], "library_answer", /tells of no pass/],
    ["", ["names", "GH100"], "chip", /does not know chip 'GH100' \(error 1\)/],
    ["", ["image", "XX100", "/nowhere/image", "--", "fake__a"], "file", /cannot be written/],
    ["", ["image", "XX100", "image", "--", "other"], "metric", /XX100 has no metric 'other'/],
    ["", ["samples", "XX100", "/nowhere", "1", "--", "fake__a"], "file", /cannot be read/],
    ["", ["samples", "XX100", "/etc/hostname", "1", "--", "fake__a"], "file", /is no counter data/],
  ] as const)("what cannot be answered is told: %s %j", async (how, args, kind, message) => {
    const { exitCode, answer } = await ask(await library(), args, { FAKE_HOST: how });
    expect(answer).toEqual({ failure: { kind, message: expect.stringMatching(message) } });
    expect(exitCode).toBe(1);
  });

  test("a chip that cannot be sampled has no metrics in samples", async () => {
    const words = ["sampling_metrics", "XX100", "--", "fake__bytes.sum"];
    const { answer } = await ask(await library(), words, { FAKE_HOST: "unsampled" });
    expect(answer.chips).toEqual([{ chip: "XX100", metrics: [], passes: null }]);
    const other = ["sampling_metrics", "GH100", "--", "fake__bytes.sum"];
    const unknown = await ask(await library(), other, { FAKE_HOST: "unsampled" });
    expect(unknown.answer.failure.kind).toBe("chip");
  });

  test("the chip of a device, which the driver has to know", async () => {
    const { driverDirectory } = await fakeGpu();
    const env = { LD_LIBRARY_PATH: driverDirectory };
    const of = async (device: string) =>
      (await ask(await library(), ["device", device], env)).answer;
    expect(await of("0")).toEqual({ library_version: 130001, chip: "XX100" });
    expect((await of("1")).failure).toEqual({
      kind: "device",
      message: "cuptiDeviceGetChipName: error 1",
    });
  });

  test("no library, and one that is no libcupti", async () => {
    const absent = await ask(join(directory, "libcupti.so.13"), ["chips"]);
    expect(absent.answer.failure.kind).toBe("library");
    const other = await buildFixture("no_mprotect.cc", "own client", ["-shared", "-fPIC"]);
    expect((await ask(other, ["chips"])).answer.failure).toEqual({
      kind: "library",
      message: `${other} is no libcupti that can be used`,
    });
  });

  test("one that is older than the API", async () => {
    const older = await buildFixture("fake_cupti", "own client", ["-shared", "-fPIC"]);
    const { failure } = (await ask(older, ["chips"])).answer;
    expect(failure.kind).toBe("library_version");
    expect(failure.message).toContain("came with CUDA 12.6");
  });

  test.each([
    [[]],
    [["metrics", "XX100"]],
    [["device", "x"]],
    [["chips", "more"]],
    [["samples", "XX100", "file", "x", "--", "a"]],
  ])("a wrong command line: %j", async (args) =>
    expect((await ask(await library(), args)).exitCode).toBe(2),
  );
});

describe.runIf(canBuild)("with NVIDIA's own library", () => {
  const include = cuptiInclude();
  const library = ["../lib64", "../extras/CUPTI/lib64"]
    .map((folder) => join(include ?? "", folder, "libcupti.so.13"))
    .find((path) => existsSync(path));

  test("our description of it agrees with its headers in every place", async () => {
    if (include === null || !existsSync(join(include, "cupti_profiler_host.h"))) {
      console.warn("SKIPPED the check of cupti/profiler_host.hpp: no cupti_profiler_host.h");
      return;
    }
    // Its static assertions are the test.
    const flags = ["-c", "-isystem", include];
    await expect(
      buildFixture("profiler_host_check.cc", "nvtx3 headers", flags),
    ).resolves.toBeTruthy();
  });

  test("names of DRAM's metrics differ between chips, and passes do, too", async () => {
    if (library === undefined) {
      console.warn("SKIPPED the questions to NVIDIA's library: no libcupti.so.13");
      return;
    }
    const metrics = ["dram__bytes_read.sum", "dram__bytes_op_read.sum", "dram__bytes.sum"];
    const { answer } = await ask(library, ["metrics", "GH100", "GB202", "--", ...metrics]);
    const names = answer.chips.map((chip: { metrics: { name: string }[] }) =>
      chip.metrics.map(({ name }) => name),
    );
    expect(names).toEqual([
      ["dram__bytes_read.sum", "dram__bytes.sum"],
      ["dram__bytes_op_read.sum", "dram__bytes.sum"],
    ]);
    expect(answer.chips[0].passes).toBe(1);
    // Samples of a device have metrics and passes of their own.
    const sampled = ["dramc__read_throughput.avg.pct_of_peak_sustained_elapsed"];
    const ways = await Promise.all(
      ["metrics", "sampling_metrics"].map((way) => ask(library, [way, "GH100", "--", ...sampled])),
    );
    expect(ways.map(({ answer: of }) => of.chips[0].passes)).toEqual([null, 1]);
    // It exists, and cannot be collected without a rollup.
    const bare = await ask(library, ["metrics", "GH100", "--", "dram__bytes_read"]);
    expect(bare.answer.chips[0]).toMatchObject({ metrics: [{ passes: null }], passes: null });
  });

  test("the metrics that are sampled by default fit the one pass of each generation of chips", async () => {
    if (library === undefined) return;
    const file = new URL("../../conf/profiling/counters/counters.default.yaml", import.meta.url);
    const { timeline_metrics } = parse(readFileSync(file, "utf8")) as {
      readonly timeline_metrics: readonly string[];
    };
    for (const chip of ["TU102", "GA100", "GA102", "AD102", "GH100", "GB100", "GB202"]) {
      const image = join(directory, `${chip}.config`);
      const told = await ask(library, ["sampling_image", chip, image, "--", ...timeline_metrics]);
      expect(told.answer, chip).toMatchObject({ chip, passes: 1 });
      expect(readFileSync(image)).toHaveLength(told.answer.bytes);
    }
  });
});
