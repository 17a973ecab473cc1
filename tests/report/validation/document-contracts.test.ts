import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Change } from "../../../src/report/compare/change.ts";
import {
  compareReports,
  type ReportComparison,
  type ReportFacts,
} from "../../../src/report/compare/compare-reports.ts";
import {
  COMPARISON_CONTRACT,
  COMPARISON_CONTRACTS,
  type Comparison,
  type ConfigDifference,
  comparisonJsonPieces,
} from "../../../src/report/compare/comparison.ts";
import type { Difference } from "../../../src/report/compare/comparison-notes.ts";
import {
  checkGates,
  type Gate,
  type GateResult,
  parseGates,
} from "../../../src/report/compare/gates.ts";
import type {
  KernelChange,
  KernelLimits,
  KernelPair,
} from "../../../src/report/compare/kernel-changes.ts";
import type { RegionChange } from "../../../src/report/compare/region-change.ts";
import { jobReport } from "../../../src/report/sweep/build.ts";
import {
  SWEEP_CONTRACT,
  SWEEP_CONTRACTS,
  type SweepCalls,
  type SweepJob,
  type SweepParameter,
  type SweepRegion,
  type SweepReport,
  type SweepWork,
} from "../../../src/report/sweep/document.ts";
import { sweepJsonPieces } from "../../../src/report/sweep/writers.ts";
import { createDocumentValidator } from "../../../src/report/validation/document-contracts.ts";
import { twoLibraries } from "../../profiler/analysis/timelines.ts";
import { bundleOf, firstReport, hostileNames, resnet } from "../bundles.ts";
import { joined } from "../joined.ts";
import { grid, jobOf, sweepOf } from "../sweep/sweeps.ts";

/** The keys of each type; the compiler refuses a missing or an extra one. */
type Keys<T> = Readonly<Record<keyof T, true>>;

interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema & { readonly enum?: readonly string[] }>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

const schemaOf = (name: string): Schema =>
  JSON.parse(
    readFileSync(new URL(`../../../schemas/${name}.schema.json`, import.meta.url), "utf8"),
  );

const sweep: Keys<SweepReport> = {
  contract: true,
  generated_at: true,
  collector: true,
  basis: true,
  parameters: true,
  jobs: true,
  work: true,
  best: true,
  regions: true,
  notes: true,
};
const parameter: Keys<SweepParameter> = { key: true, numeric: true };
const job: Keys<SweepJob> = {
  name: true,
  values: true,
  total_ms: true,
  cpu_ms: true,
  page: true,
  per_second: true,
  problem: true,
};
const work: Keys<SweepWork> = { unit: true, factors: true };
const sweptRegion: Keys<SweepRegion> = {
  path: true,
  domain: true,
  path_domains: true,
  kind: true,
  times_ms: true,
  cpu_times_ms: true,
  calls_ms: true,
};
const sweepCalls: Keys<SweepCalls> = {
  calls: true,
  min: true,
  median: true,
  p95: true,
  max: true,
};

const comparison: Keys<
  Omit<ReportComparison, "members"> & Omit<Comparison, "reports" | "links"> & { contract: string }
> = {
  contract: true,
  names: true,
  a: true,
  b: true,
  main_time: true,
  totals: true,
  regions: true,
  families: true,
  kernels: true,
  kernel_pairs: true,
  differences: true,
  notes: true,
  config: true,
  gates: true,
};
const facts: Keys<ReportFacts> = {
  scope: true,
  collector: true,
  device: true,
  fingerprint: true,
  generatedAt: true,
  failure: true,
};
const change: Keys<Change> = {
  a: true,
  b: true,
  delta: true,
  relative: true,
  uncertainty: true,
  verdict: true,
  freedom: true,
  too_few_runs: true,
  log_ratios: true,
  relative_low: true,
  relative_high: true,
  smallest_effect: true,
};
const regionChange: Keys<RegionChange> = {
  path: true,
  domain: true,
  path_domains: true,
  family: true,
  members: true,
  kind: true,
  presence: true,
  changes: true,
  kernels: true,
};
const kernelChange: Keys<KernelChange> = {
  kernel_name: true,
  kind: true,
  presence: true,
  changes: true,
  limits: true,
};
const kernelLimits: Keys<KernelLimits> = { limited_by: true, occupancy_limited_by: true };
const kernelPair: Keys<KernelPair> = { name: true, kind: true, a: true, b: true, changes: true };
const environmentDifference: Keys<Difference> = { what: true, a: true, b: true };
const difference: Keys<ConfigDifference> = { key: true, a: true, b: true };
const gateResult: Keys<GateResult> = {
  gate: true,
  outcome: true,
  reason: true,
  tested: true,
  too_few_runs: true,
  decided: true,
};
const gate: Keys<Gate> = {
  text: true,
  subject: true,
  name: true,
  operator: true,
  limit: true,
  percent: true,
};

