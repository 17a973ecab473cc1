import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { packageInfo } from "../../../src/engine/values/package-info.ts";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import {
  COMPARISON_CONTRACT,
  COMPARISON_CONTRACTS,
  type Comparison,
  comparisonJsonPieces,
} from "../../../src/report/compare/comparison.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import { QUERY_CONTRACT, QUERY_CONTRACTS } from "../../../src/report/model/contract.ts";
import { jobReport } from "../../../src/report/sweep/build-sweep-report.ts";
import { SWEEP_CONTRACT, SWEEP_CONTRACTS } from "../../../src/report/sweep/sweep-document.ts";
import { sweepJsonPieces } from "../../../src/report/sweep/writers.ts";
import { createDocumentValidator } from "../../../src/report/validation/document-contracts.ts";
import { twoLibraries } from "../../profiler/analysis/timelines.ts";
import { bundleOf, firstReport, hostileNames, resnet } from "../bundles.ts";
import { joined } from "../joined.ts";
import { grid, jobOf, sweepOf } from "../sweep/sweeps.ts";

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
  it.each([
    ["sweep-report", SWEEP_CONTRACTS, SWEEP_CONTRACT],
    ["comparison", COMPARISON_CONTRACTS, COMPARISON_CONTRACT],
    ["query", QUERY_CONTRACTS, QUERY_CONTRACT],
  ] as const)("%s names the versions that are read", (name, contracts, contract) => {
    expect(schemaOf(name).properties?.["contract"]?.enum).toEqual(contracts);
    expect(contracts.at(-1)).toBe(contract);
  });

  it.each(["sweep-report", "comparison"])(
    "%s describes all that it allows, and nothing else",
    (name) => {
      const { $defs = {}, ...whole } = schemaOf(name);
      for (const [key, schema] of Object.entries({ ...$defs, [name]: whole })) {
        expect(schema.description, key).toBeTruthy();
        if (schema.properties !== undefined)
          expect(schema, key).toMatchObject({ additionalProperties: false });
        for (const [member, property] of Object.entries(schema.properties ?? {})) {
          const target = $defs[property.$ref?.split("/").at(-1) ?? ""];
          expect(property.description ?? target?.description, `${key}.${member}`).toBeTruthy();
        }
      }
    },
  );

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

  it("take documents of the versions before, and no others", () => {
    const text = joined(comparisonJsonPieces(compared));
    const { main_time: _, ...before } = JSON.parse(text);
    expect(validator.validate({ ...before, contract: "hydraconf.comparison/1.6" })).toEqual([]);
    for (const version of ["1.5", "1.9", "2.0"])
      expect(
        validator.validate({ ...before, contract: `hydraconf.comparison/${version}` }),
      ).toEqual([
        {
          pointer: "/contract",
          message: `"hydraconf.comparison/${version}" is not supported by hydraconf ${packageInfo().version}`,
          expected:
            "one of hydraconf.comparison/1.6, hydraconf.comparison/1.7, hydraconf.comparison/1.8",
        },
      ]);
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
