import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { requireNative } from "../../src/profiler/machine/native.ts";
import { createDocumentValidator } from "../../src/report/validation/document-contracts.ts";
import { callCommand } from "../called-command.ts";
import { availableClients, buildFixture } from "../native/fixtures.ts";
import { runCommand, temporaryDirectory } from "./command.ts";

const here = temporaryDirectory();
afterAll(here.remove);

const validate = async (file: string) =>
  createDocumentValidator().validate(JSON.parse(readFileSync(file, "utf8")));

const run = (...args: readonly string[]) => callCommand("deep-profile", args, { cwd: here.path });

const clients = availableClients("compared runs without ranges");

describe.skipIf(clients.length === 0)(
  "the README's comparison, of a program without ranges",
  () => {
    it("checks the time of the whole run", async () => {
      const program = await buildFixture("no_ranges.cc", "own client");
      for (const directory of ["RUN_A", "RUN_B"])
        await run("repeats=3", `hydra.run.dir=${directory}`, "--", program);
      const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");
      const [, line = ""] =
        /npx deep-profile (compare RUN_A RUN_B --fail-on .*?) *#/.exec(readme) ?? [];
      const { code, stdout, stderr } = await run(
        ...line.split(" ").map((word) => word.replaceAll("'", "")),
      );
      expect([0, 3]).toContain(code);
      expect(stdout + stderr).toMatch(
        /gates? (?:passed|breached).*1 checked|gate breached: wall_ms/,
      );
      const loose = await run("compare", "RUN_A", "RUN_B", "--fail-on", "wall_ms>100000%");
      expect(loose, loose.stderr).toMatchObject({ code: 0 });
      // As a process: its exit code is what a script sees of a gate.
      const gate = ["--fail-on", "wall_ms>-100%", "--strict"];
      const strict = await runCommand("deep-profile", ["compare", "RUN_A", "RUN_B", ...gate], {
        cwd: here.path,
      });
      expect(strict, strict.stdout).toMatchObject({ code: 3 });
    });
  },
);

describe("deep-profile compare of two real runs", () => {
  beforeAll(async () => {
    for (const [directory, iterations] of Object.entries({ a: 3, b: 24 }))
      await run("device=cpu", `infer.iterations=${iterations}`, `hydra.run.dir=${directory}`);
  });

  it("matches regions and shows what was configured differently", async () => {
    const { code, stdout, stderr } = await run("compare", "a", "b");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of ["stem", "residual", "  block.conv1", "head", "all"])
      expect(stdout).toMatch(new RegExp(`^${name.replace(".", "\\.")} .*calls|^all `, "m"));
    expect(stdout).toContain("stem");
    expect(stdout).toContain("calls 3 -> 24");
    expect(stdout).toContain("infer.iterations: 3 -> 24");
  });

  it("passes a gate that holds and fails with 3 at one that does not, saying why in one line", async () => {
    const passed = await run("compare", "a", "b", "--fail-on", "region:stem.kernel_count>1000");
    expect(passed.code).toBe(0);
    expect(passed.stdout).toContain("gates passed: 1 checked");
    const single = await run("compare", "a", "b", "--fail-on", "wall_ms>0%", "--json");
    expect(single.code).toBe(0);
    expect(single.stderr).toMatch(
      /^deep-profile compare: gates passed: 1 checked, 1 past the limit, but too few runs to be certain/,
    );
    expect((await run("compare", "a", "b", "--fail-on", "wall_ms>0%", "--strict")).code).toBe(3);
    const breached = await run("compare", "a", "b", "--fail-on", "invocations>0,kernel_count>0%");
    expect(breached.code).toBe(3);
    expect(breached.stderr.trim().split("\n")).toHaveLength(1);
    expect(breached.stderr).toMatch(/gate breached: invocations: \d+ -> \d+/);
  });

  it("calls what a selection left out neither gone nor new, and no gate of it passes", async () => {
    await run("device=cpu", "hydra.run.dir=c", "pipeline.recorder.include=residual");
    for (const [before, after] of [
      ["a", "c"],
      ["c", "a"],
    ] as const) {
      const { stdout } = await run("compare", before, after);
      expect(stdout).toMatch(/^stem .* left out$/m);
      expect(stdout).not.toMatch(/ (gone|new)$/m);
      const gated = await run("compare", before, after, "--fail-on", "region:stem.wall_ms>1000%");
      expect(gated.code).toBe(1);
      expect(gated.stderr).toContain("nothing to check, since one report leaves out");
    }
    const pattern = ["compare", "a", "c", "--fail-on", "region:*.wall_ms>100000%"];
    expect((await run(...pattern)).stdout).toMatch(
      /gates passed: \d+ checked, \d+ left out of a report/,
    );
    expect((await run(...pattern, "--strict")).code).toBe(3);
  });

  it("holds no limit against a run that failed half-way, unless it is told to", async () => {
    const { shallowResnet } = await requireNative(() => {});
    const failing = `"${shallowResnet}" --iterations 1; exit 7`;
    const made = await run("hydra.run.dir=failed", "--", "sh", "-c", failing);
    expect(made.code).toBe(1);
    const shown = await run("compare", "a", "failed");
    expect(shown.code).toBe(0);
    expect(shown.stdout).toContain("B failed: sh ended with exit code 7; its numbers cover");
    const file = "failed/recorder/regions/report.json";
    for (const [before, after, name] of [
      ["a", "failed", "B"],
      ["a", file, "B"],
      ["failed", "a", "A"],
    ] as const) {
      const gate = ["compare", before, after, "--fail-on", "wall_ms>100000%"];
      const refused = await run(...gate);
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(`${name} failed: sh ended with exit code 7`);
      expect(refused.stderr).toContain("--allow-failed");
      expect((await run(...gate, "--allow-failed")).code).toBe(0);
    }
  });

  it("takes report files, prints Markdown and JSON, and writes a page", async () => {
    const file = (name: string) => join(name, "recorder/regions/report.json");
    const markdown = await run("compare", file("a"), file("b"), "--markdown", "--html", "out.html");
    expect(markdown.stdout).toMatch(/^# Comparison\n/);
    expect(readFileSync(join(here.path, "out.html"), "utf8")).toMatch(/^<!doctype html>/);
    const json = await run("compare", "a", file("b"), "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      contract: "hydraconf.comparison/1.8",
      config: [{ key: "infer.iterations", a: "3", b: "24" }],
    });
  });

  it.each([
    [["a"], 2, "expected two runs or reports"],
    [["a", "absent"], 1, "there is no such file"],
    [["a", "."], 1, "it holds runs, and is none itself"],
    [["a", "a/config.yaml"], 1, "not JSON"],
    [["a", "b", "--collector", "ncu"], 1, "a has recorder"],
    [["a", "b", "--scope", "device:cuda:0"], 1, "no report of 'device:cuda:0'"],
    [["a", "b", "--fail-on", "total>5%"], 1, "neither report has total"],
    [["a", "b", "--fail-on", "total_ms"], 2, "is not a condition"],
    [["a", "b", "--fail", "x"], 2, "unknown option --fail"],
    [["a", "b", "--html", "a"], 1, "Cannot write the page a: it is a directory"],
  ])("refuses %j", async (args, code, message) => {
    const result = await run("compare", ...args);
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(code);
    expect(result.stdout).toBe("");
    expect(existsSync(join(here.path, "tmp"))).toBe(false);
  });
});

