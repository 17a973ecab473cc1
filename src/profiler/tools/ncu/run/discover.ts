/** Finds the labels of a program before ncu measures it. */
import { join } from "node:path";
import { makeDirectory } from "../../../../foundation/system/files.ts";
import { firstFew } from "../../../../foundation/text/plural.ts";
import { printableLabel } from "../../../../foundation/text/printable.ts";
import type { SelectionPatterns } from "../../../../report/selection/range-pattern.ts";
import type { LabelRules } from "../../../analysis/labels.ts";
import { describeOutcome, succeeded, type Workload } from "../../../machine/process.ts";
import { ToolError } from "../../../machine/tool-error.ts";
import type { CollectContext, Collection, Collector } from "../../tool.ts";
import { matchingLabels } from "./filters.ts";
import { type DiscoveredLabels, foldingLabels, labelsOf } from "./label-survey.ts";

/** The folder, below that of ncu, for a run that only records. */
export const DISCOVERY = "discovery";

export interface Discovery {
  readonly labels: DiscoveredLabels;
  /** The run in which the labels were found. */
  readonly collection: Collection;
}

export interface DiscoverOptions {
  readonly recorder: Collector;
  readonly operationDomains: readonly string[];
  readonly labels?: LabelRules;
  /** The regions that ncu is to measure: labels that it names do not fold. */
  readonly selection?: SelectionPatterns;
}

/**
 * Determines the labels of the program: from the recording of an earlier collector, else by a separate run under the
 * recorder. ncu and the recorder cannot share a run, because NVTX would have to load both.
 *
 * @throws ToolError `profile.ncu` if the program already fails without ncu
 */
export async function discoverLabels(
  workload: Workload,
  context: CollectContext,
  { recorder, operationDomains, labels, selection }: DiscoverOptions,
): Promise<Discovery> {
  const collection =
    context.earlier.find(isComplete) ??
    (await recordSeparately(workload, context, { recorder, purpose: "the program's regions" }));
  const { measured } = collection;
  if (measured.kind !== "timeline")
    throw new Error(`the collector ${collection.collector} gives no timeline`);
  return {
    collection,
    labels: labelsOf(
      measured.timeline,
      operationDomains,
      foldingLabels(measured.timeline, labels, selection),
    ),
  };
}

const isComplete = ({ measured, outcome, problem, partial }: Collection): boolean =>
  measured.kind === "timeline" &&
  problem === undefined &&
  partial === undefined &&
  succeeded(outcome);

/**
 * Runs the program under the recorder only to prepare options of ncu.
 *
 * @throws ToolError `profile.ncu` if the program already fails without ncu
 */
export async function recordSeparately(
  workload: Workload,
  context: CollectContext,
  { recorder, purpose }: { readonly recorder: Collector; readonly purpose: string },
): Promise<Collection> {
  context.say(`looking for ${purpose}: running the program once without ncu`);
  const directory = join(context.directory, DISCOVERY);
  makeDirectory(directory);
  const collection = await recorder.collect(workload, { ...context, directory });
  if (succeeded(collection.outcome)) return collection;
  throw new ToolError({
    tool: "ncu",
    code: "profile.ncu",
    message: `ncu was not started: ${describeOutcome(collection.outcome)} without it`,
    hint: `its output is in ${directory}`,
  });
}

const MAX_NAMES = 40;

/** The note for a filter that matches nothing. */
export function noMatchNote(
  { include }: { readonly include: readonly string[] },
  { labels }: DiscoveredLabels,
): string {
  if (labels.length === 0)
    return "the program opened no NVTX ranges, so ncu was not started; pipeline.ncu.gating_nvtx=false profiles without regions";
  return `nvtx.include (${include.join(", ")}) matches none of the program's regions, so ncu was not started${include.map(listHint).join("")}; available: ${shown(labels)}`;
}

/** A note for each pattern that matches nothing while others do. */
export const unmatchedNotes = (
  { include }: { readonly include: readonly string[] },
  { labels }: DiscoveredLabels,
): readonly string[] =>
  labels.length === 0
    ? []
    : include
        .filter((pattern) => matchingLabels([pattern], labels).length === 0)
        .map(
          (pattern) =>
            `nvtx.include: '${pattern}' matches none of the program's regions${listHint(pattern)}; available: ${shown(labels)}`,
        );

/** ncu accepts one expression per option: a joined list is a single name, which hardly any region has. */
function listHint(pattern: string): string {
  const parts = pattern.split(/[;,]/).filter((part) => part.trim() !== "");
  return parts.length > 1 ? ` (several regions are a list: [${parts.join(",")}])` : "";
}

function shown(labels: DiscoveredLabels["labels"]): string {
  const names = [
    ...new Set(
      labels.map(({ domain, name }) => {
        const shownName = name === "" ? printableLabel(name) : name;
        return domain === "" ? shownName : `${domain}@${shownName}`;
      }),
    ),
  ];
  return firstFew(names, MAX_NAMES);
}
