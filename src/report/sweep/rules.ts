/** What the schema of a sweep's report cannot say. */
import { pointerTo, type ReportIssue } from "../validation/issue.ts";
import type { SweepReport } from "./document.ts";

/** @param document fits `schemas/sweep-report.schema.json` */
export function sweepIssues(document: SweepReport): readonly ReportIssue[] {
  const { jobs, parameters, regions, best } = document;
  const lists = [
    ...jobs.map(({ values }, at) => ({
      list: values,
      wanted: parameters.length,
      pointer: pointerTo("", "jobs", at, "values"),
      what: "one value per parameter",
    })),
    ...regions.map(({ times_ms }, at) => ({
      list: times_ms,
      wanted: jobs.length,
      pointer: pointerTo("", "regions", at, "times_ms"),
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
