/**
 * Hardware counters by region, without replay of kernels: the program runs once for each pass that the metrics take, and for each
 * level of nesting if one of them cannot be summed.
 */
import { join } from "node:path";
import { ConfigError } from "../../../engine/values/errors.ts";
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import { makeDirectory } from "../../../foundation/system/files.ts";
import { plural } from "../../../foundation/text/plural.ts";
import { patternList } from "../../../report/selection/range-pattern.ts";
import { buildRegionModel } from "../../analysis/build.ts";
import type { RegionModel } from "../../analysis/region-model.ts";
import {
  type CollectionWay,
  type CounterLibrary,
  openMetricLibrary,
} from "../../machine/chip-metrics.ts";
import { probeCupti } from "../../machine/doctor/cupti.ts";
import { thisMachine } from "../../machine/doctor/machine.ts";
import { otherName } from "../../machine/metric-names.ts";
import { succeeded, type Workload } from "../../machine/process.ts";
import { ToolError } from "../../machine/tool-error.ts";
import type { CountersConfig, ProfileConfig } from "../profiler-config.ts";
import { CUPTI_REMEDIES } from "../recorder/gpu-work.ts";
import { createRecorder } from "../recorder/recorder-collector.ts";
import type { CollectContext, Collection, Reread, RereadContext, ToolParts } from "../tool.ts";
import {
  type CounterValues,
  isSum,
  type LevelValues,
  modelOf,
  readCounterValues,
  VALUES_FILE,
} from "./counter-values.ts";
import {
  measuredTogether,
  type ProcessMeasurements,
  type RangeRules,
  readMeasurements,
} from "./read-measurements.ts";
import { writeCounterRequest } from "./request.ts";

/** @throws Error without `pipeline.counters`: it is enabled there */
export function countersOf({ pipeline }: Pick<ProfileConfig, "pipeline">): CountersConfig {
  if (pipeline.counters === undefined) throw new Error("pipeline.counters is not in the config");
  return pipeline.counters;
}

export const rulesOf = (config: ProfileConfig): RangeRules => {
  const { include, exclude } = countersOf(config);
  return {
    selection: { include: patternList(include), exclude: patternList(exclude) },
    operationDomains: config.pipeline.recorder.operation_domains,
  };
};

/** What is measured on which chip. */
interface Plan {
  readonly library: CounterLibrary;
  readonly chip: string;
  /** As the chip names them. */
  readonly metrics: readonly string[];
  readonly passes: number;
  /** Directory with the configuration of the chip. */
  readonly images: string;
}

export async function collectCounters(
  workload: Workload,
  context: CollectContext,
  parts: ToolParts,
): Promise<Collection> {
  const plan = await prepare(workload, context, parts);
  context.say(
    `counters: ${plural(plan.metrics.length, "metric")} in ${plural(plan.passes, "pass", "passes")} on ${plan.chip}; the program runs once for each`,
  );
  const { runs, levels, notes } = await runLevels(plan, workload, context, parts);
  const last = runs.find(isBroken) ?? runs.at(-1);
  if (last === undefined) throw new Error("the program runs at least once");
  const { chip, metrics, passes } = plan;
  const values: CounterValues = { chip, metrics, passes, levels };
  await writeFileAtomic(join(context.directory, VALUES_FILE), `${JSON.stringify(values)}\n`);
  const found = measuredOf(values, context.directory, parts.config, context.earlier);
  const failures = runs.flatMap(({ processes }) => failuresOf(processes));
  const nothing = levels.every(({ files }) => Object.keys(files).length === 0);
  const [failure] = failures;
  return {
    collector: "counters",
    measured: found.measured,
    source: { kind: "files", directory: ".", names: [VALUES_FILE] },
    outcome: last.collection.outcome,
    notes: [
      ...new Set([
        ...last.collection.notes,
        `read by CUPTI's Range Profiler on ${chip}, in ${plural(runs.length, "run")} of the program: ${plural(passes, "pass", "passes")}, ${levelsText(levels)}`,
        ...notes,
        ...(found.notes ?? []),
        ...failures.map((text) => `counters were not read: ${text}`),
      ]),
    ],
    ...problemOf(last.collection, nothing ? failure : undefined),
  };
}

