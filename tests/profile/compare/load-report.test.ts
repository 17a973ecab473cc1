import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadReport } from "../../../src/profile/compare/load-report.ts";
import { createReportValidator } from "../../../src/report/validate.ts";
import { isConfigError } from "../../../src/values/errors.ts";
import { bundleOf, resnet } from "../../report/bundles.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-load-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const validator = await createReportValidator();

const load = (contract: unknown) => {
  writeFileSync(
    join(directory, "report.json"),
    JSON.stringify({ ...bundleOf([resnet]), contract }),
  );
  return loadReport("report.json", directory, validator, "recorder");
};

function refusal(contract: unknown): string {
  try {
    load(contract);
  } catch (error) {
    if (isConfigError(error)) return error.message;
    throw error;
  }
  return "";
}

describe("a report to compare", () => {
  it.each(["1.0", "1.1"])("is read in version %s of the contract", (version) => {
    const { bundle } = load(`hydraconf.region-report/${version}`);
    expect(bundle.reports.length).toBeGreaterThan(0);
  });

  it.each(["hydraconf.region-report/2.0", "hydraconf.region-report/1.9", "other/1.0"])(
    "is refused with contract %s, with the versions that are read",
    (contract) => {
      const message = refusal(contract);
      expect(message).toContain(`"${contract}" is not known to hydraconf`);
      expect(message).toContain("hydraconf.region-report/1.0, hydraconf.region-report/1.1");
    },
  );

  it("is refused without a contract", () => {
    expect(refusal(undefined)).toContain('"contract" is missing');
    expect(refusal(7)).toContain("/contract");
  });
});
