import { describe, expect, it } from "vitest";
import { createResultReader } from "../../../src/profile/ncu/read-results.ts";
import type { NcuConfig } from "../../../src/profile/ncu/run/ncu-config.ts";
import { toReportBundle } from "../../../src/profile/regions/index.ts";
import { createReportValidator } from "../../../src/report/validate.ts";
import { context } from "../../report/bundles.ts";
import { cliConfig } from "./run/cli-config.ts";

const configOf = (nvtx: NcuConfig["ncu_cli"]["nvtx"]): NcuConfig => ({
  ...{ enable: true, gating_nvtx: true, native_nvtx: true, fallback: true, require_match: true },
  timeout_min: null,
  ncu_cli: { ...cliConfig, nvtx },
});

/** The report of a run in which ncu measured nothing. */
function reportOf(config: NcuConfig) {
  const options = { aggregate: true, operationDomains: [], recorded: null, top: null };
  const { measured } = createResultReader({ config, ...options }).finish();
  if (measured.kind !== "regions") throw new Error("a timeline");
  return toReportBundle(measured.model, context);
}

describe("a report of ncu", () => {
  const labels = { include_patterns: ["forward"], exclude_patterns: ["stem"] };

  it.each([
    [
      { include: "forward", exclude: "stem" },
      { applies_to: "measurement", ...labels },
    ],
    [
      { include: ["forward", "A/"], exclude: ["stem", "regex:^B/"] },
      {
        ...{ applies_to: "measurement", ...labels },
        ...{ ncu_include_expressions: ["A/"], ncu_exclude_expressions: ["regex:^B/"] },
      },
    ],
  ])("tells what was filtered by %j, also where that took no region", async (nvtx, selection) => {
    const bundle = reportOf(configOf(nvtx));
    expect(bundle.reports).toMatchObject([{ regions: [], selection }]);
    expect((await createReportValidator()).validate(bundle)).toEqual([]);
  });

  it("tells of patterns that they choose what is shown where ncu filters nothing", () => {
    const config = configOf({ include: "forward", exclude: "stem" });
    expect(reportOf({ ...config, native_nvtx: false }).reports[0]?.selection).toEqual({
      ...{ applies_to: "report", ...labels },
    });
  });
});
