import type { ErrorObject } from "ajv";
import { expectation } from "../../schema/expectations.ts";
import { andOthers } from "../../text/plural.ts";
import { packageInfo } from "../../values/package-info.ts";
import { CONTRACTS, type RegionReportBundle } from "../model/document.ts";
import { pointerTo, type ReportIssue, ruleIssues } from "./rules.ts";

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

/** Errors of ajv as issues, one for each place that is wrong. */
export function issuesOf(errors: readonly ErrorObject[]): readonly ReportIssue[] {
  // `anyOf` fails together with its branches. The branch that is not `null` says what is wrong.
  const telling = errors.filter(
    (error) =>
      !(error.keyword === "anyOf" && hasTellingAt(errors, error)) &&
      !(isNullBranch(error) && hasTellingAt(errors, error)),
  );
  const unique = new Map<string, ReportIssue>();
  for (const error of telling) {
    const issue = issueOf(error);
    unique.set(JSON.stringify([issue.pointer, issue.message, issue.expected]), issue);
  }
  return [...unique.values()];
}

const isNullBranch = ({ keyword, params }: ErrorObject): boolean =>
  keyword === "type" && params["type"] === "null";

/** Whether an error with a useful message is about the same place or one below it. */
const hasTellingAt = (errors: readonly ErrorObject[], error: ErrorObject): boolean =>
  errors.some(
    (other) =>
      other.keyword !== "anyOf" &&
      !isNullBranch(other) &&
      (other.instancePath === error.instancePath ||
        other.instancePath.startsWith(`${error.instancePath}/`)),
  );

function issueOf(error: ErrorObject): ReportIssue {
  const { keyword, params, instancePath } = error;
  if (keyword === "required")
    return {
      pointer: instancePath,
      message: `property ${JSON.stringify(params["missingProperty"])} is missing`,
      expected: "the property to be present",
    };
  if (keyword === "additionalProperties")
    return {
      pointer: pointerTo(instancePath, String(params["additionalProperty"])),
      message: "this property is unknown",
      expected: `one of ${Object.keys(error.parentSchema?.["properties"] ?? {}).join(", ")}`,
    };
  return {
    pointer: instancePath,
    message: `${show(error.data)} does not fit`,
    expected: expectation(error),
  };
}

/** A value in a message, short enough for one line. */
function show(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