/** What fails the run: its own problem, or that nothing was measured. */
export function problemOf(
  { problem }: Collection,
  failure: string | undefined,
): Pick<Collection, "problem"> {
  if (problem !== undefined) return { problem };
  if (failure === undefined) return {};
  return {
    problem: new ToolError({
      tool: "counters",
      code: "profile.collector",
      message: `no counters were read: ${failure}`,
      hint: "deep-profile doctor tells what the GPU and its driver allow",
    }),
  };
}

const levelsText = (levels: readonly LevelValues[]): string =>
  levels[0]?.level === 0
    ? "all levels of nesting at once, since each metric is a sum"
    : `${plural(levels.length, "level")} of nesting one by one, since not every metric is a sum`;

/** The library of metrics, and the chip of the device that is measured. */
export interface CounterTarget {
  readonly library: CounterLibrary;
  readonly chip: string;
}

/** @throws ToolError `profile.metric_library`, `profile.collector` */
export async function counterTarget(
  workload: Workload,
  { native }: Pick<ToolParts, "native">,
): Promise<CounterTarget> {
  const cupti = await probeCupti(thisMachine(process.env));
  if (cupti.state !== "ok")
    throw new ToolError({
      tool: "counters",
      code: "profile.metric_library",
      message: `CUPTI, which reads counters, was not found: ${cupti.detail}`,
      ...(cupti.hint !== undefined && { hint: cupti.hint }),
    });
  const library = openMetricLibrary({ program: native.chipMetrics, library: cupti.detail });
  const device = Number(/^cuda:(\d+)$/.exec(workload.device ?? "")?.[1] ?? 0);
  const chip = await library.chipOfDevice(device);
  if (chip === null)
    throw new ToolError({
      tool: "counters",
      code: "profile.collector",
      message: `the driver does not tell the chip of cuda:${device}, for which counters are configured`,
      hint: "deep-profile doctor tells what the GPU and its driver allow",
    });
  return { library, chip };
}

async function prepare(
  workload: Workload,
  { directory }: CollectContext,
  { config, native }: ToolParts,
): Promise<Plan> {
  const { library, chip } = await counterTarget(workload, { native });
  const metrics = await metricsOn({ library, chip }, countersOf(config).metrics);
  const images = join(directory, "configurations");
  makeDirectory(images);
  const passes = await library.configure(chip, join(images, `${chip}.config`), metrics);
  refuseFewerRuns(passes, metrics, countersOf(config).most_runs);
  return { library, chip, metrics, passes, images };
}

/** The first level of nesting takes all passes: with fewer runs nothing would be measured. */
function refuseFewerRuns(passes: number, metrics: readonly string[], most: number): void {
  if (passes <= most || metrics.every(isSum)) return;
  throw new ConfigError({
    code: "profile.unsupported",
    key: "pipeline.counters.most_runs",
    message: `the metrics take ${plural(passes, "run")} of the program for each level of nesting, and pipeline.counters.most_runs=${most} allows fewer`,
    hint: `pipeline.counters.most_runs=${passes}`,
  });
}

/** By the names that the chip has for them. @throws ConfigError `profile.metric` */
export async function metricsOn(
  { library, chip }: CounterTarget,
  wanted: readonly string[],
  way: CollectionWay = "ranges",
): Promise<readonly string[]> {
  const names = wanted.flatMap((metric) => [metric, otherName(metric) ?? metric]);
  const [described] = await library.describe([chip], [...new Set(names)], way);
  const metricsByName = new Map(described?.metrics.map((metric) => [metric.name, metric]));
  return wanted.map((metric) => {
    const other = otherName(metric);
    const found =
      metricsByName.get(metric) ?? (other === null ? undefined : metricsByName.get(other));
    if (found !== undefined && found.passes !== null) return found.name;
    throw new ConfigError({
      code: "profile.metric",
      key: `pipeline.counters.${way === "ranges" ? "metrics" : "timeline_metrics"}`,
      message:
        found === undefined
          ? `${chip} has no metric '${metric}'${way === "ranges" ? "" : " in samples of the whole device"}`
          : `'${metric}' can only be measured with a rollup, e.g. '${metric}.sum'`,
      hint: "ncu --query-metrics --chips lists the metrics of a chip",
    });
  });
}

