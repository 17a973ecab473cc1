/** `deep-profile` with ncu on a pretended GPU: a fake ncu profiles as planned, the real one reads. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import { requireNative } from "../../src/profiler/machine/native.ts";
import type { NCUProfileRegion, RegionReportBundle } from "../../src/report/model/document.ts";
import { callCommand } from "../called-command.ts";
import { realNcuOrSkip } from "../profiler/tools/ncu/run/real-ncu.ts";
import { type CommandResult, regionsByPath, startProfile, temporaryDirectory } from "./command.ts";
import { type FakeGpu, type FakeRun, fakeGpu } from "./fake-gpu.ts";

const { shallowResnet, info } = await requireNative(() => {});
export const nativeInfo = info;

/** The program with the regions A, A > A::A1 and B; on the CPU, where the fake GPU cannot help. */
export const regions = ["--", shallowResnet, "--device", "cpu", "--program", "regions"];

const design = [
  "model/dummy_shallow_resnet/arch@model=dummy_shallow_resnet.default",
  "model/dummy_shallow_resnet/infer@infer=dummy_shallow_resnet.default",
  "pipeline.ncu.enable=true",
  "pipeline.nsys.enable=false",
];
const device = "device=cuda:0";

/** The command lines of the design, as they stand there. */
export const designLines: readonly (readonly string[])[] = [
  [
    ...design,
    "pipeline.ncu.ncu_cli.replay_mode=range",
    "pipeline.ncu.ncu_cli.nvtx.include=*",
    device,
  ],
  [...design, device, "pipeline.ncu.ncu_cli.sections=[SpeedOfLight,Occupancy]"],
];

export const inA = [{ name: "A" }];
export const inA1 = [{ name: "A" }, { name: "A::A1" }];
export const kernels = [
  { kernel: "gemm", pushPop: inA },
  { kernel: "gemm", pushPop: inA1 },
  { kernel: "pool", pushPop: [{ name: "B" }] },
];

/** What ncu finds in range replay of all regions: a run per level of nesting. */
export const rangesByLevel: readonly FakeRun[] = [
  {
    include: "A/",
    results: [
      // The first API call of A may come when A::A1 is open already.
      { kernel: "", kind: "range", pushPop: inA1 },
      { kernel: "", kind: "range", pushPop: [{ name: "B" }] },
    ],
  },
  { include: "A::A1/", results: [{ kernel: "", kind: "range", pushPop: inA1 }] },
  { log: "==WARNING== No ranges were profiled.\n" },
];

/** A directory to profile in, and what is found there afterwards; all of it goes with the tests. */
export function ncuMachine(what: string) {
  const here = temporaryDirectory();
  afterAll(here.remove);
  const real = realNcuOrSkip(what);
  const gpu: FakeGpu | null = real === null ? null : fakeGpu(here.path, real);
  const inHere = (...names: readonly string[]) => join(here.path, ...names);
  const bundleOf = (run: string): RegionReportBundle =>
    JSON.parse(readFileSync(inHere(run, "ncu/regions/report.json"), "utf8"));
  return {
    cwd: here.path,
    inHere,
    /** Null where there is no real ncu. */
    gpu,
    real,
    /** Where the real ncu is; empty where there is none. */
    nsight: real === null ? "" : dirname(real.path),
    /** Profiles `program` with the overrides of the design and these. */
    profile: (
      args: readonly string[],
      program: readonly string[] = regions,
      env: Readonly<Record<string, string>> = {},
    ): Promise<CommandResult> =>
      callCommand("deep-profile", [...design, device, ...args, ...program], {
        cwd: here.path,
        env: { ...gpu?.env, ...env },
      }),
    /** The same without waiting for it. */
    start: (args: readonly string[], program: readonly string[] = regions) =>
      startProfile([...design, device, ...args, ...program], here.path, gpu?.env),
    bundleOf,
    regionsOf: (run: string): ReadonlyMap<string, NCUProfileRegion> => regionsByPath(bundleOf(run)),
    notesOf: (run: string): string => (bundleOf(run).reports[0]?.notes ?? []).join("\n"),
  };
}
