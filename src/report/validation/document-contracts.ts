/** The kinds of reports that are written as JSON, identified by their contracts: region, sweep, comparison, query. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { shippedValidator } from "../../engine/schema/ajv.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { CALIBRATION_CONTRACT } from "../compare/calibration.ts";
import { COMPARISON_CONTRACTS } from "../compare/comparison.ts";
import { QUERY_CONTRACTS } from "../model/contract.ts";
import { SWEEP_CONTRACTS } from "../sweep/sweep-document.ts";
import type { SweepReport } from "../sweep/sweep-types.ts";
import { pointerTo, type ReportIssue } from "./report-rules.ts";
import { issuesOf } from "./schema-issues.ts";
import { contractIssue, createReportValidator, type ReportValidator } from "./validate.ts";

/** A kind of document, apart from region reports. */
interface DocumentContract {
  /** The supported versions. */
  readonly versions: readonly string[];
  readonly compile: () => ReportValidator;
}

/**
 * @param file file of the schema, in `schemas/`
 * @param rules rules that the schema cannot express
 */
const documentContract = <Document>(
  versions: readonly string[],
  file: string,
  rules: (document: Document) => readonly ReportIssue[] = () => [],
): DocumentContract => ({
  versions,
  compile() {
    const text = readFileSync(join(packageInfo().root, "schemas", file), "utf8");
    const check = shippedValidator<Document>({
      text,
      compile: (ajv) => ajv.compile<Document>(JSON.parse(text)),
    });
    return {
      validate: (document) => (check(document) ? rules(document) : issuesOf(check.errors ?? [])),
    };
  },
});

const OTHERS: readonly DocumentContract[] = [
  documentContract(SWEEP_CONTRACTS, "sweep-report.schema.json", sweepIssues),
  documentContract(COMPARISON_CONTRACTS, "comparison.schema.json"),
  documentContract(QUERY_CONTRACTS, "query.schema.json"),
  documentContract([CALIBRATION_CONTRACT], "calibration.schema.json"),
];

/**
 * A validator for all kinds of documents; a document without a contract is checked as a region report. A schema is
 * compiled when the first document of its kind is checked.
 */
export function createDocumentValidator(): ReportValidator {
  const regions = createReportValidator();
  const checks = new Map<DocumentContract, ReportValidator>();
  return {
    validate(document) {
      const kind = OTHERS.find(({ versions }) => versions.some((each) => isOf(document, each)));
      if (kind === undefined) return regions.validate(document);
      const other = contractIssue(document, kind.versions);
      if (other !== null) return [other];
      const check = checks.get(kind) ?? kind.compile();
      checks.set(kind, check);
      return check.validate(document);
    },
  };
}

/** Whether the contract of a document is of the same kind, in any version. */
function isOf(document: unknown, contract: string): boolean {
  if (typeof document !== "object" || document === null || !("contract" in document)) return false;
  const [kind = ""] = contract.split("/");
  return typeof document.contract === "string" && document.contract.split("/")[0] === kind;
}

// Rules that the schema of a sweep's report cannot express.

/** @param document a document that fits `schemas/sweep-report.schema.json` */
function sweepIssues(document: SweepReport): readonly ReportIssue[] {
  const { jobs, parameters, regions, best } = document;
  const lists = [
    ...jobs.map(({ values }, index) => ({
      list: values,
      wanted: parameters.length,
      pointer: pointerTo("", "jobs", index, "values"),
      what: "one value per parameter",
    })),
    ...regions.map(({ times_ms }, index) => ({
      list: times_ms,
      wanted: jobs.length,
      pointer: pointerTo("", "regions", index, "times_ms"),
      what: "one time per job",
    })),
  ];
  return [
    ...(best === null || jobs.some(({ name }) => name === best)
      ? []
      : [
          {
            pointer: "/best",
            message: `${JSON.stringify(best)} is not a job of the sweep`,
            expected: "the name of one, or null",
          },
        ]),
    ...lists.flatMap(({ list, wanted, pointer, what }) =>
      list.length === wanted
        ? []
        : [{ pointer, message: `a list of ${list.length}`, expected: `${what}: ${wanted}` }],
    ),
  ];
}
