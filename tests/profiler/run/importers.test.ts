import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import sqlite from "node-sqlite3-wasm";
import { expect, test } from "vitest";
import { importer } from "./import-files/importer.ts";

const { cwd, refusal } = importer();

/** What a hint is about. */
const NCU_TEXT = "ncu's terminal output";
const NSYS_STATS = "table of nsys stats";
const NVPROF = "nvprof";
const COMPRESSED = "unpack it first";
const TRACE = "this is a Chrome trace";
const EXPORT = "nsys export --type sqlite";
const WRITTEN_ANEW = "has rewritten";

test.each([
  [
    "the output of a program with ncu's lines in it",
    "epoch 1\n==PROF== Connected to process 7\n",
    NCU_TEXT,
  ],
  [
    "the details of a report as text",
    "[7] train@127.0.0.1\n  k(int) (1, 1, 1)x(32, 1, 1), Context 1, Stream 7\n    Section: Launch Statistics\n",
    NCU_TEXT,
  ],
  [
    "all that nsys stats prints",
    "Processing [r.sqlite] with [cuda_gpu_kern_sum.py]...\n\n Time (%)  Total Time (ns)  Instances\n",
    NSYS_STATS,
  ],
  ["a table of nsys 2020", "Time(%),Total Time (ns),Instances,Average\n99.0,12,1,12\n", NSYS_STATS],
  ["what nvprof prints", "x = 3\n==12== NVPROF is profiling process 12\n", NVPROF],
  ["a CSV of nvprof", '"Type","Time(%)","Time","Calls","Avg"\n', NVPROF],
  [
    "a raw recording of nsys",
    "U3w[END]NVIDIA Nsight Systems Stream 2023.3.1.92-233133147223v0",
    "QdstrmImporter",
  ],
  [
    "a pointer of Git LFS",
    "version https://git-lfs.github.com/spec/v1\noid sha256:00\n",
    "git lfs pull",
  ],
  ["a page of a web site", "\n<!DOCTYPE html>\n<html><body>run.ncu-rep</body></html>", "web page"],
  ["gzip", "\x1f\x8b\x08\x00", COMPRESSED],
  ["zip", "PK\x03\x04rest", COMPRESSED],
  ["zstd", "\x28\xb5\x2f\xfdrest", "zstd"],
  ["a trace of another program", '{"traceEvents": [{"ph": "X", "cat": "gpu"}]}', TRACE],
  ["a trace that is a list", '[{"name": "step", "ph": "X", "ts": 1}]', TRACE],
  ["HDF5", "\x89HDF\r\n\x1a\n\0", EXPORT],
  ["a stream of Arrow", "\xff\xff\xff\xff\xc0\x01", EXPORT],
  ["a file of Arrow", "ARROW1\0\0", EXPORT],
  ["a table of Parquet", "PAR1\x15\x04", EXPORT],
  [
    "nsys's JSON",
    '{"data":["QnxKernelTrace","GpuMetrics"]}\n{"Type":27,"CommEvent":{"Timestamp":"-395287106"}}\n',
    EXPORT,
  ],
  ["nsys's text", 'data: "QnxKernelTrace"\ndata: "GpuMetrics"\n', EXPORT],
  ["nsys's info", '{\n    "VmSystemInformation": [\n', EXPORT],
  [
    "a table of which a spreadsheet kept few columns",
    "Kernel Name;Metric Name\nk;gpu__time_duration.sum\n",
    WRITTEN_ANEW,
  ],
])("says what to give instead of %s", async (_what, text, hint) => {
  writeFileSync(join(cwd, "given"), Buffer.from(text, "latin1"));
  expect(await refusal(["given", "-o", "out"])).toMatchObject({
    code: "profile.input",
    message: "given is not a file that can be imported",
    hint: expect.stringContaining(hint),
  });
});

test("says what to give instead of a directory", async () => {
  for (const [folder, file] of [
    ["tables", "NVTX_EVENTS.parquet"],
    ["arrows", "NVTX_EVENTS.arrow"],
    ["mine", "run 1.qdrep"],
  ] as const) {
    mkdirSync(join(cwd, folder));
    writeFileSync(join(cwd, folder, file), "");
  }
  expect((await refusal(["tables", "-o", "out"]))?.hint).toContain(EXPORT);
  expect((await refusal(["arrows", "-o", "out"]))?.hint).toContain(EXPORT);
  expect(await refusal(["mine", "-o", "out"])).toMatchObject({
    message: "mine is not a directory that can be imported",
    hint: "give those of its files that belong together: run 1.qdrep",
  });
});

test("says of a database of nvprof that it is one", async () => {
  const database = new sqlite.Database(join(cwd, "run.nvvp"));
  database.exec("CREATE TABLE StringTable (_id_ INTEGER, value TEXT)");
  database.exec("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL (start INT, end INT)");
  database.close();
  const error = await refusal(["run.nvvp", "-o", "out"]);
  expect(error).toMatchObject({ code: "nsys.invalid", hint: expect.stringContaining(NVPROF) });
});

test("says nothing of a file that it does not know", async () => {
  writeFileSync(join(cwd, "given"), "name,time\na,1\n");
  expect((await refusal(["given", "-o", "out"]))?.hint).toBeUndefined();
});
