import { firstFewOf } from "../../text/plural.ts";
import { ConfigError } from "../../values/errors.ts";
import type { Collection, Collector } from "../collection/collector.ts";
import type { NcuPassSource, NcuSource } from "../collection/source.ts";
import type { NvtxLabel } from "../labels/nvtx-label.ts";
import { succeeded } from "../machine/process.ts";
import { howMeasured } from "../ncu/how-measured.ts";
import { type Discovery, noMatchNote } from "../ncu/run/discover.ts";
import { matchingLabels } from "../ncu/run/filters.ts";
import { labelKey } from "../ncu/run/labels.ts";
import { isByLabels, nvtxRequest } from "../ncu/run/nvtx-request.ts";
import type { PassPlan } from "../ncu/run/pass-plan.ts";
import { NO_MATCHING_REGIONS } from "../regions/index.ts";
import { measurePasses } from "./ncu-passes.ts";
import {
  matchesNothing,
  type NcuCollectorOptions,
  prepare,
  readerOf,
  type Session,
} from "./ncu-session.ts";

/**
 * Nsight Compute: hardware metrics and sections per region. Looks for the labels first, profiles into
 * report files, one per pass, and reads those through ncu, so that everything can be read again.
 */
export function createNcuCollector(options: NcuCollectorOptions): Collector {
  return {
    name: "ncu",
    collect: async (workload, context) => {
      const { session, plan, notes } = await prepare(options, workload, context);
      for (const note of notes) context.say(note);
      const { discovery } = session;
      return discovery !== null && matchesNothing(plan, session)
        ? nothingMatched(session, discovery, notes)
        : collect(plan, session, notes);
    },
  };
}

/** ncu would run the program to its end, once per pass, and write nothing. */
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
      problem: new ConfigError({
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
    // What could not be read may have been measured there.
    ...(read.some(({ unread }) => unread !== undefined) ? [] : unseenNotes(session, reader.seen)),
    ...howMeasured(session.ncu, session.cli, modes),
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

const unmatched = ({ options }: Session): ConfigError | null =>
  options.config.require_match
    ? new ConfigError({
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

/** Every region that was asked for must have been measured, or the reader must know. */
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
