import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nsightEnvironment, nsightOrSkip } from "../../../../nsight.ts";
import { samplesOrSkip } from "../../../../shared.ts";
import { readNcuCsv } from "../csv/whole-csv.ts";
import { readNcuReport } from "./whole-report.ts";

const what = "units of metrics as the real ncu prints them";
const ncu = nsightOrSkip("ncu", what);
const sample = samplesOrSkip(what);

/**
 * Where ncu's own tables are wrong: it prints bytes for numbers of conflicts, wavefronts and requests, and
 * sectors for a percentage. Its details page differs from its raw page in some more, such as bytes for
 * stalled warps, and has no unit where there is no value.
 */
const WRONG_IN_NCU: Readonly<Record<string, readonly string[]>> = {
  "r1.ncu-rep": [
    "derived__memory_l1_conflicts_shared_nway",
    "derived__memory_l1_wavefronts_shared_excessive",
    "derived__memory_l2_theoretical_sectors_global_excessive",
    "lts__average_gcomp_input_sector_success_rate.pct",
    "memory_l1_tag_requests_global",
    "memory_l1_wavefronts_shared",
    "memory_l1_wavefronts_shared_ideal",
  ],
};

test.skipIf(ncu === null || sample === null).each(["r1.ncu-rep", "mojo.ncu-rep", "gpm.ncu-rep"])(
  "all units of %s are told from the names of metrics",
  async (name) => {
    const report = sample?.(name) ?? "";
    const directory = mkdtempSync(join(tmpdir(), "hydraconf-units-oracle-"));
    try {
      const env = { ...process.env, ...nsightEnvironment(), LC_ALL: "C.UTF-8" };
      const args = ["--import", report, "--csv", "--page", "raw", "--print-units", "base"];
      const table = join(directory, "raw.csv");
      writeFileSync(table, execFileSync(ncu ?? "", args, { env, maxBuffer: 1e8 }));
      const [own] = readNcuReport(report).results;
      const [printed] = (await readNcuCsv(table)).results;
      if (own === undefined || printed === undefined) throw new Error("both have a result");
      const different = printed.columns.names.filter((metric, at) => {
        const place = own.columns.index.get(metric);
        return place !== undefined && own.columns.units[place] !== printed.columns.units[at];
      });
      expect(different).toEqual(WRONG_IN_NCU[name] ?? []);
      expect(printed.columns.names.length).toBeGreaterThan(200);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
