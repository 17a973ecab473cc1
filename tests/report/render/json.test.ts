import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { KernelRecord } from "../../../src/report/model/document.ts";
import { jsonPieces, renderBundleJson } from "../../../src/report/render/json.ts";
import { bundleOf, firstReport, resnet } from "../bundles.ts";

const whole = (value: object): string => [...jsonPieces(value)].join("");

describe("JSON in pieces", () => {
  it("says what JSON.stringify says, whatever the value", () => {
    const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 9, depthSize: "large" },
        fc.oneof(
          fc.string({ unit: "binary", maxLength: 3 }),
          fc.double(),
          fc.boolean(),
          fc.constant(null),
          fc.constant(undefined),
          fc.constant("\n"),
        ),
        fc.array(tie("tree"), { maxLength: 4 }),
        fc.dictionary(fc.string({ unit: "binary", maxLength: 3 }), tie("tree"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(fc.array(tree), fc.dictionary(fc.string(), tree)), (value) => {
        expect(JSON.parse(whole(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("is the same where a list of kernels takes several pieces", () => {
    const { families: _, ...report } = firstReport(bundleOf([resnet]));
    const [region] = report.regions;
    if (region === undefined) throw new Error("there is a region");
    for (const count of [499, 500, 501, 1500]) {
      const kernels = Array.from(
        { length: count },
        (_, i): KernelRecord => ({
          kernel_name: `kernel ${i}\n"`,
          kind: "gpu_kernel",
          total_ms: i / 7,
          calls: 1,
          mean_ms: i / 7,
          device: "cuda:0",
        }),
      );
      const bundle = {
        ...bundleOf([resnet]),
        reports: [{ ...report, regions: [{ ...region, kernels }] }],
      };
      const text = renderBundleJson(bundle);
      expect(JSON.parse(text)).toEqual(bundle);
      const lines = text.split("\n").filter((line) => line.includes('"kernel_name"'));
      expect(lines).toEqual(
        kernels.map((kernel, at) => {
          const comma = at === count - 1 ? "" : ",";
          return `            ${JSON.stringify(kernel)}${comma}`;
        }),
      );
      expect(Math.max(...[...jsonPieces(bundle)].map(({ length }) => length))).toBeLessThan(
        200_000,
      );
    }
  });
});