interface CounterRun {
  readonly collection: Collection;
  readonly processes: readonly ProcessMeasurements[];
}

const isBroken = ({ collection }: CounterRun): boolean =>
  !succeeded(collection.outcome) || collection.problem !== undefined;

interface MeasuredLevels {
  readonly runs: readonly CounterRun[];
  readonly levels: readonly LevelValues[];
  readonly notes: readonly string[];
}

async function runLevels(
  plan: Plan,
  workload: Workload,
  context: CollectContext,
  parts: ToolParts,
): Promise<MeasuredLevels> {
  const most = countersOf(parts.config).most_runs;
  const runs: CounterRun[] = [];
  const levels: LevelValues[] = [];
  const notes: string[] = [];
  const isOnce = plan.metrics.every(isSum);
  let deepest = 1;
  for (let level = isOnce ? 0 : 1; level <= (isOnce ? 0 : deepest); level++) {
    if (levels.length > 0 && runs.length + plan.passes > most) {
      notes.push(
        `ranges below level ${level - 1} of ${deepest} have no counters: pipeline.counters.most_runs=${most} allows no further run; metrics that are sums need one run for all levels`,
      );
      break;
    }
    const levelRuns = await runPasses(level, plan, workload, context, parts);
    runs.push(...levelRuns.runs);
    notes.push(...levelRuns.notes);
    deepest = Math.max(
      deepest,
      ...levelRuns.runs.flatMap(({ processes }) => processes.map(({ depth }) => depth)),
    );
    const [broken] = levelRuns.runs.filter(isBroken);
    if (levelRuns.values !== null) levels.push(levelRuns.values);
    if (broken !== undefined || context.interrupt.stop.aborted) break;
  }
  return { runs, levels, notes };
}

/** Runs the program for each pass of a level. Values are null if not all passes were run. */
async function runPasses(
  level: number,
  plan: Plan,
  workload: Workload,
  context: CollectContext,
  parts: ToolParts,
): Promise<{
  readonly runs: readonly CounterRun[];
  readonly values: LevelValues | null;
  readonly notes: readonly string[];
}> {
  const rules = rulesOf(parts.config);
  const folderOf = (pass: number): string => join(`level-${level}`, `pass-${pass + 1}`);
  const resultsOf = (pass: number): string => join(context.directory, folderOf(pass), "results");
  const runs: CounterRun[] = [];
  for (let pass = 0; pass < plan.passes; pass++) {
    const directory = join(context.directory, folderOf(pass));
    makeDirectory(resultsOf(pass));
    const request = join(directory, "request");
    await writeCounterRequest(request, {
      ...{ level, pass, passes: plan.passes, metrics: plan.metrics, images: plan.images },
      mostRanges: countersOf(parts.config).most_ranges,
      results: resultsOf(pass),
      previous: pass === 0 ? null : resultsOf(pass - 1),
      ...rules,
    });
    const collection = await recorderFor(request, parts).collect(workload, {
      ...context,
      directory,
    });
    runs.push({ collection, processes: readMeasurements(directory, rules) });
    if (runs.some(isBroken) || context.interrupt.stop.aborted) break;
  }
  const last = runs.at(-1);
  if (last === undefined || runs.length < plan.passes) return { runs, values: null, notes: [] };
  const { files, notes } = await readValues(
    resultsOf(plan.passes - 1),
    runs.map(({ processes }) => processes),
    plan,
  );
  const recordings = folderOf(plan.passes - 1).replaceAll("\\", "/");
  return { runs, values: { level, recordings, files }, notes };
}

/** The recorder, which measures what the request says in place of the GPU's work. */
export const recorderFor = (request: string, { config, native }: ToolParts) =>
  createRecorder({
    library: native.regionRecorder,
    operationDomains: config.pipeline.recorder.operation_domains,
    gpu: config.pipeline.recorder.gpu === "on" ? "on" : "auto",
    cpu: "off",
    counters: request,
  });

