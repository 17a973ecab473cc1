/** Every kind of report that is written as JSON, told by its contract: region, sweep, comparison. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageInfo } from "../values/own-package.ts";
import { COMPARISON_CONTRACTS } from "./compare/json.ts";
import type { ReportIssue } from "./issue.ts";
import { SWEEP_CONTRACTS } from "./sweep/document.ts";
import { sweepIssues } from "./sweep/rules.ts";
import {
  contractIssue,
  createReportValidator,
  issuesOf,
  type ReportValidator,
} from "./validate.ts";

interface DocumentContract {
  /** Those that are read. */
  readonly versions: readonly string[];
  /** In `schemas/`. */
  readonly file: string;
  /** What the schema cannot say; called for documents that fit it. */
  readonly rules: (document: unknown) => readonly ReportIssue[];
}

const OTHERS: readonly DocumentContract[] = [
  { versions: SWEEP_CONTRACTS, file: "sweep-report.schema.json", rules: sweepIssues },
  { versions: COMPARISON_CONTRACTS, file: "comparison.schema.json", rules: () => [] },
];

/**
 * A validator of whatever kind a document says it is; one that says nothing is held against the
 * contract of region reports. Schemas are compiled when the first document of a kind comes.
 */
export async function createDocumentValidator(): Promise<ReportValidator> {
  const regions = await createReportValidator();
  const { createAjv } = await import("../schema/create-ajv.ts");
  const checks = new Map<DocumentContract, ReportValidator>();
  const compile = (kind: DocumentContract): ReportValidator => {
    const file = join(packageInfo().root, "schemas", kind.file);
    const check = createAjv().compile(JSON.parse(readFileSync(file, "utf8")));
    return {
      validate: (document) =>
        check(document) ? kind.rules(document) : issuesOf(check.errors ?? []),
    };
  };
  return {
    validate(document) {
      const kind = OTHERS.find(({ versions }) => versions.some((each) => isOf(document, each)));
      if (kind === undefined) return regions.validate(document);
      const other = contractIssue(document, kind.versions);
      if (other !== null) return [other];
      const check = checks.get(kind) ?? compile(kind);
      checks.set(kind, check);
      return check.validate(document);
    },
  };
}

/** Whether a document names a contract of the same kind, of whatever version. */
function isOf(document: unknown, contract: string): boolean {
  if (typeof document !== "object" || document === null || !("contract" in document)) return false;
  const [kind = ""] = contract.split("/");
  return typeof document.contract === "string" && document.contract.split("/")[0] === kind;
}
