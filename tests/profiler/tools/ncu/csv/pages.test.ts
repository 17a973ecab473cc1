import { expect, it } from "vitest";
import type { NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { streamNcuCsv } from "../../../../../src/profiler/tools/ncu/csv/read-csv.ts";

const line = (...cells: readonly string[]): string => `"${cells.join('","')}"\n`;
const HEADER = line(
  ...["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream"],
  ...["Section Name", "Metric Name", "Metric Unit", "Metric Value"],
);
const row = (kernel: string, section: string, metric: string, value: string): string =>
  line("0", "12", "app", "127.0.0.1", kernel, "1", "7", section, metric, "ns", value);

async function read(...rows: readonly string[]) {
  const results: NcuResult[] = [];
  const { sections } = await streamNcuCsv(
    (async function* () {
      yield Buffer.from(HEADER + rows.join(""));
    })(),
    (result) => results.push(result),
  );
  return { results, sections };
}

it("a metric of two sections is one of the result, and stands in both", async () => {
  const { results, sections } = await read(
    row("gemm", "GPU Speed Of Light Throughput", "gpu__time_duration.sum", "1500"),
    row("gemm", "Command line profiler metrics", "gpu__time_duration.sum", "1500"),
    row("gemm", "Command line profiler metrics", "smsp__cycles_active.avg", "7"),
  );
  expect(results.map(({ columns, values }) => [columns.names, [...values]])).toEqual([
    [
      ["gpu__time_duration.sum", "smsp__cycles_active.avg"],
      [1500, 7],
    ],
  ]);
  expect([...sections.values()]).toEqual([
    ["gpu__time_duration.sum"],
    ["gpu__time_duration.sum", "smsp__cycles_active.avg"],
  ]);
});

it("rows of another kernel are another result, though both have one number, as in tables put together", async () => {
  const section = "Command line profiler metrics";
  const { results } = await read(
    row("gemm", section, "gpu__time_duration.sum", "1500"),
    row("pool", section, "gpu__time_duration.sum", "20"),
  );
  expect(results.map(({ kernelName, values }) => [kernelName, ...values])).toEqual([
    ["gemm", 1500],
    ["pool", 20],
  ]);
});
