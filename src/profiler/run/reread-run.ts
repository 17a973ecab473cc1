/** Restores a finished run to the state after its collectors returned, from `run.json` and the raw files. */

import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { LabelRules } from "../analysis/labels.ts";
import { ToolError } from "../machine/tool-error.ts";
import type { CollectionSource, SavedProblem } from "../tools/run-types.ts";
import { inputError, missingFileError } from "../tools/source-file.ts";
import type {
  Collection,
  MeasuredRun,
  ProfilingTool,
  Reread,
  RereadContext,
} from "../tools/tool.ts";
import type { CollectedRun } from "./run.ts";
import type { SavedCollection, SavedRun } from "./saved-run.ts";

export interface RereadOptions
  extends Pick<RereadContext, "runDirectory" | "withTool" | "say" | "onlyBeginning"> {
  /** Replace the corresponding label rules of the run's config; null keeps those. */
  readonly labels: LabelRules | null;
  readonly tools: readonly ProfilingTool[];
}

/** @throws ConfigError if raw files are missing or damaged, or need a tool that is not installed */
export async function rereadRun(
  saved: SavedRun,
  { runDirectory, withTool, say, labels, tools, onlyBeginning = false }: RereadOptions,
): Promise<CollectedRun> {
  const { workload, environment, inputs } = saved;
  const config =
    labels === null
      ? saved.config
      : { ...saved.config, labels: { ...saved.config.labels, ...labels } };
  const context = {
    runDirectory,
    config: saved.config,
    withTool,
    say,
    ...(config.labels && { labels: config.labels }),
    ...(onlyBeginning && { onlyBeginning }),
  };
  const collections: Collection[] = [];
  for (const collection of saved.collectors)
    collections.push(
      await rereadCollection(collection, tools, { ...context, earlier: collections }),
    );
  return {
    config,
    fingerprint: labels === null ? saved.config_fingerprint : relabelled(saved, labels),
    workload: { ...workload, env: {} },
    environment,
    inputs,
    collections,
    missing: saved.missing.map(({ collector, problem }) => ({
      collector,
      error: errorOf(problem, collector),
    })),
  };
}

/** The fingerprint of the run's config with other label rules; equal for equal configs, like all fingerprints. */
const relabelled = ({ config_fingerprint }: SavedRun, labels: LabelRules): string =>
  `sha256:${createHash("sha256")
    .update(JSON.stringify({ run: config_fingerprint, labels }))
    .digest("hex")}`;

async function rereadCollection(
  saved: SavedCollection,
  tools: readonly ProfilingTool[],
  context: RereadContext,
): Promise<Collection> {
  const { collector, source, outcome, problem, tool_version, notes } = saved;
  const directory = join(context.runDirectory, collector);
  if (!existsSync(directory)) throw missingFileError(directory);
  const tool = tools.find(({ name }) => name === collector);
  if (tool === undefined)
    throw inputError(
      directory,
      `the tool ${collector} is not known here: its files cannot be read`,
    );
  context.say(`reading the files of ${collector}`);
  const inRun = (file: string) => resolve(context.runDirectory, file);
  const {
    notes: more = [],
    outdated = [],
    ...found
  } = await rereadSource(tool, source, directory, {
    ...context,
  });
  return {
    ...found,
    collector,
    source,
    outcome: {
      ...outcome,
      stdoutFile: inRun(outcome.stdoutFile),
      stderrFile: inRun(outcome.stderrFile),
    },
    notes: [...new Set([...notes.filter((note) => !outdated.includes(note)), ...more])],
    ...(tool_version !== null && { toolVersion: tool_version }),
    ...(problem !== null &&
      !outdated.includes(problem.message) && { problem: errorOf(problem, collector) }),
  };
}

/** The tool reads each of the measured runs, which are combined as in `repeatCollector`. */
async function rereadSource(
  tool: ProfilingTool,
  source: CollectionSource,
  directory: string,
  context: RereadContext,
): Promise<Reread> {
  if (source.kind !== "repeats") return tool.reread(source, directory, context);
  const [only] = context.onlyBeginning === true ? source.runs : [];
  if (only !== undefined) return tool.reread(only, directory, context);
  const repeats: MeasuredRun[] = [];
  const outdated: string[] = [];
  for (const [index, run] of source.runs.entries()) {
    const reread = await tool.reread(run, directory, context);
    if (reread.measured.kind !== "timeline") throw new Error(`${run.kind} gives no timeline`);
    outdated.push(...(reread.outdated ?? []));
    const output = source.outputs[index] ?? null;
    repeats.push({
      timeline: reread.measured.timeline,
      stdoutFile: output && join(directory, output),
    });
  }
  const [first] = repeats;
  if (first === undefined) throw missingFileError(directory);
  return { measured: { kind: "timeline", timeline: first.timeline, repeats }, outdated };
}

const errorOf = (problem: SavedProblem, tool: string): ToolError =>
  new ToolError({ tool, ...problem });
