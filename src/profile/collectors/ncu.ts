import { join } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import { succeeded } from "../machine/process.ts";
import { howMeasured } from "../ncu/how-measured.ts";
import { passCommand } from "../ncu/run/command-line.ts";
import { type Discovery, noMatchNote } from "../ncu/run/discover.ts";
import { matchingLabels, type NvtxLabel } from "../ncu/run/filters.ts";
import { labelKey } from "../ncu/run/labels.ts";
import { isByLabels, nvtxRequest } from "../ncu/run/nvtx-request.ts";
import type { Pass, PassPlan } from "../ncu/run/pass-plan.ts";
import { joinTables, readPass } from "../ncu/run/read-pass.ts";
import { type PassRun, placeOfPass, runPass, writeCommands } from "../ncu/run/run-pass.ts";
import { judge } from "../ncu/run/verdict.ts";
import { NO_MATCHING_REGIONS } from "../regions/index.ts";
import type { Collection, Collector } from "./collector.ts";
import {
  cliOf,
  matchesNothing,
  type NcuCollectorOptions,
  prepare,
  readerOf,
  type Session,
} from "./ncu-session.ts";
import type { NcuPassSource, NcuSource } from "./source.ts";

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
  const { options, ncu, context } = session;
  const reader = readerOf(session);
  const read: NcuPassSource[] = [];
  const notes = [...planNotes];
  const commands: (readonly string[])[] = [];
  const runs: PassRun[] = [];
  let problem: ConfigError | null = null;
  let results = 0;
  const several = plan.passes.length > 1;
  if (several)
    context.say(
      `ncu runs the program ${plan.passes.length} times: regions inside one another need runs of their own`,
    );

  const execute = async (pass: Pass): Promise<PassRun> => {
    const place = placeOfPass(pass, context.directory);
    const command = passCommand(pass, place, { ...session, config: cliOf(pass, session) });
    commands.push(command);
    await writeCommands(join(context.directory, "cmd.txt"), commands);
    return runPass(pass, command, session.workload, place, context, {
      timeoutMin: options.config.timeout_min,
    });
  };

  for (const pass of plan.passes) {
    let run = await execute(pass);
    if (shouldFallBack(run, session)) {
      const note = `${pass.name}: ${run.failures.find(isUnsupported)?.message}; measured again by app-range replay`;
      context.say(note);
      notes.push(note);
      run = await execute({ ...pass, name: `${pass.name}.app-range`, mode: "app-range" });
    }
    runs.push(run);
    notes.push(...run.notes);
    const { report } = run;
    const prefix = several ? tablePrefix(run.pass) : "";
    const tables =
      report === null || context.interrupt.kill.aborted
        ? null
        : await reader.readPass(pass.labels, (onResult) =>
            readPass(report, onResult, {
              ncu,
              prefix,
              keepTables: options.config.ncu_cli.export.csv,
              stop: context.interrupt.kill,
            }),
          );
    if (tables !== null) read.push({ name: run.pass.name, prefix, labels: pass.labels });
    results += tables?.results ?? 0;
    notes.push(...(tables?.notes ?? []));
    const verdict = judge(run, tables?.results ?? 0);
    notes.push(...verdict.notes);
    problem ??= verdict.problem;
    if (verdict.hopeless && (verdict.problem !== null || context.interrupt.stop.aborted)) break;
  }

  if (several)
    notes.push(
      ...(await joinTables(
        context.directory,
        runs.map(({ pass }) => tablePrefix(pass)),
      )),
    );
  notes.push(...unseenNotes(session, reader.seen), ...howMeasured(session.ncu, session.cli));
  if (results === 0 && problem === null) {
    notes.push(NO_MATCHING_REGIONS);
    if (options.config.require_match)
      problem = new ConfigError({
        code: "profile.ncu",
        message: `${NO_MATCHING_REGIONS}: ncu measured nothing`,
        hint: "pipeline.ncu.require_match=false reports it without failing",
      });
  }
  const outcome = (runs.find((run) => !succeeded(run.outcome)) ?? runs.at(-1))?.outcome;
  if (outcome === undefined) throw new Error("a plan has at least one pass");
  const found = reader.finish();
  if (found.writeRegionFiles === undefined)
    notes.push(
      "there are too many results for a table in the folder of each region: ncu/raw.csv has all",
    );
  return {
    collector: "ncu",
    ...found,
    source: sourceOf(session, read),
    outcome,
    toolVersion: ncu.version,
    notes: [...new Set(notes)],
    ...(problem !== null && { problem }),
  };
}

const sourceOf = ({ recorded, top }: Session, passes: readonly NcuPassSource[]): NcuSource => ({
  kind: "ncu",
  passes,
  recorded: recorded?.source ?? null,
  top_kernels: top,
});

const tablePrefix = ({ name }: Pass): string => `${name}.`;

const isUnsupported = ({ id }: PassRun["failures"][number]): boolean => id === "unsupported_api";

const shouldFallBack = ({ pass, failures }: PassRun, { options, ncu, context }: Session): boolean =>
  pass.mode === "range" &&
  options.config.fallback &&
  failures.some(isUnsupported) &&
  ncu.accepts("--replay-mode", "app-range") &&
  !context.interrupt.stop.aborted;

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
  const names = unseen.slice(0, MAX_UNSEEN).map(({ name }) => name);
  return [
    `ncu measured nothing in ${names.join(", ")}${unseen.length > MAX_UNSEEN ? ` and ${unseen.length - MAX_UNSEEN} more` : ""}: no kernel was launched there by the threads that ncu follows, or the launch filters left them out`,
  ];
}
