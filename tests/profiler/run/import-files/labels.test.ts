/** Labels of imported files, unified by the options of `deep-profile import`. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildRegionModel } from "../../../../src/profiler/analysis/build.ts";
import type { ScopeModel } from "../../../../src/profiler/analysis/region-model.ts";
import { presetRules } from "../../../../src/profiler/cli/label-options.ts";
import type { RegionReportBundle } from "../../../../src/report/model/document.ts";
import { samplesOrSkip } from "../../../shared.ts";
import { globalId, writeExport } from "../../tools/nsys/exports.ts";
import { importer } from "./importer.ts";

const { cwd, importFiles, refusal } = importer();

const bundleIn = (directory: string, collector: string): RegionReportBundle =>
  JSON.parse(readFileSync(join(cwd, directory, collector, "regions/report.json"), "utf8"));
const pathsIn = (directory: string, collector: string) =>
  bundleIn(directory, collector).reports[0]?.regions.flatMap(({ path, kind }) =>
    kind === "outside" ? [] : [path.join(" / ")],
  );
const notesIn = (directory: string, collector: string) =>
  bundleIn(directory, collector).reports[0]?.notes.filter((note) => note.includes("label"));

const entry = (name: string) => `""<default domain>:${name}:none:none:none:none:none:none""`;
/** Two steps of a program, as the raw page of ncu shows them. */
function rawPage(): string {
  const rows = [1, 2].map((step) =>
    [
      ...[String(step - 1), "7", "prog", "127.0.0.1", "gemm", "1", "7", "(1, 1, 1)", "(1, 1, 1)"],
      ...["0", "8.0", `1111  ${entry(`step ${step}`)}  ${entry("load")} `, "", String(step * 10)],
    ]
      .map((cell) => `"${cell}"`)
      .join(","),
  );
  const head = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg","Id:Domain:Start/Stop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg","gpu__time_duration.sum"`;
  const units = `"","","","","","","","","","","","","","nsecond"`;
  const file = join(cwd, "raw.csv");
  writeFileSync(file, `${[head, units, ...rows].join("\n")}\n`);
  return file;
}

const exported = () =>
  writeExport({
    NVTX_EVENTS: [
      { start: 10, end: 100, eventType: 59, text: "step 1", globalTid: globalId(7, 7) },
      { start: 20, end: 60, eventType: 59, text: "load", globalTid: globalId(7, 7) },
      { start: 110, end: 250, eventType: 59, text: "step 2", globalTid: globalId(7, 7) },
    ],
  });

describe("deep-profile import --fold", () => {
  it.each([
    ["more than", ["--fold", "1"], ["step #", "step # / load"]],
    ["as many as", ["--fold", "2"], ["step 1", "step 1 / load", "step 2"]],
    ["never", ["--fold", "none"], ["step 1", "step 1 / load", "step 2"]],
    ["by itself", [], ["step 1", "step 1 / load", "step 2"]],
  ])("folds numbered labels where there are %s so many", async (name, args, paths) => {
    const { code } = await importFiles([exported(), "-o", `fold ${name}`, ...args]);
    expect(code).toBe(0);
    expect(pathsIn(`fold ${name}`, "nsys")).toEqual(paths);
    const folded = notesIn(`fold ${name}`, "nsys") ?? [];
    expect(folded.some((note) => note.includes("'step #'"))).toBe(paths[0] === "step #");
  });

  it.each(["0", "-1", "1.5", "all"])("refuses %s before a directory is made", async (count) => {
    const error = await refusal([exported(), "-o", "refused", `--fold=${count}`]);
    expect(error).toMatchObject({
      code: "app.usage",
      message: `--fold: '${count}' is neither a count of at least 1 nor none`,
    });
  });
});

