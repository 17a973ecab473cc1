import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, describe, expect, it } from "vitest";
import { fakeGpu, gpuEnvironment } from "./fake-gpu.ts";
import { availableClients } from "./fixtures.ts";
import { nativeProgram } from "./programs.ts";

const script = fileURLToPath(new URL("../../scripts/gpu-check-recorder.py", import.meta.url));
const root = mkdtempSync(join(tmpdir(), "hydraconf-recorder-check-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const canBuild = availableClients("gpu-check-recorder.py").length > 0;

/** Kernel and nanoseconds of `gpu_program regions`, named as NVIDIA's demangler does. */
const KERNELS: readonly (readonly [string, number])[] = [
  ["warm_up(float *)", 1_000],
  ["void gemm<float>(const T1 *, const T1 *, T1 *, int)", 100_000],
  ["relu", 20_000],
  ["void gemm<float>(const T1 *, const T1 *, T1 *, int)", 300_000],
  ["relu", 1_000],
  ["pool", 2_000],
];

/** Runs the check over the pretended GPU, with an ncu that measured `kernels`. */
async function check(
  kernels: typeof KERNELS,
  nsys: readonly string[] | null = null,
  env: Readonly<Record<string, string>> = {},
  largestFileKib = "unlimited",
) {
  const place = mkdtempSync(join(root, "run-"));
  const bin = join(place, "bin");
  mkdirSync(bin);
  const table = [
    ["ID", "Kernel Name", "gpu__time_duration.sum"],
    ["", "", "nsecond"],
    ...kernels.map(([name, ns], id) => [String(id), name, String(ns)]),
  ].map((row) => row.map((cell) => `"${cell}"`).join(","));
  writeFileSync(join(place, "table.csv"), `${table.join("\n")}\n`);
  const tool = (name: string, lines: readonly string[]) => {
    writeFileSync(join(bin, name), ["#!/bin/sh", ...lines, ""].join("\n"));
    chmodSync(join(bin, name), 0o755);
  };
  tool("ncu", [`case "$*" in *--import*) cat '${join(place, "table.csv")}';; esac`]);
  if (nsys !== null) tool("nsys", nsys);
  const out = join(place, "out");
  const { program } = await fakeGpu();
  const library = await nativeProgram("region_recorder.so");
  const result = await execa(
    "bash",
    [
      ...["-c", `ulimit -f ${largestFileKib}; exec python3 "$0" "$@"`, script],
      ...["--out", out, "--library", library, "--", program, "regions"],
    ],
    {
      reject: false,
      env: {
        ...(await gpuEnvironment(join(place, "unused"))),
        PATH: `${bin}:${process.env["PATH"]}`,
        ...env,
      },
    },
  );
  return { ...result, table: () => readFileSync(join(out, "table.txt"), "utf8") };
}

describe.runIf(canBuild)("gpu-check-recorder.py", () => {
  it("finds the same kernels in both, whoever demangled their names", async () => {
    const { exitCode, stderr, table } = await check(KERNELS);
    expect(stderr).toBe("");
    expect(exitCode).toBe(0);
    expect(table()).toContain("4 kernels, 0 differ");
    expect(table()).toMatch(/2 +200\.00 +2 +200\.00 +gemm<float> +ok/);
  });

  it("tells of a kernel that takes another time, and of one that only ncu has", async () => {
    const slower = KERNELS.map(([name, ns]) => [name, name === "relu" ? 2 * ns : ns] as const);
    const { exitCode, stderr, stdout } = await check([...slower, ["other", 5_000]]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("2 kernels differ");
    expect(stdout).toContain("-50.0 % beside ncu");
    expect(stdout).toContain("ncu alone has other");
  });

  it.each([
    ["CUPTI takes", {}],
    ["CUPTI does not take", { FAKE_CUPTI_FAIL: "ActivityRegisterTimestampCallback=1" }],
  ])("sees kernels begin after their launches, by a clock of ours that %s", async (_, env) => {
    const { exitCode, stdout } = await check(KERNELS, null, env);
    const began = /kernels begin ([\d.]+) us after their launch, the first ([\d.]+) us/.exec(
      stdout,
    );
    // Of the pretended GPU: two microseconds later at least.
    expect(Number(began?.[2])).toBeGreaterThan(1);
    expect(Number(began?.[1])).toBeGreaterThanOrEqual(Number(began?.[2]));
    expect(exitCode).toBe(0);
  });

  it("tells of a clock that is not lined up", async () => {
    const { exitCode, stderr } = await check(KERNELS, null, { FAKE_CUPTI_IGNORE_CLOCK: "1" });
    expect(stderr).toContain("the GPU's clock is not lined up with ours");
    expect(exitCode).toBe(1);
  });

  it("tells of kernels, copies and waits that a full disk had no room for", async () => {
    const { exitCode, stdout } = await check(
      KERNELS,
      null,
      { FAKE_CUPTI_BUFFER_RECORDS: "1" },
      "8",
    );
    expect(stdout).toMatch(/^recorder: events-.*\.nvtxrec: 10 records lost, no room$/m);
    expect(exitCode).toBe(1);
  });

  it("goes on without a tool that fails", async () => {
    const { exitCode, stdout } = await check(KERNELS, ["echo 'no importer here' >&2", "exit 1"]);
    expect(stdout).toContain("nsys: exit 1: no importer here, left out");
    expect(exitCode).toBe(0);
  });
});
