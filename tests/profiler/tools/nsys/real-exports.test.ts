import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import { readNsysExport } from "../../../../src/profiler/tools/nsys/read/read-export.ts";
import { ownSample, samplesOrSkip } from "../../../shared.ts";
import { temporary } from "./exports.ts";

const sample = samplesOrSkip("public exports of Nsight Systems");

describe("the real exports", () => {
  it("of schema 3.7: both kinds of ranges, domains, registered strings, a mark, threads", () => {
    const { processes, toolVersion } = readNsysExport(
      ownSample("nsys-real-2023.4-nvtx-only-cpu.sqlite"),
    );
    expect(toolVersion).toBe("2023.4.4.54");
    const [process] = processes;
    expect(process?.ranges.map(({ domain, name, kind }) => [domain, name, kind])).toEqual([
      ["", "A", "push_pop"],
      ["", "A::A1", "push_pop"],
      ["my domain", "registered", "push_pop"],
      ["", 'start/end "q", comma', "start_end"],
      ["", "thread range", "push_pop"],
      ["my domain", "dom se", "start_end"],
      ["", "wide 漢", "push_pop"],
      ["", "never popped", "push_pop"],
    ]);
    expect(process?.ranges[2]).toMatchObject({ category: 5, color: 0xff00ff00, payload: 42 });
    expect(process?.marks.map(({ name }) => name)).toEqual(["mark1"]);
    expect(new Set(process?.ranges.map(({ threadId }) => threadId)).size).toBe(2);
    expect(process?.kernels.length).toBe(0);
  });

  it("that lost 445 bytes, so that the rows of one table repeat endlessly, are refused", () => {
    const whole = readFileSync(ownSample("nsys-real-nvtx+synthetic-cuda-2023.4.sqlite"));
    const path = join(temporary(), "damaged.sqlite");
    writeFileSync(path, Buffer.concat([whole.subarray(0, 253_421), whole.subarray(253_866)]));
    expect(() => readNsysExport(path)).toThrow(
      "rows of CUPTI_ACTIVITY_KIND_RUNTIME are repeated: the table is damaged",
    );
  });

  it.skipIf(sample === null)("of schema 3.24: no NVTX table at all", () => {
    const { processes } = readNsysExport(
      sample?.("pub-nsysai-mock-2026.1-schema3.24.sqlite") ?? "",
    );
    expect(processes.map(({ ranges, kernels }) => [ranges.length, kernels.length])).toEqual([
      [0, 3],
    ]);
    const kinds = [...(processes[0]?.kernels ?? [])].map(({ kind, launchThreadId }) => [
      kind,
      launchThreadId !== null,
    ]);
    expect(kinds?.sort()).toEqual([
      ["kernel", true],
      ["kernel", true],
      ["memcpy", true],
    ]);
  });

  it.skipIf(sample === null)("of schema 3.25: two processes, each on a GPU of its own", () => {
    const timeline = readNsysExport(
      sample?.("pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite") ?? "",
    );
    const found = timeline.processes.map(({ pid, ranges, kernels }) => ({
      pid,
      ranges: ranges.length,
      kernels: [...kernels].filter(({ kind }) => kind === "kernel").length,
      devices: [...new Set([...kernels].map(({ device }) => device))],
    }));
    expect(found).toEqual([
      { pid: 111, ranges: 8237, kernels: 1721, devices: [0] },
      { pid: 112, ranges: 8242, kernels: 1721, devices: [1] },
    ]);
    const scopes = buildRegionModel(timeline).scopes.map(({ scope }) => scope);
    expect(scopes).toEqual([
      "aggregate",
      "process:111",
      "process:112",
      "device:cuda:0",
      "device:cuda:1",
    ]);
  });
});
