/** The collector Nsight Compute: finds labels, measures passes, reads their reports. */
import { firstFewOf } from "../../../foundation/text/plural.ts";
import type { NvtxLabel } from "../../analysis/labels.ts";
import { NO_MATCHING_REGIONS } from "../../analysis/scope.ts";
import { thisMachine } from "../../machine/doctor/machine.ts";
import { openMetricSource } from "../../machine/metric-source.ts";
import { succeeded } from "../../machine/process.ts";
import { ToolError } from "../../machine/tool-error.ts";
import type { NcuCliConfig, ReplayMode } from "../profiler-config.ts";
import { recorderOf, recordsKernels } from "../recorder/recorder-collector.ts";
import type { NcuPassSource, NcuSource } from "../run-types.ts";
import type { Collection, Collector, ToolParts } from "../tool.ts";
import { measurePasses } from "./measure-passes.ts";
import {
  matchesNothing,
  type NcuCollectorOptions,
  prepare,
  readerOf,
  type Session,
} from "./ncu-session.ts";
import type { NcuCapabilities } from "./run/capabilities.ts";
import { type Discovery, noMatchNote } from "./run/discover.ts";
import { matchingLabels } from "./run/filters.ts";
import { labelKey } from "./run/label-survey.ts";
import { isByLabels, nvtxRequest, type PassPlan } from "./run/pass-plan.ts";

/**
 * Nsight Compute: hardware metrics and sections per region. First finds the labels, then profiles into report files,
 * one per pass, and reads those through ncu, so that everything can be read again.
 */
export function createNcuCollector(options: NcuCollectorOptions): Collector {
  return {
    name: "ncu",
    collect: async (workload, context) => {
      const { session, plan, notes, forecast } = await prepare(options, workload, context);
      for (const note of [...notes, ...forecast]) context.say(note);
      const { discovery } = session;
      return discovery !== null && matchesNothing(plan, session)
        ? nothingMatched(session, discovery, notes)
        : collect(plan, session, notes);
    },
  };
}

/** The collector's options; finding labels does not need a recording of kernels. */
export function ncuOptions({ config, native }: ToolParts): NcuCollectorOptions {
  const { ncu, recorder, report } = config.pipeline;
  const seesKernels = recordsKernels(config);
  const choosesKernels = (ncu.top_n_kernels ?? null) !== null;
  return {
    config: ncu,
    aggregate: report.aggregate,
    operationDomains: recorder.operation_domains,
    ...(config.labels && { labels: config.labels }),
    recorder: recorderOf({ config, native }, choosesKernels ? recorder.gpu : "off"),
    recordsKernels: seesKernels,
    metrics: () => openMetricSource(thisMachine(process.env), native.chipMetrics),
  };
}

/** Ends early: ncu would run the whole program once per pass, and write nothing. */
function nothingMatched(
  session: Session,
  { labels, collection }: Discovery,
  notes: readonly string[],
): Collection {
  const { options, ncu } = session;
  const request = nvtxRequest(options.config);
  const note = noMatchNote(request, labels);
  session.context.say(note);
  return {
    collector: "ncu",
    ...readerOf(session).finish(),
    source: sourceOf(session, []),
    outcome: collection.outcome,
    toolVersion: ncu.version,
    notes: [...notes, NO_MATCHING_REGIONS, note],
    ...(options.config.require_match && {
      problem: new ToolError({
        tool: "ncu",
        code: "profile.ncu",
        key: "pipeline.ncu.ncu_cli.nvtx.include",
        message: `${NO_MATCHING_REGIONS}: ${note}`,
        available: labels.labels.map(({ name }) => name),
        hint: "pipeline.ncu.require_match=false reports it without failing",
      }),
    }),
  };
}

