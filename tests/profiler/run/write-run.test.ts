import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ToolError } from "../../../src/profiler/machine/tool-error.ts";
import type { ProfileResult } from "../../../src/profiler/run/run.ts";
import { writeRun } from "../../../src/profiler/run/write-run.ts";
import type { ProfileConfig } from "../../../src/profiler/tools/profiler-config.ts";
import type { RegionReportBundle } from "../../../src/report/model/document.ts";
import { bundleOf, resnet } from "../../report/bundles.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hydraconf-write-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const config = {
  runner: { mode: "deep", top_n_kernels: 30, artifacts: { stage2_dir: "" } },
  pipeline: { static_analysis: { enable: false }, report: { html: true } },
} as ProfileConfig;

const result = {
  sections: [{ collector: "recorder", bundle: bundleOf([resnet]), outcome: { exitCode: 0 } }],
  missing: [],
  environment: {},
  inputs: { workload: "w", command: [], cwd: "/", files: [] },
} as unknown as ProfileResult;

const inRun = (name: string) => join(directory, name);

const ofNcu = (bundle: RegionReportBundle): RegionReportBundle => ({
  ...bundle,
  reports: bundle.reports.map((report) => ({
    ...report,
    collector: { ...report.collector, name: "ncu" },
  })),
});

describe("writeRun", () => {
  it("writes the overview first in its list, and everything else", async () => {
    const { reports, failures } = await writeRun(result, config, { directory });
    expect(failures).toEqual([]);
    expect(reports[0]).toBe(inRun("report.md"));
    for (const file of [...reports, inRun("env.json"), inRun("inputs.yaml")])
      expect(existsSync(file), file).toBe(true);
  });

  it("names every file beside a collector's page on it", async () => {
    await writeRun(result, config, { directory });
    const page = readFileSync(inRun("recorder/regions/report.html"), "utf8");
    for (const file of ["report.json", "report.md", "regions.csv", "kernels.csv"]) {
      expect(page).toContain(`<a href="${file}">`);
      expect(existsSync(inRun(`recorder/regions/${file}`)), file).toBe(true);
    }
  });

  it("gives each collector its folder and one overview, with what is missing", async () => {
    const [section] = result.sections;
    if (section === undefined) throw new Error("the result has a section");
    const several: ProfileResult = {
      ...result,
      sections: [section, { ...section, collector: "ncu", bundle: ofNcu(section.bundle) }],
      missing: [
        {
          collector: "nsys",
          error: new ToolError({ tool: "toy", code: "profile.collector", message: "no nsys here" }),
        },
      ],
    };
    const { failures } = await writeRun(several, config, { directory });
    expect(failures).toEqual([]);
    expect(existsSync(inRun("recorder/regions/report.json"))).toBe(true);
    const ncu = readFileSync(inRun("ncu/regions/report.md"), "utf8");
    expect(ncu).toMatch(/^# NCU Region Reports\n/);
    const overview = readFileSync(inRun("report.md"), "utf8");
    expect(overview).toContain("## recorder\n");
    expect(overview).toContain("## ncu\n");
    expect(overview).toContain("no nsys here");
  });

  it("writes the rest when one part cannot be written, and says what could not", async () => {
    mkdirSync(inRun("recorder"));
    // A file where a directory has to be.
    writeFileSync(inRun("recorder/regions"), "");
    const { reports, failures } = await writeRun(result, config, { directory });
    expect(failures).toEqual([expect.stringMatching(/^region reports of recorder: .*regions/)]);
    expect(reports).toContain(inRun("report.md"));
    for (const name of ["report.md", "kernels.md", "env.json", "inputs.yaml"])
      expect(existsSync(inRun(name)), name).toBe(true);
  });
});
