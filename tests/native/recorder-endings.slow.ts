import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa, execaSync } from "execa";
import { describe, expect, test } from "vitest";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { injectionFor } from "../../src/profiler/tools/recorder/injection.ts";
import { availableClients, buildFixture, nvtxInclude, recorderEnvironment } from "./fixtures.ts";
import { record } from "./record.ts";

const clients = availableClients("the recorder and how programs end, the long form");

const HOUR_MS = 60 * 60 * 1000;

describe.runIf(clients.length > 0)("forking", () => {
  test(
    "is safe while other threads record, as often as a rare order of steps needs",
    async () => {
      const { outcome, timeline } = await record(await buildFixture("endings.cc", "own client"), [
        "fork-busy-long",
      ]);
      expect(outcome).toEqual({ code: 0, stdout: "", stderr: "" });
      const [, ...children] = timeline.processes;
      expect(children.map(({ ranges }) => ranges.map(({ name }) => name))).toEqual(
        Array.from({ length: 300 }, () => ["in child"]),
      );
      expect(timeline.processes.flatMap(({ notes }) => notes)).toEqual([]);
    },
    HOUR_MS,
  );
});

const LIBRARY = "NVTX_INJECTION64_PATH";
const hasMusl =
  clients.includes("nvtx3 headers") &&
  execaSync("musl-gcc", ["--version"], { reject: false }).exitCode === 0;

describe.runIf(hasMusl)("a program of the C library musl", () => {
  test(
    "has its own recorder, which knows payloads and counters",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "musl-"));
      try {
        const program = join(folder, "payload_numbers");
        const native = join(import.meta.dirname, "../../native");
        const include = [`-I${native}`, "-isystem", nvtxInclude() ?? ""];
        const source = join(native, "fixtures/payload_numbers.c");
        await execa("musl-gcc", ["-O2", "-std=gnu11", ...include, source, "-o", program]);
        const { [LIBRARY]: usual = "" } = await recorderEnvironment(folder);
        const { library } = injectionFor([program], folder, usual);
        expect(library).toBe(join(dirname(usual), "region_recorder_musl.so"));
        expect(existsSync(library ?? "")).toBe(true);
        const { outcome, timeline } = await record(program, [], { [LIBRARY]: library ?? "" });
        expect(outcome).toEqual({ code: 0, stdout: "done", stderr: "" });
        const regions = buildRegionModel(timeline).scopes[0]?.regions ?? [];
        const of = (name: string) => regions.find(({ path }) => path.at(-1) === name);
        expect(of("ncclAllReduce")?.payloads).toMatchObject([
          { name: "Message size", unit: "byte", count: 4, sum: 10_000 },
          { name: "Reduction operation = Sum", sum: 3 },
          { name: "Reduction operation = Max", sum: 1 },
        ]);
        expect(of("counted")?.counters).toContainEqual(
          expect.objectContaining({ name: "queue depth", samples: 5, mean: 2 }),
        );
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    HOUR_MS,
  );
});
