import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { importer } from "./importer.ts";

const { cwd, importFiles, refusal } = importer();

const RECORDED = new URL("../../../fixtures/pytorch/cpu-1.13.pt.trace.json.gz", import.meta.url);

const operator = (name: string, ts: number, dur: number) => ({
  ...{ ph: "X", cat: "cpu_op", name, pid: 9, tid: 9, ts, dur, args: {} },
});

/** Two ranks that meet in a collective, of which the second is late, and its clock begins 5 ms later. */
const rankTrace = (rank: number) => ({
  schemaVersion: 1,
  distributedInfo: { backend: "nccl", rank, world_size: 2 },
  baseTimeNanoseconds: 1_700_000_000_000_000_000 + rank * 5_000_000,
  traceEvents: [
    operator("compute", 1000, rank === 0 ? 1000 : 8000),
    operator("nccl:all_reduce", rank === 0 ? 2000 : 9000, rank === 0 ? 8000 : 1000),
    { ...operator("cudaStreamSynchronize", rank === 0 ? 2500 : 9500, 400), cat: "cuda_runtime" },
  ].map((event) => ({ ...event, ts: event.ts - rank * 5000 })),
});

const save = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(cwd, name), content);
  return name;
};

const reportOf = (folder: string) =>
  JSON.parse(readFileSync(join(cwd, folder, "pytorch/regions/report.json"), "utf8")).reports[0];

describe("traces of the PyTorch profiler", () => {
  test("one recorded with PyTorch makes a report of its operators", async () => {
    const packed = save("cpu.pt.trace.json.gz", readFileSync(RECORDED));
    const { code, stdout } = await importFiles([packed, "-o", "packed", "--no-html"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("aten::mkldnn_convolution")]);
    const plain = save("cpu.pt.trace.json", gunzipSync(readFileSync(RECORDED)));
    await importFiles([plain, "-o", "plain", "--no-html"]);
    expect(reportOf("packed").regions).toEqual(reportOf("plain").regions);
  });

  test("files of ranks are one run by what they say themselves", async () => {
    const names = [1, 0].map((rank) =>
      save(`worker-${rank}x.json`, JSON.stringify(rankTrace(rank))),
    );
    const { code, stderr } = await importFiles([...names, "-o", "ranks", "--no-html"]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("2 traces of PyTorch are read as the ranks of one run"),
    ]);
    const { regions, totals } = reportOf("ranks");
    expect(totals.run).toMatchObject({
      process_count: 2,
      wall_ms: expect.closeTo(9, 3),
    });
    expect(
      regions.find(({ name }: { readonly name: string }) => name === "nccl:all_reduce"),
    ).toMatchObject({
      ranks: { wall_ms: [8, 1], slowest_rank: 1 },
      host_calls: [{ api: "cuda", name: "cudaStreamSynchronize", calls: 2, total_ms: 0.8 }],
    });
  });

  test.each([
    ["text", (text: string) => text.slice(0, text.lastIndexOf("nccl"))],
    ["compressed", (text: string) => gzipSync(text, { level: 0 }).subarray(0, -60)],
  ])(
    "one that is cut off (%s) gives what comes before, and ends with exit code 1",
    async (kind, cut) => {
      const trace = JSON.stringify(rankTrace(0));
      const name = save(`cut-${kind}.json`, cut(trace));
      const { code, stdout, stderr } = await importFiles([name, "-o", `cut-${kind}`, "--no-html"]);
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining(`${name} is truncated or damaged`),
      ]);
      expect(stdout.replace(/\s+/g, " ")).toContain(
        `${name} is truncated or damaged: its end is missing; the first`,
      );
      expect(reportOf(`cut-${kind}`).regions).toContainEqual(
        expect.objectContaining({ name: "compute" }),
      );
    },
  );

  test("a Chrome trace of another program is refused", async () => {
    const name = save("other.json", '{"traceEvents": [{"ph": "X", "cat": "gpu", "name": "a"}]}');
    expect(await refusal([name])).toMatchObject({
      message: `${name} is not a file that can be imported`,
      hint: expect.stringContaining("a Chrome trace, and not one of torch.profiler"),
    });
  });

  test("one without a readable event is an error", async () => {
    const name = save("empty.json", '{"schemaVersion": 1, "traceEvents": [{"ph": "X", "na');
    expect(await refusal([name])).toMatchObject({
      code: "profile.input",
      message: `${name}: its end is missing`,
    });
  });
});
