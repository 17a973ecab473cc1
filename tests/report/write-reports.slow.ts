import { expect, it } from "vitest";
import { createRegionBundler } from "../../src/report/index.ts";
import { bundleOf, firstReport, regionNamed } from "./bundles.ts";

// More than a call may have arguments. Reports of ours have fewer; those of others may have as many.
it("a region that holds very many has a bundle of its own", () => {
  const small = bundleOf([
    {
      endNs: 140_002,
      ranges: [
        { name: "all", start: 0, end: 140_002 },
        { name: "step", start: 1, end: 2 },
      ],
      kernels: [{ name: "k", launch: 5, ns: 10 }],
    },
  ]);
  const [all, step] = [regionNamed(small, "all"), regionNamed(small, "step")];
  const steps = Array.from({ length: 140_000 }, (_, at) => ({
    ...step,
    name: `step ${at}`,
    path: ["all", `step ${at}`],
  }));
  const bundle = { ...small, reports: [{ ...firstReport(small), regions: [all, ...steps] }] };
  const { totals } = firstReport(createRegionBundler(bundle)(all));
  expect(totals).toMatchObject({ region_count: 140_001, kernel_count: 1, total_ms: 1e-5 });
});