async function collect(
  plan: PassPlan,
  session: Session,
  planNotes: readonly string[],
): Promise<Collection> {
  const reader = readerOf(session);
  const { runs, unwritten, read, modes, results, ...measured } = await measurePasses(
    plan,
    session,
    reader,
  );
  const nothing = results === 0 && measured.problem === null;
  const problem = nothing ? unmatched(session) : measured.problem;
  const outcome = (runs.find((run) => !succeeded(run.outcome)) ?? runs.at(-1))?.outcome;
  if (outcome === undefined) throw new Error("a plan has at least one pass");
  const found = reader.finish();
  const notes = [
    ...planNotes,
    ...measured.notes,
    // An unread result may belong to an unseen region.
    ...(read.some(({ unread }) => unread !== undefined) ? [] : unseenNotes(session, reader.seen)),
    ...measurementNotes(session.ncu, session.cli, modes),
    ...(nothing ? [NO_MATCHING_REGIONS] : []),
    ...(found.writeRegionFiles === undefined ? [TOO_MANY_RESULTS] : []),
  ];
  return {
    collector: "ncu",
    ...found,
    source: sourceOf(session, read),
    outcome: { ...outcome, ...unwritten },
    toolVersion: session.ncu.version,
    notes: [...new Set(notes)],
    ...(problem !== null && { problem }),
  };
}

const TOO_MANY_RESULTS =
  "too many results for a table in each region's directory: ncu/raw.csv has them all";

const unmatched = ({ options }: Session): ToolError | null =>
  options.config.require_match
    ? new ToolError({
        tool: "ncu",
        code: "profile.ncu",
        message: `${NO_MATCHING_REGIONS}: ncu measured nothing`,
        hint: "pipeline.ncu.require_match=false reports it without failing",
      })
    : null;

const sourceOf = ({ recorded, top }: Session, passes: readonly NcuPassSource[]): NcuSource => ({
  kind: "ncu",
  passes,
  recorded: recorded?.source ?? null,
  top_kernels: top,
});

const MAX_UNSEEN = 10;

/** Notes about requested regions that were not measured. */
function unseenNotes({ options, discovery }: Session, seen: ReadonlySet<string>) {
  const request = nvtxRequest(options.config);
  if (discovery === null || !isByLabels(request)) return [];
  const { include, exclude } = request;
  const excluded = new Set(
    exclude.length === 0 ? [] : matchingLabels(exclude, discovery.labels.labels).map(labelKey),
  );
  const unseen = matchingLabels(include, discovery.labels.labels).filter(
    (label: NvtxLabel) => !seen.has(labelKey(label)) && !excluded.has(labelKey(label)),
  );
  if (unseen.length === 0) return [];
  return [
    `ncu measured nothing in ${firstFewOf(unseen, MAX_UNSEEN, ({ name }) => name)}: the threads that ncu follows launched no kernel there, or the launch filters excluded them`,
  ];
}

// Settings that determine the numbers apart from the program: only equal measurements are comparable. ncu's own
// defaults differ by version ("Clock Control", "Cache Control" in its documentation), so nothing is noted where the
// config leaves a setting to ncu.

/** @param modes modes of the passes with results; not always the requested one */
export const measurementNotes = (
  { version }: Pick<NcuCapabilities, "version">,
  { replay_mode, clock_control, cache_control }: NcuCliConfig,
  modes: readonly ReplayMode[],
): readonly string[] => [
  `measured by ncu ${version} in ${modes.length === 0 ? replay_mode : [...new Set(modes)].join(" and ")} replay; command lines: ncu/cmd.txt; tables: locale C.UTF-8`,
  clockNote(clock_control),
  cacheNote(cache_control),
];

function clockNote(control: string | null): string {
  if (control === null) return "GPU clocks were controlled by ncu's default (clock_control=null)";
  if (control === "none" || control === "reset")
    return `GPU clocks were not locked (clock_control=${control}): times vary with temperature, power and other load`;
  return control === "base"
    ? "GPU clocks were locked to base (clock_control=base): times are longer than at the boost clocks of a normal run"
    : `GPU clocks were locked by ncu (clock_control=${control})`;
}

function cacheNote(control: string | null): string {
  if (control === null) return "GPU caches were controlled by ncu's default (cache_control=null)";
  return control === "all"
    ? "GPU caches were flushed before every replay pass (cache_control=all): each kernel or range started with cold caches"
    : `GPU caches were not flushed between replay passes (cache_control=${control}): a pass finds what the one before left there`;
}
