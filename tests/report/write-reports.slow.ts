import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { createRegionBundler, writeReports } from "../../src/report/index.ts";
import { wholeBundle } from "../../src/report/model/contract.ts";

import { bundleOf, firstReport, regionNamed } from "./bundles.ts";

// More than a call may have arguments. Reports of ours have fewer; those of others may have as many.
it("a region that holds very many has a bundle of its own", () => {
  const small = bundleOf([
    {
      endNs: 140_002,
      ranges: [
        { name: "all", start: 0, end: 140_002 },
        { name: "step", start: 1, end: 2 },
      ],
      kernels: [{ name: "k", launch: 5, ns: 10 }],
    },
  ]);
  const [all, step] = [regionNamed(small, "all"), regionNamed(small, "step")];
  const steps = Array.from({ length: 140_000 }, (_, at) => ({
    ...step,
    name: `step ${at}`,
    path: ["all", `step ${at}`],
  }));
  const bundle = { ...small, reports: [{ ...firstReport(small), regions: [all, ...steps] }] };
  const { totals } = firstReport(createRegionBundler(bundle)(all));
  expect(totals).toMatchObject({ region_count: 140_001, kernel_count: 1, total_ms: 1e-5 });
});

const bytesBelow = (directory: string): number =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);

// docs/measurement.md has these bounds, and what else was measured.
it.each([
  ["30 characters", "float*"],
  ["230 characters", "unsigned long, float const*, ".repeat(7).slice(0, 200)],
])(
  "1,000 regions, 10,000 kernel names of %s and 100,000 launches take 60 MB, and the page 2 MB",
  async (_, parameters) => {
    const REGION_NS = 2_000;
    const bundle = bundleOf(
      [
        {
          pid: 7,
          ranges: Array.from({ length: 1_000 }, (_, at) => ({
            name: `region ${at}`,
            start: at * REGION_NS,
            end: (at + (at % 10 === 0 ? 10 : 1)) * REGION_NS - (at % 10 === 0 ? 1 : 2),
          })),
          kernels: Array.from({ length: 100_000 }, (_, at) => ({
            name: `void kernel_${at % 10_000}<float>(${parameters})`,
            launch: Math.floor(at / 100) * REGION_NS + 1 + (at % 100),
            ns: 100 + (at % 7),
          })),
        },
      ],
      { labels: { fold: null } },
    );
    const directory = mkdtempSync(join(tmpdir(), "large-"));
    const written = await writeReports(bundle, directory, { html: {} });
    expect(written.problems).toEqual([]);
    expect(bundle.reports[0]?.totals).toMatchObject({ region_count: 1_000, kernel_count: 100_000 });
    expect(statSync(written.html ?? "").size).toBeLessThan(2_000_000);
    expect(bytesBelow(directory)).toBeLessThan(60_000_000);
    const names = join(dirname(written.json), "kernel_names.csv");
    expect(existsSync(names)).toBe(parameters.length > 100);
    const stored = wholeBundle(JSON.parse(readFileSync(written.json, "utf8")));
    expect(stored.reports[0]?.regions).toEqual(bundle.reports[0]?.regions);
  },
  120_000,
);
