import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
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

test.skipIf(ncu === null)("our reader and ncu's own table tell the same NVTX states", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-nvtx-oracle-"));
  try {
    const report = join(directory, "states.ncu-rep");
    writeFileSync(report, buildReport(ncu?.template ?? "", SKETCHES));
    const args = ["--import", report, "--csv", "--page", "raw", "--print-units", "base"];
    const table = join(directory, "states.csv");
    writeFileSync(table, execFileSync(ncu?.path ?? "", args, { env: ncu?.env, maxBuffer: 1e8 }));
    const own = readNcuReport(report).results;
    const printed = (await readNcuCsv(table)).results;
    expect(own).toHaveLength(SKETCHES.length);
    expect(own.map(({ kind, kernelName, nvtx }) => ({ kind, kernelName, nvtx }))).toEqual(
      printed.map(({ kind, kernelName, nvtx }) => ({ kind, kernelName, nvtx })),
    );
    expect(own.map(({ nvtx }) => nvtx.pushPop.at(-1)?.name).slice(1, NAMES.length + 1)).toEqual(
      NAMES,
    );
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
