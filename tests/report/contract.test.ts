import { readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { buildRegionModel } from "../../src/profiler/analysis/build.ts";
import { combineRuns } from "../../src/profiler/analysis/repeats.ts";
import { toReportBundle } from "../../src/profiler/analysis/to-report.ts";
import {
  CONTRACTS,
  contractFile,
  createReportValidator,
  type KernelRecord,
} from "../../src/report/index.ts";
import { readContract } from "../../src/report/validation/contract-schema.ts";
import { timelineOf, twoLibraries } from "../profiler/analysis/timelines.ts";
import { assembleNcu } from "../profiler/tools/ncu/assemble/assemble-all.ts";
import { resultOf } from "../profiler/tools/ncu/results.ts";
import { bundleOf, context, resnet } from "./bundles.ts";

const kernelsOfNcu = (): readonly KernelRecord[] => {
  const metrics = { "sm__throughput.avg.pct_of_peak_sustained_elapsed": [5, "%"] } as const;
  const measured = { results: [resultOf({ ns: 1, metrics })], sections: new Map(), notes: [] };
  return assembleNcu(measured).scopes[0]?.regions[0]?.kernels ?? [];
};

describe("the region report contract", async () => {
  const contract = readContract();
  const { schemas } = contract.components;

  it("is a valid OpenAPI 3.1 document", async () => {
    const validator = new Validator();
    const result = await validator.validate(parse(readFileSync(contractFile(), "utf8")));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe("3.1");
  });

  it("describes every object and every property, and has no others", () => {
    for (const [name, schema] of Object.entries(schemas)) {
      expect(schema.description, name).toBeTruthy();
      if (schema.type === "object")
        expect(schema, name).toMatchObject({ additionalProperties: false });
      for (const [key, property] of Object.entries(schema.properties ?? {})) {
        const target = schemas[property.$ref?.split("/").at(-1) ?? ""];
        expect(property.description ?? target?.description, `${name}.${key}`).toBeTruthy();
      }
    }
  });

  it("names the version that the types name", () => {
    expect(schemas["RegionReportBundle"]?.properties?.["contract"]).toMatchObject({
      enum: CONTRACTS,
    });
  });

  it("accepts its own example and what the builder makes", async () => {
    const validator = createReportValidator();
    const examples = schemas["RegionReportBundle"] as { examples?: unknown[] };
    expect(examples.examples).toHaveLength(1);
    expect(validator.validate(examples.examples?.[0])).toEqual([]);
    expect(validator.validate(bundleOf([resnet]))).toEqual([]);
  });

  it("has its objects' keys in the order in which they are written", () => {
    const run = {
      ...twoLibraries,
      ranges: (twoLibraries.ranges ?? []).map((range) => ({ ...range, cpu: 1, instructions: 1 })),
    };
    const repeated = combineRuns([run, run].map((one) => buildRegionModel(timelineOf([one]))));
    const written = toReportBundle(repeated.model, {
      ...context,
      failure: "sh ended with exit code 1",
    });
    const [first] = written.reports;
    const load = first?.regions[1];
    const order = (name: string) => Object.keys(schemas[name]?.properties ?? {});
    // Only of parallel programs, of labels with numbers, of runs with other regions, and in files that are large.
    const ofOne = (name: string) =>
      order(name).filter(
        (key) =>
          !["ranks", "unshown_regions", "kernels_of", "kernel_names", "families"].includes(key),
      );
    expect(Object.keys(written)).toEqual(ofOne("RegionReportBundle"));
    expect(Object.keys(first ?? {})).toEqual(ofOne("NCUProfileRegionReport"));
    expect(Object.keys(first?.totals ?? {})).toEqual(order("ReportTotals"));
    const [kernel] = kernelsOfNcu();
    expect(Object.keys(kernel ?? {})).toEqual(order("KernelRecord"));
    expect(Object.keys(kernel?.hardware ?? {})).toEqual(order("KernelHardware"));
    // Only of regions that are not closed.
    const closed = ofOne("NCUProfileRegion").filter(
      // Nor do the program's ranges carry numbers of their own, or have any in their labels, was there a GPU, or were its threads sampled, or several.
      (key) =>
        ![
          ...["unclosed", "categories", "payloads", "counters", "thread_samples", "host_calls"],
          ...["family", "members", "copy_streams", "threads"],
        ].includes(key),
    );
    expect(Object.keys(load ?? {})).toEqual(closed);
    const unmeasured = order("KernelRecord").filter((key) => key !== "hardware");
    expect(Object.keys(load?.kernels[0] ?? {})).toEqual(unmeasured);
  });
});
