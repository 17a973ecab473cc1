import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { GRAPH_NAME, type NcuResult } from "../../../../../src/profiler/model/counters.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import { realNcuOrSkip } from "../run/real-ncu.ts";
import { buildReport, type ResultSketch } from "../run/report-builder.ts";
import { readNcuReport } from "./whole-report.ts";

const ncu = realNcuOrSkip("NVTX states as the real ncu prints them");

/** Names that ncu's table neither escapes nor doubles. */
const NAMES = [
  "A",
  "A::A1",
  'q"uote',
  "com,ma",
  "co:lon",
  "new\nline",
  "ünï 漢",
  "x:none:none",
  "a  b",
];

const SKETCHES: readonly ResultSketch[] = [
  { kernel: "kernel0" },
  ...NAMES.map((name, at) => ({
    kernel: `kernel${at + 1}`,
    pushPop: [{ name: "outer" }, { name }],
  })),
  { kernel: "kernel20", pushPop: [{ name: "A" }, { name: "A" }] },
  {
    kernel: "kernel21",
    pushPop: [{ name: "A" }, { domain: "lib", name: "B" }, { name: "C" }],
    startEnd: [{ name: "S 1" }, { domain: "lib", name: "S2" }],
  },
];

/** What our reader has of a report with these results, and what the table has that ncu prints of it. */
async function readBoth(sketches: readonly ResultSketch[]) {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-nvtx-oracle-"));
  try {
    const report = join(directory, "states.ncu-rep");
    writeFileSync(report, buildReport(ncu?.template ?? "", sketches));
    const args = ["--import", report, "--csv", "--page", "raw", "--print-units", "base"];
    const table = join(directory, "states.csv");
    writeFileSync(table, execFileSync(ncu?.path ?? "", args, { env: ncu?.env, maxBuffer: 1e8 }));
    return { own: readNcuReport(report).results, printed: (await readNcuCsv(table)).results };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const identity = ({ kind, kernelName, nvtx }: NcuResult) => ({ kind, kernelName, nvtx });

test.skipIf(ncu === null)("our reader and ncu's own table tell the same NVTX states", async () => {
  const { own, printed } = await readBoth(SKETCHES);
  expect(own).toHaveLength(SKETCHES.length);
  expect(own.map(identity)).toEqual(printed.map(identity));
  expect(own.map(({ nvtx }) => nvtx.pushPop.at(-1)?.name).slice(1, NAMES.length + 1)).toEqual(
    NAMES,
  );
});

test.skipIf(ncu === null).each([
  ["beside kernels", [{ kernel: "graph" }, { kernel: "range" }]],
  ["alone", []],
] as const)("and the same CUDA graphs, %s", async (_, kernels) => {
  const graph = { kernel: "", kind: "graph", pushPop: [{ name: "step" }] } as const;
  const { own, printed } = await readBoth([...kernels, graph]);
  expect(own.map(({ kernelName }) => kernelName)).toEqual([
    ...kernels.map(({ kernel }) => kernel),
    GRAPH_NAME,
  ]);
  expect(own.every(({ kind }) => kind === "kernel")).toBe(true);
  expect(own.map(identity)).toEqual(printed.map(identity));
});
