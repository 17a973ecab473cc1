import { describe, expect, it } from "vitest";
import type { LabelRules } from "../../../../src/profiler/analysis/labels.ts";
import type { NcuResult } from "../../../../src/profiler/model/counters.ts";
import { createResultReader } from "../../../../src/profiler/tools/ncu/read-results.ts";
import { labelKey } from "../../../../src/profiler/tools/ncu/run/label-survey.ts";
import type { StateOptions } from "../../../../src/profiler/tools/ncu/run/measured-states.ts";
import type { NcuConfig } from "../../../../src/profiler/tools/profiler-config.ts";
import { timelineOf } from "../../analysis/timelines.ts";
import { resultOf } from "./results.ts";
import { cliConfig } from "./run/cli-config.ts";

const config: NcuConfig = {
  ...{ enable: true, gating_nvtx: true, native_nvtx: true, fallback: true, require_match: true },
  top_n_kernels: null,
  timeout_min: null,
  ncu_cli: { ...cliConfig, nvtx: { include: null, exclude: null } },
};
const labels: LabelRules = { rules: [{ pattern: " \\d+$" }] };

async function read(
  results: readonly NcuResult[],
  how: {
    readonly labels?: LabelRules;
    readonly measuredLabels?: LabelRules;
    readonly recorded?: Parameters<typeof timelineOf>[0];
    readonly pass?: StateOptions["labels"];
  },
) {
  const { pass = null, recorded, ...rules } = how;
  const reader = createResultReader({
    ...{ config, aggregate: true, operationDomains: [], top: null, ...rules },
    recorded: recorded === undefined ? null : timelineOf(recorded),
  });
  await reader.readPass(pass, async (onResult) => {
    for (const result of results) onResult(result);
    return { results: results.length, sections: new Map(), notes: [], unread: null };
  });
  const { measured } = reader.finish();
  if (measured.kind !== "regions") throw new Error("a timeline");
  const [scope] = measured.model.scopes;
  if (scope === undefined) throw new Error("no scope");
  return { scope, seen: reader.seen };
}

const kernels = [
  resultOf({ in: ["step 1", "mm 4"], ns: 10 }),
  resultOf({ in: ["step 2", "mm 5"], ns: 20 }),
  resultOf({ in: ["step 2"], ns: 30 }),
];

describe("results of ncu under label rules", () => {
  it("count for the regions that a recording of the program has, with its times", async () => {
    const { scope, seen } = await read(kernels, {
      labels,
      recorded: [
        {
          ranges: [
            { name: "step 1", start: 0, end: 100 },
            { name: "mm 4", start: 10, end: 20 },
            { name: "step 2", start: 100, end: 250 },
          ],
        },
      ],
    });
    expect(
      scope.regions.map(({ path, kernelNs, wallNs, invocations }) => ({
        path: path.join("/"),
        numbers: [kernelNs, wallNs, invocations],
      })),
    ).toEqual([
      { path: "step", numbers: [60, 250, 2] },
      { path: "step/mm", numbers: [30, 10, 1] },
    ]);
    expect(scope.notes).toContain(
      "labels unified by 1 rule: 4 labels became 2 (rules: ' \\d+$' => '')",
    );
    expect([...seen]).toContain(labelKey({ domain: "", name: "step", kind: "push_pop" }));
  });

  const ranges = [
    resultOf({ kind: "range", in: ["step 7", "mm 1"], ns: 10 }),
    resultOf({ kind: "range", in: ["step 8"], ns: 20 }),
  ];
  const step = [{ domain: "", name: "step", kind: "push_pop" as const }];

  it("of a range are cut where the region was measured, whatever its number is", async () => {
    const { scope } = await read(ranges, { labels, pass: step });
    expect(scope.regions).toMatchObject([{ path: ["step"], kernelNs: 30 }]);
  });

  it("are read again by other rules than they were measured with", async () => {
    const { scope } = await read(ranges, { labels: {}, measuredLabels: labels, pass: step });
    expect(scope.regions).toMatchObject([{ path: ["step 7"] }, { path: ["step 8"] }]);
  });
});
