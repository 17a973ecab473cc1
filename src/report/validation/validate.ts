/** Validates region reports: the contract, then its rules. */
import { readFileSync } from "node:fs";
import { type ShippedSchema, shippedValidator } from "../../engine/schema/ajv.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { readYaml } from "../../engine/values/yaml/reader.ts";
import { andOthers } from "../../foundation/text/plural.ts";
import { type ContractDocument, contractFile } from "../model/contract.ts";
import { CONTRACTS, type RegionReportBundle } from "../model/document.ts";
import { type ReportIssue, ruleIssues } from "./rules.ts";
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

const CONTRACT_ID = "urn:hydraconf:region-report";

/** Reads the contract that ships with the package. */
export const readContract = (): ContractDocument => contractOf(contractText());

const contractText = (): string => readFileSync(contractFile(), "utf8");

const contractOf = (text: string): ContractDocument =>
  toObject(
    readYaml(text, { name: contractFile(), env: process.env }),
  ) as unknown as ContractDocument;

/** The contract's schema of a bundle. */
export function contractSchema(): ShippedSchema<RegionReportBundle> {
  const text = contractText();
  return {
    text,
    compile(ajv) {
      // The place of schemas in OpenAPI, which is no keyword of JSON Schema.
      ajv.addKeyword("components");
      ajv.addSchema({ $id: CONTRACT_ID, components: contractOf(text).components });
      return ajv.compile({ $ref: `${CONTRACT_ID}#/components/schemas/RegionReportBundle` });
    },
  };
}
