/** Two real runs compared, in every form: the network with two and with four images at a time. */
import { beforeAll, describe, it } from "vitest";
import { compareReports } from "../../../src/report/compare/compare-reports.ts";
import { type Comparison, comparisonJsonPieces } from "../../../src/report/compare/comparison.ts";
import { renderComparisonHtml } from "../../../src/report/compare/comparison-html.ts";
import { comparisonMarkdownPieces } from "../../../src/report/compare/comparison-markdown.ts";
import { renderComparison } from "../../../src/report/compare/comparison-terminal.ts";
import { checkGates, parseGates } from "../../../src/report/compare/gates.ts";
import type { NCUProfileRegionReport } from "../../../src/report/model/document.ts";
import { joined } from "../joined.ts";
import { importReal } from "./imported.ts";
import { expectSnapshot, RECORDINGS } from "./neutral.ts";

let comparison: Comparison;

async function reportOf(recording: string): Promise<NCUProfileRegionReport> {
  const { text } = await importReal(recording, RECORDINGS, [recording]);
  return JSON.parse(text("recorder/regions/report.json")).reports[0];
}

beforeAll(async () => {
  const reports = compareReports(
    await reportOf("resnet-batch-2"),
    await reportOf("resnet-batch-4"),
  );
  comparison = {
    names: { a: "runs/batch-2", b: "runs/batch-4" },
    reports,
    config: [{ key: "infer.batch_size", a: "2", b: "4" }],
    gates: checkGates(
      parseGates(
        "total_ms>5%,region:block.conv1.total_ms>5%,region:stem.kernel_count>0,kernel:linear*.total_ms>0.1",
      ),
      reports,
    ),
  };
});

describe("two real runs compared", () => {
  it.each([120, 80, 40])("on a terminal of %i columns", async (width) => {
    const text = renderComparison(comparison, { width, color: false, regions: 60, kernels: 10 });
    await expectSnapshot(`compare/terminal-${width}.txt`, text);
  });

  it("as Markdown", () =>
    expectSnapshot("compare/comparison.md", joined(comparisonMarkdownPieces(comparison))));

  it("as JSON", () =>
    expectSnapshot("compare/comparison.json", joined(comparisonJsonPieces(comparison))));

  it("as a page", () =>
    expectSnapshot("compare/comparison.html", renderComparisonHtml(comparison)));
});