/** Added by a minor version: documents of the versions before do not have them. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  "sweep-report": ["work"],
  SweepJob: ["cpu_ms", "page", "per_second"],
  SweepRegion: ["path_domains", "cpu_times_ms", "calls_ms"],
  ReportFacts: ["failure"],
  RegionChange: ["path_domains", "family", "members"],
  KernelChange: ["limits"],
  comparison: ["main_time", "families", "kernel_pairs", "differences"],
  Change: [
    "freedom",
    "too_few_runs",
    "log_ratios",
    "relative_low",
    "relative_high",
    "smallest_effect",
  ],
  GateResult: ["tested", "too_few_runs", "decided"],
};

const TYPES = [
  ["sweep-report", null, sweep],
  ["sweep-report", "SweepParameter", parameter],
  ["sweep-report", "SweepJob", job],
  ["sweep-report", "SweepWork", work],
  ["sweep-report", "SweepRegion", sweptRegion],
  ["sweep-report", "SweepCalls", sweepCalls],
  ["comparison", null, comparison],
  ["comparison", "ReportFacts", facts],
  ["comparison", "Change", change],
  ["comparison", "RegionChange", regionChange],
  ["comparison", "KernelChange", kernelChange],
  ["comparison", "KernelLimits", kernelLimits],
  ["comparison", "KernelPair", kernelPair],
  ["comparison", "Difference", environmentDifference],
  ["comparison", "ConfigDifference", difference],
  ["comparison", "GateResult", gateResult],
  ["comparison", "Gate", gate],
] as const;

const validator = createDocumentValidator();
const issuesIn = (text: string) => validator.validate(JSON.parse(text));

const report = (ops: readonly string[] = []) =>
  firstReport(bundleOf([resnet], { operationDomains: ops }));
const reports = compareReports(report(), report(["shallow_resnet.ops"]));
const compared: Comparison = {
  names: { a: "before", b: "after" },
  reports,
  config: [{ key: "infer.batch_size", a: "4", b: null }],
  gates: checkGates(parseGates("wall_ms>5%,region:stem.invocations>0"), reports),
};

describe("the contracts of sweeps and comparisons", () => {
  it.each(TYPES)("%s: %s has the keys of its type, all described", (name, definition, keys) => {
    const whole = schemaOf(name);
    const schema = definition === null ? whole : whole.$defs?.[definition];
    expect(schema).toMatchObject({ additionalProperties: false, description: expect.any(String) });
    expect(Object.keys(schema?.properties ?? {})).toEqual(Object.keys(keys));
    const first = Object.keys(keys).filter(
      (key) => !(ADDED[definition ?? name] ?? []).includes(key),
    );
    expect(schema?.required).toEqual(first);
    for (const [key, property] of Object.entries(schema?.properties ?? {})) {
      const target = whole.$defs?.[property.$ref?.split("/").at(-1) ?? ""];
      expect(property.description ?? target?.description, key).toBeTruthy();
    }
  });

  it("have no definition that is no type, and name the versions that are written", () => {
    for (const [name, contracts, contract] of [
      ["sweep-report", SWEEP_CONTRACTS, SWEEP_CONTRACT],
      ["comparison", COMPARISON_CONTRACTS, COMPARISON_CONTRACT],
    ] as const) {
      const { $defs = {}, properties } = schemaOf(name);
      const known: readonly (string | null)[] = TYPES.flatMap(([file, definition]) =>
        file === name ? [definition] : [],
      );
      expect(Object.keys($defs).filter((key) => key !== "Changes" && !known.includes(key))).toEqual(
        [],
      );
      expect(properties?.["contract"]?.enum).toEqual(contracts);
      expect(contracts.at(-1)).toBe(contract);
    }
  });

  it("accept what is written, whatever the names", () => {
    expect(issuesIn(joined(sweepJsonPieces(grid)))).toEqual([]);
    expect(issuesIn(joined(comparisonJsonPieces(compared)))).toEqual([]);
    expect(
      issuesIn(joined(comparisonJsonPieces({ ...compared, config: null, gates: [] }))),
    ).toEqual([]);
    const hostile = hostileNames.map((name, at) =>
      jobOf(`${at}`, [`k=${name}`, `n=${at}`], at === 3 ? null : at, name),
    );
    expect(issuesIn(joined(sweepJsonPieces(sweepOf(hostile))))).toEqual([]);
    expect(issuesIn(joined(sweepJsonPieces(sweepOf([jobOf("0", [], null)]))))).toEqual([]);
    const mixed = firstReport(bundleOf([twoLibraries]));
    expect(
      issuesIn(
        joined(comparisonJsonPieces({ ...compared, reports: compareReports(mixed, mixed) })),
      ),
    ).toEqual([]);
    const selected = firstReport(
      bundleOf([twoLibraries], {
        selection: { include: [], exclude: [mixed.regions.at(-1)?.name ?? ""] },
      }),
    );
    const leftOut = compareReports(mixed, selected);
    const gates = checkGates(parseGates("region:*.wall_ms>5%"), leftOut);
    expect(gates.map(({ outcome }) => outcome)).toContain("unchecked");
    expect(
      issuesIn(joined(comparisonJsonPieces({ ...compared, reports: leftOut, gates }))),
    ).toEqual([]);
    const job = { name: "0", overrides: [], result: { report: jobReport(mixed) } };
    expect(issuesIn(joined(sweepJsonPieces(sweepOf([job]))))).toEqual([]);
  });

  it("take documents of the versions before", () => {
    const written = [
      [joined(sweepJsonPieces(grid)), SWEEP_CONTRACT, SWEEP_CONTRACTS],
      [joined(comparisonJsonPieces(compared)), COMPARISON_CONTRACT, COMPARISON_CONTRACTS],
    ] as const;
    for (const [text, contract, contracts] of written) {
      const older = contracts.filter((one) => one !== contract);
      for (const version of older) expect(issuesIn(text.replace(contract, version))).toEqual([]);
    }
  });

  it("refuse what does not fit, at its place", () => {
    const broken = (changes: object) => validator.validate({ ...grid, ...changes });
    expect(broken({ basis: "seconds" })).toMatchObject([{ pointer: "/basis" }]);
    expect(broken({ best: "99" })).toMatchObject([
      { pointer: "/best", message: '"99" is not a job of the sweep' },
    ]);
    expect(broken({ jobs: grid.jobs.slice(1), best: null })).toMatchObject([
      { pointer: "/regions/0/times_ms", expected: "one time per job: 5" },
      { pointer: "/regions/1/times_ms" },
    ]);
    expect(broken({ parameters: [] })[0]).toMatchObject({ pointer: "/jobs/0/values" });
    expect(broken({ contract: "hydraconf.sweep-report/9.0" })).toMatchObject([
      { pointer: "/contract", expected: `one of ${SWEEP_CONTRACTS.join(", ")}` },
    ]);
    const document = JSON.parse(joined(comparisonJsonPieces(compared)));
    document.gates[0].outcome = "maybe";
    delete document.totals.wall_ms.verdict;
    expect(validator.validate(document)).toMatchObject([
      { pointer: "/totals/wall_ms", message: 'property "verdict" is missing' },
      { pointer: "/gates/0/outcome" },
    ]);
  });

  it("leave region reports, and what names no contract, to theirs", () => {
    expect(validator.validate(bundleOf([resnet]))).toEqual([]);
    expect(validator.validate({ reports: [] })[0]?.message).toContain("contract");
    expect(validator.validate(null)).toHaveLength(1);
  });
});
