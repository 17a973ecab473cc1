/** Validates region reports: the contract, then its rules. */
import { shippedValidator } from "../../engine/schema/ajv.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { andOthers } from "../../foundation/text/plural.ts";
import { CONTRACTS, type RegionReportBundle } from "../model/document.ts";
import { contractSchema } from "./contract-schema.ts";
import { type ReportIssue, ruleIssues } from "./report-rules.ts";
import { issuesOf, show } from "./schema-issues.ts";

/** Checks documents against the contract and the rules that a schema cannot express. */
export interface ReportValidator {
  /**
   * All violations of the contract in a parsed document: those of the schema or, if there are none, those of the rules.
   * Empty for a valid `RegionReportBundle`.
   */
  validate(document: unknown): readonly ReportIssue[];
}

/** Creates a validator, which loads ajv and the contract; reuse it for several documents. */
export function createReportValidator(): ReportValidator {
  const check = shippedValidator(contractSchema());
  return {
    validate(document) {
      const other = contractIssue(document, CONTRACTS);
      if (other !== null) return [other];
      return check(document) ? ruleIssues(document) : issuesOf(check.errors ?? []);
    },
  };
}

/**
 * The issue of an unknown contract version, which is the only one reported, since the meaning of the members is
 * unknown.
 */
export function contractIssue(document: unknown, contracts: readonly string[]): ReportIssue | null {
  if (typeof document !== "object" || document === null || !("contract" in document)) return null;
  const { contract } = document;
  if (typeof contract !== "string" || contracts.includes(contract)) return null;
  return {
    pointer: "/contract",
    message: `${show(contract)} is not supported by hydraconf ${packageInfo().version}`,
    expected: `one of ${contracts.join(", ")}`,
  };
}

/** @throws Error with the first issue: writing an invalid report is a bug. */
export function assertValid(validator: ReportValidator, bundle: RegionReportBundle): void {
  const [first, ...others] = validator.validate(bundle);
  if (first === undefined) return;
  throw new Error(
    `this would be an invalid region report: ${first.pointer || "/"}: ${first.message}, expected ${first.expected}${andOthers(others.length)}`,
  );
}