/** The values of the ranges that each pass has measured. */
async function readValues(
  results: string,
  passes: readonly (readonly ProcessMeasurements[])[],
  { library, chip, metrics }: Plan,
): Promise<{ readonly files: LevelValues["files"]; readonly notes: readonly string[] }> {
  const files: Record<string, (readonly (number | null)[])[]> = {};
  const notes: string[] = [];
  if (passes.length > 1 && passes.some(measuredTogether))
    return {
      files,
      notes: [
        "several processes of the program measured at the same time, and which of them is which cannot be told from pass to pass, so that passes cannot be joined; metrics that fit one pass need no second run",
      ],
    };
  const complete = passes.map(completeFiles);
  for (const [file, { ranges, owner }] of complete.at(-1) ?? []) {
    const found = complete.map((pass) => pass.get(file));
    if (found.some((pass) => pass?.ranges !== ranges || pass.owner !== owner)) {
      const counts = found.map((pass) => pass?.ranges ?? 0);
      notes.push(
        `${file}: the program did not measure the same ranges in each pass (${counts.join(", ")}), so that they cannot be joined; metrics that fit one pass need no second run`,
      );
      continue;
    }
    const rows: (readonly (number | null)[])[] = Array.from({ length: ranges }, () => []);
    for (const { name, values } of await library.valuesIn(chip, join(results, file), metrics)) {
      // Of nested ranges the last one is the measured one.
      const number = Number(name.split("/").at(-1));
      if (Number.isSafeInteger(number) && number >= 1 && number <= ranges)
        rows[number - 1] = values;
    }
    files[file] = rows;
  }
  return { files, notes };
}

/**
 * By name of a file: how many ranges it has, and what tells of which process it is. Of several processes that is their order, and what
 * each measured; a single one may name its ranges anew in each run.
 */
function completeFiles(
  processes: readonly ProcessMeasurements[],
): ReadonlyMap<string, { readonly ranges: number; readonly owner: string }> {
  const measuring = processes.filter(({ files }) => files.size > 0);
  const ownerOf = ({ name, measurements }: ProcessMeasurements, index: number): string =>
    measuring.length === 1
      ? ""
      : JSON.stringify([
          ...[index, name],
          ...measurements.map(({ path }) => path.map((range) => [range.domain, range.name])),
        ]);
  return new Map(
    measuring.flatMap((process, index) => {
      const owner = ownerOf(process, index);
      return [...process.files].flatMap(([file, { complete }]) =>
        complete === null ? [] : [[file, { ranges: complete.ranges, owner }] as const],
      );
    }),
  );
}

/** Why there are no counters, with the remedy. */
export function failuresOf(processes: readonly ProcessMeasurements[]): readonly string[] {
  return processes.flatMap(({ failures, refusals }) => [
    ...refusals,
    ...failures.map(({ text, result }) => {
      const remedy = CUPTI_REMEDIES.get(result);
      return remedy === undefined ? text : `${text} (${remedy})`;
    }),
  ]);
}

/** The regions of kept values: at the end of a run, and when its files are read again. */
function measuredOf(
  values: CounterValues,
  directory: string,
  config: ProfileConfig,
  earlier: readonly Collection[],
  labels = config.labels,
): Pick<Reread, "measured" | "notes"> {
  const { model, notes } = modelOf(values, {
    directory,
    ...rulesOf(config),
    aggregate: config.pipeline.report.aggregate,
    recorded: recordedModel(earlier, config, labels),
    ...(labels && { labels }),
  });
  return { measured: { kind: "regions", model }, notes };
}

function recordedModel(
  earlier: readonly Collection[],
  config: ProfileConfig,
  labels: ProfileConfig["labels"],
): RegionModel | null {
  const recorded = earlier.find(({ collector }) => collector === "recorder")?.measured;
  if (recorded?.kind !== "timeline") return null;
  const { selection, operationDomains } = rulesOf(config);
  return buildRegionModel(recorded.timeline, {
    operationDomains,
    asked: selection,
    ...(labels && { labels }),
  });
}

export async function rereadCounters(
  directory: string,
  { config, earlier, labels }: Pick<RereadContext, "config" | "earlier" | "labels">,
): Promise<Reread> {
  return measuredOf(
    readCounterValues(directory),
    directory,
    config,
    earlier,
    labels ?? config.labels,
  );
}
