import { expect, it } from "vitest";
import { createRegionBundler } from "../../src/report/index.ts";
import { bundleOf, firstReport, regionNamed } from "./bundles.ts";

// More than a call may have arguments.
it("a region that holds very many has a bundle of its own", () => {
  const bundle = bundleOf([
    {
      endNs: 140_002,
      ranges: [
        { name: "all", start: 0, end: 140_002 },
        ...Array.from({ length: 140_000 }, (_, i) => ({
          name: `step ${i}`,
          start: i + 1,
          end: i + 2,
        })),
      ],
      kernels: [{ name: "k", launch: 5, ns: 10 }],
    },
  ]);
  const { totals } = firstReport(createRegionBundler(bundle)(regionNamed(bundle, "all")));
  expect(totals).toMatchObject({ region_count: 140_001, kernel_count: 1, total_ms: 1e-5 });
});