describe("deep-profile import --label-rule", () => {
  it("gives the same regions in the reports of all tools", async () => {
    const { code } = await importFiles([
      ...[rawPage(), exported(), "-o", "both", "--label-rule", "step \\d+=>step"],
      ...["--include", "step"],
    ]);
    expect(code).toBe(0);
    for (const collector of ["ncu", "nsys"]) {
      expect(pathsIn("both", collector)).toEqual(["step", "step / load"]);
      expect(notesIn("both", collector)).toEqual([
        "labels unified by 1 rule: 3 labels became 2 (rules: 'step \\d+' => 'step')",
      ]);
    }
    // Calls and times are those of both steps.
    expect(bundleIn("both", "ncu").reports[0]?.regions[0]).toMatchObject({
      ...{ invocations: 2, kernel_count: 2, total_ms: 30e-6, wall_ms: 230e-6 },
    });
  });

  it("drops what it finds where there is no text, in the order of the rules", async () => {
    const rules = ["--label-rule", " \\d+$", "--label-rule", "^step$=>a => b"];
    await importFiles([exported(), "-o", "dropped", ...rules]);
    // At the last arrow: the pattern is `^step$=>a ` then, and fits nothing.
    expect(pathsIn("dropped", "nsys")).toEqual(["step", "step / load"]);
    expect(notesIn("dropped", "nsys")?.at(-1)).toBe(
      "the label rule '^step$=>a ' => ' b' matches no label",
    );
  });

  it("names other reports than the labels of the program do", async () => {
    await importFiles([exported(), "-o", "plain"]);
    await importFiles([exported(), "-o", "unified", "--label-rule", " \\d+$"]);
    expect(notesIn("plain", "nsys")).toEqual([]);
    const fingerprint = (name: string) => bundleIn(name, "nsys").reports[0]?.config_fingerprint;
    expect(fingerprint("unified")).not.toBe(fingerprint("plain"));
  });

  it.each([
    [
      ["--label-rule", "step (\\d=>x"],
      "--label-rule: 'step (\\d' is not a JavaScript regular expression: unterminated group",
    ],
    [["--label-rule", "=>x"], "--label-rule: '=>x' has no regular expression before =>"],
    [["--labels", "torch"], "--labels: 'torch' is not one of none, pytorch, pytorch.shapes"],
  ])("refuses %j before a directory is made", async (args, message) => {
    const error = await refusal([exported(), "-o", "refused", ...args]);
    expect(error).toMatchObject({ code: "app.usage", message });
  });
});

const sample = samplesOrSkip("labels of a real export of PyTorch");

describe.skipIf(sample === null)("a real export of PyTorch", () => {
  it("is told of with its 16,423 regions, and is a region per operation folded and by the ready-made rules", async () => {
    const { readNsysExport } = await import(
      "../../../../src/profiler/tools/nsys/read/read-export.ts"
    );
    const timeline = readNsysExport(
      sample?.("pub-nsysai-h100-2gpu-2026.2-schema3.25.sqlite") ?? "",
    );
    const [numbered] = buildRegionModel(timeline, { labels: { fold: null } }).scopes;
    const [folded] = buildRegionModel(timeline).scopes;
    const [unified] = buildRegionModel(timeline, { labels: presetRules("pytorch") }).scopes;
    const aboutLabels = (scope = numbered) =>
      scope?.notes.filter((note) => note.includes("label") && !note.startsWith("only the"));
    // A report has no more regions than this, and says so.
    expect(regionsIn(numbered)).toHaveLength(10_000);
    expect(numbered?.notes).toContainEqual(
      expect.stringMatching(/^only the 10,000 longest of 16,423 regions /),
    );
    expect(aboutLabels()).toEqual([
      "16,279 labels would be 82 without the numbers in them, e.g. in 'aten::as_strided, op_id = 314292': labels=pytorch unifies the labels that PyTorch numbers (import and report: --labels pytorch)",
    ]);
    expect(regionsIn(unified)).toHaveLength(511);
    expect(aboutLabels(unified)?.[0]).toMatch(
      /^labels unified by 2 rules: 16,279 labels became 176 /,
    );
    expect(unified?.totals).toEqual(numbered?.totals);
    expect(folded?.totals).toEqual(numbered?.totals);
    expect(regionsIn(folded)?.length).toBeLessThan(600);
    expect(aboutLabels(folded)).toEqual([
      expect.stringMatching(/^labels that differ only in numbers are one region, .* 32 of them: /),
    ]);
  });
});

const regionsIn = (scope: ScopeModel | undefined) =>
  scope?.regions.filter(({ kind }) => kind !== "outside");
