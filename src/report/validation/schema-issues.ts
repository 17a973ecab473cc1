/** Errors of ajv as issues of a document. */
import type { ErrorObject } from "ajv";
import { expectation } from "../../engine/schema/expectations.ts";
import { pointerTo, type ReportIssue } from "./report-rules.ts";

/** Converts errors of ajv to issues, one for each invalid place. */
export function issuesOf(errors: readonly ErrorObject[]): readonly ReportIssue[] {
  // `anyOf` fails together with its branches; the error of the branch that is not `null` is informative.
  const informative = errors.filter(
    (error) =>
      !(error.keyword === "anyOf" && hasInformativeAt(errors, error)) &&
      !(isNullBranch(error) && hasInformativeAt(errors, error)),
  );
  const unique = new Map<string, ReportIssue>();
  for (const error of informative) {
    const issue = issueOf(error);
    unique.set(JSON.stringify([issue.pointer, issue.message, issue.expected]), issue);
  }
  return [...unique.values()];
}

const isNullBranch = ({ keyword, params }: ErrorObject): boolean =>
  keyword === "type" && params["type"] === "null";

/** Whether an informative error has the same place, or one below it. */
const hasInformativeAt = (errors: readonly ErrorObject[], error: ErrorObject): boolean =>
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
export function show(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}
