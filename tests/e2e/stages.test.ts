import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callCommand } from "../called-command.ts";
import { temporaryDirectory } from "./command.ts";

/** Stage 1 is static analysis, stage 2 the profiled run: each key of theirs has its effect. */

const here = temporaryDirectory();
afterAll(() => here.remove());

const small = ["infer.image_size=8", "infer.iterations=2", "device=cpu"];

async function profile(name: string, ...overrides: string[]) {
  const result = await callCommand(
    "deep-profile",
    [...small, ...overrides, `hydra.run.dir=${name}`],
    { cwd: here.path },
  );
  expect(result.stderr).toBe("");
  expect(result.code).toBe(0);
  const text = (file: string) => readFileSync(join(here.path, name, file), "utf8");
  const document = () => JSON.parse(text("recorder/stdout.json"));
  return { text, document, has: (file: string) => existsSync(join(here.path, name, file)) };
}

describe("stage 1", () => {
  let run: Awaited<ReturnType<typeof profile>>;
  beforeAll(async () => {
    run = await profile("stage1", "runners=stage1.default");
  });

  it("bounds each layer by what this machine can do, and sums it up in plain words", () => {
    const report = run.text("report.md");
    expect(report).toContain("## Static analysis");
    expect(report).toMatch(/\d+ parameters \(/);
    expect(report).toContain("GFLOP/s and ");
    expect(report).toContain("(measured on this machine)");
    expect(report).toMatch(/stem\.0 .* (arithmetic|memory) /);
    expect(run.text("stakeholder_summary.md")).toContain("## How much room there is");
  });

  it("is off in the profiled workload with runners=stage1.no-static", async () => {
    const without = await profile("no-static", "runners=stage1.no-static");
    expect(without.text("report.md")).not.toContain("Static analysis");
    expect(without.text("stakeholder_summary.md")).not.toContain("How much room");
    expect(without.text("stakeholder_summary.md")).toContain("## Where the time goes");
    // The workload was not even asked to measure the machine.
    expect(JSON.parse(without.text("env.json"))).not.toHaveProperty("peaks");
    expect(JSON.parse(run.text("env.json"))).toMatchObject({
      peaks: { source: "measured on this machine" },
    });
  });
});

describe("stage 2", () => {
  it("lists runner.top_n_kernels kernels", async () => {
    const rows = (text: string) => text.match(/^\| (?!CPU operation|---)/gm)?.length;
    const two = await profile("top-2", "runner.top_n_kernels=2");
    const all = await profile("top-30");
    expect(rows(two.text("kernels.md"))).toBe(2);
    expect(rows(all.text("kernels.md"))).toBeGreaterThan(2);
  });

  it("writes region reports only with runner.mode=light", async () => {
    const light = await profile("light", "runner.mode=light");
    expect(light.has("recorder/regions/report.json")).toBe(true);
    for (const file of ["report.md", "kernels.md", "stakeholder_summary.md"])
      expect(light.has(file), file).toBe(false);
  });

  it("puts its artifacts where runner.artifacts.stage2_dir says", async () => {
    const elsewhere = join(here.path, "elsewhere");
    const run = await profile("own-dir", `runner.artifacts.stage2_dir='${elsewhere}'`);
    expect(existsSync(join(elsewhere, "report.md"))).toBe(true);
    expect(run.has("report.md")).toBe(false);
    expect(run.has("config.yaml")).toBe(true);
  });
});

describe("settings for GPUs", () => {
  it.each([
    ["infer.dtype=float16", "infer.dtype=float16 is only for GPUs, and this run is on the CPU"],
    ["infer.cuda_graph=true", "infer.cuda_graph=true is only for GPUs, and this run is on the CPU"],
  ])("refuses %s on the CPU", async (override, message) => {
    const result = await callCommand("deep-profile", [...small, override], {
      cwd: here.path,
    });
    expect(result.stderr).toContain(message);
    expect(result.code).toBe(1);
  });
});
