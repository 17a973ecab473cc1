import { describe, expect, it } from "vitest";
import {
  examine,
  renderFindings,
  renderSummary,
} from "../../../../src/profiler/cli/show-doctor.ts";
import { CUPTI, GPU_MACHINE, machine, NSIGHT, params, type Sketch, TOOLCHAIN } from "./machines.ts";

const situations: readonly (readonly [string, Sketch])[] = [
  ["with everything", GPU_MACHINE],
  [
    "whose counters are for root only",
    { ...GPU_MACHINE, files: { ...NSIGHT.files, ...params(1) } },
  ],
  ["whose GPUs are hidden", { ...GPU_MACHINE, env: { CUDA_VISIBLE_DEVICES: "" } }],
  ["in a container without its GPUs", { files: params(0), answers: TOOLCHAIN }],
  ["without a GPU", { answers: TOOLCHAIN }],
  ["without a GPU, with the tools", { ...NSIGHT, answers: { ...TOOLCHAIN, ...NSIGHT.answers } }],
  ["with nothing", {}],
  ["whose tools print nonsense", { files: NSIGHT.files, answers: { python3: "{ not json" } }],
];

describe("in ten lines", () => {
  it.each(situations)("is told what a machine %s can do, with every remedy", async (_, sketch) => {
    const findings = await examine(machine(sketch));
    const summary = renderSummary(findings, { color: false });
    expect(summary.trimEnd().split("\n").length).toBeLessThanOrEqual(10);
    for (const { name, detail, hint = "" } of findings.checks) {
      expect(summary, name).toContain(detail);
      expect(summary, name).toContain(hint);
    }
    for (const { name, works, detail } of findings.collectors)
      if (works !== "no") expect(summary, name).toContain(detail);
  });

  it("names versions, the permission with its remedy, and what will work", async () => {
    const files = { ...NSIGHT.files, ...CUPTI, ...params(1) };
    const lines = renderSummary(await examine(machine({ ...GPU_MACHINE, files })), { color: false })
      .trimEnd()
      .split("\n");
    const line = (name: string) => lines.find((one) => one.slice(8).startsWith(`${name} `));
    expect(lines).toHaveLength(10);
    expect(lines[0]).toContain(`Node ${process.version}`);
    expect(line("nsys")).toMatch(/^ {2}ok {4}nsys .* 2025\.5\.1\.121 \(/);
    expect(line("ncu")).toContain("2025.3.1.0 (");
    expect(line("permissions")).toMatch(
      /warn .*ERR_NVGPUCTRPERM.* -> as root: .*NVreg_RestrictProfilingToAdminUsers=0/,
    );
    expect(line("with recorder")).toMatch(/yes .*wall time .*; kernels and GPU time per region$/);
    expect(line("with nsys")).toMatch(/yes .*ranges and kernels/);
    expect(line("with ncu")).toMatch(/part .*GPU counters are not allowed/);
  });
});

it.each([renderSummary, renderFindings])("%o colours only where asked", async (render) => {
  const findings = await examine(machine({ answers: TOOLCHAIN }));
  const plain = render(findings, { color: false });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  const colors = /\u001b\[\d+m/;
  expect(plain).not.toMatch(colors);
  const colored = render(findings, { color: true });
  expect(colored).toMatch(colors);
  expect(colored.replaceAll(new RegExp(colors, "g"), "")).toBe(plain);
});

it("with --verbose, a line for each finding, and one below for each remedy", async () => {
  const findings = await examine(machine({ answers: TOOLCHAIN }));
  const remedies = findings.checks.filter(({ hint }) => hint !== undefined).length;
  expect(renderFindings(findings, { color: false }).trimEnd().split("\n")).toHaveLength(
    2 + 8 + 4 + remedies,
  );
});