describe("deep-profile ab", () => {
  const quick = ["pipeline.report.html=false", "pipeline.static_analysis.enable=false"];

  it("runs two configs in turns, and writes an ordinary comparison", async () => {
    const { code, stdout, stderr } = await run(
      ...["ab", "--pairs", "2", "--gate", "invocations>0", "-o", "ab", "device=cpu", ...quick],
      ...["--", "infer.iterations=2", "--", "infer.iterations=4"],
    );
    expect({ code, stderr: stderr.trim().split("\n").at(-1) }).toEqual({
      code: 3,
      stderr: expect.stringContaining("deep-profile ab: gate breached: invocations:"),
    });
    expect(stdout).toMatch(/note: 2 pairs of runs in turns \(ABBA\) after a warm-up of each/);
    expect(stdout).toContain("infer.iterations: 2 -> 4");
    const file = (name: string) => readFileSync(join(here.path, "ab", name), "utf8");
    const document = JSON.parse(file("comparison.json"));
    expect(document.totals.wall_ms.log_ratios).toHaveLength(2);
    expect(file("comparison.md")).toContain("# Comparison");
    expect(file("comparison.html")).toContain("<title>Comparison");
    const again = await run("compare", "ab/a", "ab/b");
    expect(again.stdout).toContain("times are means of repeated runs (A: 2, B: 2)");
    expect((await run("report", "ab/a")).code).toBe(0);
  });

  it("finds the noise of a program, below which nothing is called", async () => {
    const env = { XDG_CACHE_HOME: join(here.path, "cache") };
    const again = (...args: readonly string[]) =>
      callCommand("deep-profile", args, { cwd: here.path, env });
    const program = ["device=cpu", "infer.iterations=2", ...quick];
    const made = await again("calibrate", "--sessions", "3", "--runs", "3", ...program);
    expect(made.code).toBe(0);
    expect(made.stderr).toContain("session 3 of 3: a warm-up and 3 runs");
    expect(made.stdout).toMatch(/^Smallest effect seen, % +3 runs +5 runs/m);
    expect(made.stdout).toMatch(/^residual +\d/m);
    const file = join(here.path, made.stdout.trim().split("\n").at(-1) ?? "");
    expect(file).toContain("calibrations");
    expect(await validate(file)).toEqual([]);
    for (const directory of ["c1", "c2"])
      await again(...program, "repeats=3", `hydra.run.dir=${directory}`);
    const auto = await again("compare", "c1", "c2", "--fail-on", "auto");
    expect(auto.stdout).toContain("noise as calibrated on");
    expect(auto.stdout).toMatch(/the smallest effect that could have been seen\s+is \d/);
    const named = ["compare", "c1", "c2", "--fail-on", "auto", "--calibration"];
    expect((await run(...named, file)).code).not.toBe(1);
    const wrong = await run(...named, "c1/config.yaml");
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("it is no calibration"),
    });
    const none = await run("compare", "c1", "c2", "--fail-on", "auto");
    expect(none).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("deep-profile calibrate"),
    });
  });

  it("calibrates nothing of a program that fails", async () => {
    const { code, stderr } = await run("calibrate", ...quick, "--", "sh", "-c", "exit 7");
    expect(code).toBe(1);
    expect(stderr).toContain("sh ended with exit code 7");
    expect(stderr).toContain("nothing was written");
  });

  it("ends where a program fails, and says which and why", async () => {
    const { code, stderr } = await run(
      ...["ab", "-o", "failing", ...quick, "--", "true", "--", "sh", "-c", "echo oh >&2; exit 7"],
    );
    expect(code).toBe(1);
    expect(stderr).toContain("B failed: sh ended with exit code 7");
    expect(stderr).toContain("no pair of runs was completed");
  });
});
