/** Label rules through whole runs: the same regions from every collector, and from the files again. */
import { cpSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { recordManyRanges } from "../../bench/bounded.ts";
import { runReport } from "../../src/profiler/cli/subcommand-lines.ts";
import type { RegionReportBundle } from "../../src/report/model/document.ts";
import { callCommand } from "../called-command.ts";
import { regionsByPath, temporaryDirectory } from "./command.ts";
import { kernels, ncuMachine, rangesByLevel } from "./ncu-machine.ts";

const here = temporaryDirectory();
afterAll(here.remove);
const profile = (...args: readonly string[]) =>
  callCommand("deep-profile", args, { cwd: here.path });
const reportOf = (run: string): RegionReportBundle =>
  JSON.parse(readFileSync(join(here.path, run, "recorder/regions/report.json"), "utf8"));
/** Of the ranges that the program is known by; what is in no range and what layers are inside does not matter here. */
const pathsIn = (bundle: RegionReportBundle) =>
  [...regionsByPath(bundle).keys()].filter(
    (path) => !/^\(outside\)$|stem|residual|head/.test(path),
  );
const pathsOf = (run: string) => pathsIn(reportOf(run));
const withoutTime = (run: string) =>
  reportOf(run).reports.map((report) => ({ ...report, generated_at: "" }));

/** A and B become one region, and what is inside has no number. */
const rules = `labels.rules=[{pattern: "^[AB]$", replace: step}, {pattern: "::A\\d+$", replace: "::inner"}]`;
const unified = ["step", "step > A::inner"];
const noteOf = (labels: string) =>
  `labels unified by 2 rules: ${labels} (rules: '^[AB]$' => 'step', '::A\\d+$' => '::inner')`;

describe("a run with label rules", () => {
  it("has the regions that they make, also when its reports are made again", async () => {
    const { code, stdout } = await profile(
      ...["workload=nvtx_regions", "device=cpu", rules, "hydra.run.dir=run"],
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/note: labels unified by 2 rules: \d+ labels became \d+ \(rules: '/);
    expect(pathsOf("run")).toEqual(unified);
    const before = withoutTime("run");
    expect((await profile("report", "run")).code).toBe(0);
    expect(withoutTime("run")).toEqual(before);
  });

  it("is reported by other rules where they are given, for these reports alone", async () => {
    const again = (...args: readonly string[]) => profile("report", "run", "-o", ...args);
    await again("plain", "--labels", "none");
    expect(pathsOf("plain")).toEqual(["A", "A > A::A1", "B"]);
    await again("other", "--label-rule", "^A$=>first");
    expect(pathsOf("other")).toEqual(["first", "first > A::A1", "B"]);
    await again("same");
    expect(pathsOf("same")).toEqual(unified);
    const fingerprints = ["plain", "other", "same", "run"].map(
      (run) => reportOf(run).reports[0]?.config_fingerprint,
    );
    expect(new Set(fingerprints).size).toBe(3);
    expect(fingerprints[2]).toBe(fingerprints[3]);
  });

  it("is reported with numbered labels folded where there are more than --fold says, or never", async () => {
    cpSync(join(here.path, "run"), join(here.path, "numbered"), { recursive: true });
    const recorder = join(here.path, "numbered/recorder");
    rmSync(recorder, { recursive: true });
    const recording = recordManyRanges({
      ranges: 6,
      labelOf: (range) => (range === 5 ? "last" : `step ${range}`),
    });
    cpSync(recording, recorder, { recursive: true });
    rmSync(recording, { recursive: true });
    const steps = ["0", "1", "2", "3", "4"].map((number) => `step ${number}`);
    const console = { stdout: () => {}, stderr: () => {} };
    const folded = async (name: string, ...args: readonly string[]) => {
      const io = { cwd: here.path, env: {}, now: new Date(), console };
      expect(await runReport(["numbered", "-o", name, ...args], io)).toBe(0);
      const [report] = reportOf(name).reports;
      const said = report?.notes.some((note) => note.includes("differ only in numbers are one"));
      return { paths: pathsOf(name).sort(), said };
    };
    const asWritten = { paths: ["last", ...steps], said: false };
    expect(await folded("four", "--fold", "4")).toEqual({ paths: ["last", "step #"], said: true });
    expect(await folded("five", "--fold", "5")).toEqual(asWritten);
    expect(await folded("never", "--fold", "none")).toEqual(asWritten);
    expect(await folded("default")).toEqual(asWritten);
  });

  it("is refused before anything is made where a pattern is no regular expression", async () => {
    const { code, stderr } = await profile(
      ...["device=cpu", 'labels.rules=[{pattern: "step ("}]', "hydra.run.dir=refused"],
    );
    expect(code).toBe(1);
    expect(stderr).toContain(
      "labels.rules[0].pattern: 'step (' is not a JavaScript regular expression: unterminated group",
    );
  });
});

const { gpu, notesOf, profile: profileNcu, regionsOf, cwd } = ncuMachine("label rules with ncu");

describe.skipIf(gpu === null)("label rules under ncu", () => {
  const recorded = (run: string): RegionReportBundle =>
    JSON.parse(readFileSync(join(cwd, run, "recorder/regions/report.json"), "utf8"));

  it("make the regions that the recorder reports, and patterns are of these", async () => {
    gpu?.plan([{ results: kernels }]);
    const { code } = await profileNcu([
      ...[rules, "pipeline.ncu.ncu_cli.nvtx.include=step", "hydra.run.dir=kernels"],
    ]);
    expect(code).toBe(0);
    const [call] = gpu?.profilingCalls() ?? [];
    expect(call?.join(" ")).toContain("--nvtx-include regex:^(A|B)$/");
    expect([...regionsOf("kernels").keys()]).toEqual(unified);
    expect(pathsIn(recorded("kernels"))).toEqual(unified);
    expect(regionsOf("kernels").get("step")).toMatchObject({ invocations: 2, kernel_count: 3 });
    expect(notesOf("kernels")).toContain(noteOf("3 labels became 2"));
  });

  it("hold for ranges that are measured as a whole", async () => {
    gpu?.plan(
      rangesByLevel.map((run) =>
        run.include === "A/" ? { ...run, include: "regex:^(A|B)$/" } : run,
      ),
    );
    const { code } = await profileNcu([
      ...[rules, "pipeline.ncu.ncu_cli.replay_mode=range", "hydra.run.dir=ranges"],
      "pipeline.ncu.ncu_cli.nvtx.include=step",
    ]);
    expect(code).toBe(0);
    expect([...regionsOf("ranges").keys()]).toEqual(["step"]);
  });
});
