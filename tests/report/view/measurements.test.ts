import { describe, expect, it } from "vitest";
import { measurementsOf } from "../../../src/report/view/measurements.ts";
import { bundleOf, firstReport } from "../bundles.ts";

const report = firstReport(
  bundleOf([
    {
      pid: 1,
      ranges: [{ name: "step", start: 0, end: 100 }],
      kernels: [{ name: "gemm", launch: 50, ns: 20 }],
    },
  ]),
);

describe("what would tell more", () => {
  it.each([
    { gpus: [], asksNcu: true },
    { gpus: ["NVIDIA H100 80GB HBM3"], asksNcu: true },
    { gpus: ["Tesla T4", "AMD Instinct MI300X VF"], asksNcu: true },
    { gpus: ["AMD Instinct MI300X VF"], asksNcu: false },
    { gpus: ["Intel(R) Data Center GPU Max 1550"], asksNcu: false },
  ])("is Nsight Compute unless another maker's GPU ran: $gpus", ({ gpus, asksNcu }) => {
    const environment = { ...report.environment, gpus };
    const commands = measurementsOf({ ...report, environment }, [], []).map(
      ({ command }) => command,
    );
    expect(commands.some((command) => command.includes("pipeline.ncu.enable=true"))).toBe(asksNcu);
    expect(commands.some((command) => command.includes("repeats=5"))).toBe(true);
  });

  const commandsOf = (environment: Partial<typeof report.environment>, ranks = report.ranks) =>
    measurementsOf(
      {
        ...report,
        environment: { ...report.environment, ...environment },
        ...(ranks !== undefined && { ranks }),
      },
      [],
      [],
    ).map(({ command }) => command);

  it("names a program as it was given: by its command line, or by overrides", () => {
    const command = ["/pkg/shallow_resnet", "--program", "my file"];
    expect(commandsOf({ command })).toEqual([
      "deep-profile pipeline.ncu.enable=true -- /pkg/shallow_resnet --program 'my file'",
      "deep-profile repeats=5 -- /pkg/shallow_resnet --program 'my file'",
    ]);
    const overrides = ["workload=nvtx_regions", "infer.input=a file"];
    expect(commandsOf({ command, overrides })).toEqual([
      "deep-profile pipeline.ncu.enable=true workload=nvtx_regions 'infer.input=a file'",
      "deep-profile repeats=5 workload=nvtx_regions 'infer.input=a file'",
    ]);
    expect(commandsOf({ command, overrides: [] })).toEqual([
      "deep-profile pipeline.ncu.enable=true",
      "deep-profile repeats=5",
    ]);
  });

  it("starts several ranks again by their command line", () => {
    const rank = { host: "a", local_rank: null, process_ids: [1] };
    const ranks = [0, 1].map((number) => ({ ...rank, rank: number }));
    expect(commandsOf({ command: ["./a"], overrides: [] }, ranks).at(-1)).toBe(
      "deep-profile repeats=5 -- mpirun -n 2 ./a",
    );
  });
});
