/** Reads the Nsight Compute files of a run again. */
import { rmSync } from "node:fs";
import { basename, join } from "node:path";
import { findNsightTool } from "../../machine/find-tools.ts";
import { makeTemporaryDirectory } from "../../machine/run-files.ts";
import type { NcuResult } from "../../model/counters.ts";
import type { Timeline } from "../../model/timeline.ts";
import { readRecording } from "../recorder/read.ts";
import type { CollectionSource, RecordedSource } from "../run-types.ts";
import { missingFileError } from "../source-file.ts";
import type { Reread, RereadContext } from "../tool.ts";
import { createResultReader } from "./read-results.ts";
import { findReport } from "./rep/compressed.ts";
import { streamNcuReport, withoutNcuNote } from "./rep/read-report.ts";
import { probeNcu } from "./run/capabilities.ts";
import { type PassTables, readKeptTables, readPass } from "./run/read-pass.ts";
import { unreadProblem } from "./run/verdict.ts";

export async function rereadNcu(
  source: CollectionSource,
  directory: string,
  context: RereadContext,
): Promise<Reread> {
  if (source.kind !== "ncu") throw new Error(`${source.kind} is no report of ncu`);
  const { ncu, report, recorder } = context.config.pipeline;
  const recorded = recordedTimeline(source.recorded, directory, context);
  const reader = createResultReader({
    config: ncu,
    aggregate: report.aggregate,
    operationDomains: recorder.operation_domains,
    ...(context.labels && { labels: context.labels }),
    measuredLabels: context.config.labels ?? {},
    recorded,
    top: source.top_kernels,
  });
  const notes: string[] = [];
  const outdated: string[] = [];
  for (const pass of source.passes) {
    const { name, prefix, labels, notes: inRun = [] } = pass;
    const tables = await reader.readPass(labels, async (onResult) => {
      const kept = await readKeptTables(directory, prefix, onResult);
      // The run's notes may be about printing these tables.
      if (kept !== null) return pass.unread === undefined ? { ...kept, notes: inRun } : kept;
      return readReport(join(directory, name), onResult, context);
    });
    notes.push(...tables.notes);
    outdated.push(...inRun);
    const problem = tables.unread === null ? unreadProblem(pass) : null;
    if (problem !== null) outdated.push(problem.message);
  }
  return {
    ...reader.finish(),
    notes,
    outdated: outdated.filter((text) => !notes.includes(text)),
  };
}

/** Used if the tables were not kept: reads the report through ncu again, or without it if it is not installed. */
async function readReport(
  base: string,
  onResult: (result: NcuResult) => void,
  { withTool, say }: RereadContext,
): Promise<PassTables> {
  const report = findReport(base);
  if (report === null) throw missingFileError(`${base}.ncu-rep`);
  const path = findNsightTool("ncu");
  if (path === null) {
    const { results, sections, notes } = streamNcuReport(report, onResult);
    const how = withoutNcuNote(basename(report));
    return { results, sections, notes: [...notes, how], unread: null };
  }
  const scratch = makeTemporaryDirectory("deep-profile-report-");
  try {
    return await withTool(async (stop) => {
      const ncu = await probeNcu(path);
      const place = { directory: scratch, prefix: "", keepTables: false };
      const take = (result: NcuResult) => {
        stop.throwIfAborted();
        onResult(result);
      };
      return readPass(report, take, { ncu, ...place, say, stop });
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function recordedTimeline(
  source: RecordedSource | null,
  directory: string,
  { earlier }: RereadContext,
): Timeline | null {
  if (source === null) return null;
  if (source.kind === "recording") return readRecording(join(directory, source.directory));
  const measured = earlier.find(({ collector }) => collector === source.name)?.measured;
  return measured?.kind === "timeline" ? measured.timeline : null;
}
