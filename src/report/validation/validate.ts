import { andOthers } from "../../text/plural.ts";
import { packageInfo } from "../../values/package-info.ts";
import { CONTRACTS, type RegionReportBundle } from "../model/document.ts";
import { type ReportIssue, ruleIssues } from "./rules.ts";
import { issuesOf, show } from "./schema-issues.ts";

/** Checks documents against the contract and the rules that a schema cannot express. */
export interface ReportValidator {
  /**
   * Everything in a parsed document that breaks the contract: the schema's errors or, if there are
   * none, those of the rules beyond it. Empty for a valid `RegionReportBundle`.
   */
  validate(document: unknown): readonly ReportIssue[];
}

/** Creates a validator. This loads ajv and the contract, so reuse it for several documents. */
export async function createReportValidator(): Promise<ReportValidator> {
  const { compileContract } = await import("./compile-contract.ts");
  const check = compileContract();
  return {
    validate(document) {
      const other = contractIssue(document, CONTRACTS);
      if (other !== null) return [other];
      return check(document) ? ruleIssues(document) : issuesOf(check.errors ?? []);
    },
  };
}

/** The issue of an unknown contract version, the only one that such a document gets: its fields may mean anything. */
export function contractIssue(document: unknown, known: readonly string[]): ReportIssue | null {
  if (typeof document !== "object" || document === null || !("contract" in document)) return null;
  const { contract } = document;
  if (typeof contract !== "string" || known.includes(contract)) return null;
  return {
    pointer: "/contract",
    message: `${show(contract)} is not supported by hydraconf ${packageInfo().version}`,
    expected: `one of ${known.join(", ")}`,
  };
}

/** @throws Error with the first issue: writing an invalid report is a defect of ours. */
export function assertValid(validator: ReportValidator, bundle: RegionReportBundle): void {
  const [first, ...others] = validator.validate(bundle);
  if (first === undefined) return;
  throw new Error(
    `this would be an invalid region report: ${first.pointer || "/"}: ${first.message}, expected ${first.expected}${andOthers(others.length)}`,
  );
}
