/** One program or config that is run again and again, with the times of each run: of `ab` and `calibrate`. */

import { join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { makeDirectory } from "../../foundation/system/files.ts";
import { activityTimes } from "../../report/compare/kernel-changes.ts";
import type { NCUProfileRegion, NCUProfileRegionReport } from "../../report/model/document.ts";
import { familyKey, withFamilies } from "../../report/model/families.ts";
import { regionKey } from "../../report/model/report-files.ts";
import { COMPARED_COLUMNS } from "../../report/view/region-columns.ts";
import type { Interrupt } from "../machine/stop-signals.ts";
import { enabledCollectors } from "../run/collectors.ts";
import { type PreparedRun, prepareRun, reportOn } from "../run/run.ts";
import { below } from "../tools/collection.ts";
import { type Collection, type Collector, terminalProgress } from "../tools/tool.ts";
import { TOOLS } from "../tools/tool-table.ts";
import type { MainRequest } from "./profile-task.ts";

/**
 * Composes, checks and opens a run from a command line of `deep-profile`, in a directory of its own, and keeps it open
 * during `measure`.
 *
 * @returns the exit code of `measure`, or the reason why it was not called
 */
export type OpenRun = (
  argv: readonly string[],
  measure: (run: MainRequest) => Promise<number>,
) => Promise<number>;

export interface MeasuredSide {
  readonly request: MainRequest;
  readonly prepared: PreparedRun;
  readonly collector: Collector;
  readonly started: Date;
}

/**
 * @param command for messages, such as `deep-profile ab`
 * @throws ConfigError `profile.unsupported` unless one collector measures that does not repeat the program itself
 */
export async function prepareSide(
  request: MainRequest,
  interrupt: Interrupt,
  command: string,
): Promise<MeasuredSide> {
  const { tools = TOOLS } = request;
  const config = { ...request.config, repeats: 1 };
  const prepared = await prepareRun({
    ...{ ...request, config, interrupt },
    say: request.log.info,
    progress: terminalProgress(),
  });
  const [collector, ...others] = enabledCollectors({ ...prepared, config }, tools);
  const repeatsItself = tools.some((tool) => tool.repeatsItself && tool.name === collector?.name);
  if (collector === undefined || others.length > 0 || repeatsItself)
    throw new ConfigError({
      code: "profile.unsupported",
      message: `${command} measures with one collector, the recorder or nsys`,
      hint: "disable the others: pipeline.ncu.enable=false",
    });
  return { request, prepared, collector, started: new Date() };
}

const folderOf = ({ request, collector }: MeasuredSide): string =>
  join(request.runDirectory, collector.name);

/** @param run the name of its folder in `repeats` */
export async function runOnce(side: MeasuredSide, run: string, interrupt: Interrupt) {
  const directory = join(folderOf(side), "repeats", run);
  makeDirectory(directory);
  const progress = terminalProgress();
  const context = { directory, interrupt, progress, say: side.request.log.info, earlier: [] };
  const collection = await side.collector
    .collect(side.prepared.workload, context)
    .finally(() => progress.stop());
  const source = below(`repeats/${run}`, collection.source);
  return { collection: { ...collection, source }, directory };
}

/** The report of all processes of one run. */
export function reportOfRun(
  { prepared }: MeasuredSide,
  collection: Collection,
): NCUProfileRegionReport {
  const { sections } = reportOn(
    { ...prepared, collections: [collection], missing: [] },
    new Date(),
  );
  const report = sections[0]?.bundle.reports[0];
  if (report === undefined) throw new Error("a run without a report");
  return report;
}

/** Times of one run by their names in comparisons. */
export type Times = Readonly<Record<string, number | null | undefined>>;

export const totalTimes = ({ totals }: NCUProfileRegionReport): Times => ({
  total_ms: totals.total_ms,
  wall_ms: totals.wall_ms,
  cpu_ms: totals.cpu_ms,
  instructions: totals.instructions,
  outside_ms: totals.outside_ms,
});

/** By `regionKey`; of families by `familyKey`. */
export const regionTimes = (report: NCUProfileRegionReport): ReadonlyMap<string, Times> =>
  new Map([
    ...withFamilies(report).regions.map((row) => [familyKey(row), timesOf(row)] as const),
    ...report.regions.map((region) => [regionKey(region), timesOf(region)] as const),
  ]);

const timesOf = (region: NCUProfileRegion): Times => ({
  ...activityTimes(region),
  ...Object.fromEntries(
    COMPARED_COLUMNS.filter(({ noise }) => noise !== "count").map(({ name, value }) => [
      name,
      value(region),
    ]),
  ),
});
