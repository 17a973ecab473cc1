/**
 * Which of the requested sections, sets and metrics this ncu and this GPU support, asked from ncu itself.
 * `--list-metrics` is not sufficient: it lists only the contents of enabled sections.
 */
import { nearest } from "../../../../engine/values/errors.ts";
import { otherName } from "../../../machine/metric-names.ts";
import { measuresTogether, metricsOf, type NcuCliConfig, namesOf } from "../../profiler-config.ts";
import { askNcu, type NcuCapabilities } from "./capabilities.ts";

export interface Available {
  /** Null: ncu did not answer, so nothing is omitted. */
  readonly sets: ReadonlySet<string> | null;
  readonly sections: ReadonlySet<string> | null;
  /** Base names such as `sm__throughput`. */
  readonly metrics: ReadonlySet<string> | null;
}

/**
 * @param chip ncu's name of the chip (`gh100`), if ncu cannot ask the driver; null asks about the GPUs of this machine
 */
export async function queryAvailable(
  { path, options, isElsewhere }: NcuCapabilities,
  chip: string | null = null,
): Promise<Available> {
  const ask = async (...args: string[]): Promise<string> =>
    options.has(args[0] ?? "") && isElsewhere === undefined
      ? (await askNcu(path, [...withoutConfigFile(options), ...args, "--csv"])).stdout
      : "";
  const [sets, sections, metrics] = await Promise.all([
    ask("--list-sets"),
    ask("--list-sections"),
    ask("--query-metrics", ...(chip === null ? [] : ["--chips", chip])),
  ]);
  return {
    sets: firstColumn(sets, "Identifier"),
    sections: firstColumn(sections, "Identifier"),
    metrics: firstColumn(metrics, "Metric name"),
  };
}

/** Ignores a stray config.ncu-cfg, which may name other sections than those that are measured. */
export const withoutConfigFile = (options: NcuCapabilities["options"]): readonly string[] =>
  options.has("--config-file") ? ["--config-file", "off"] : [];

/** Names of metrics that ncu may count per instruction of a kernel, or per source line. */
const MAY_BE_PER_INSTRUCTION = /sass_|inst_executed|^memory_/;

/**
 * Metrics that this ncu does not measure for ranges and whole graphs, asked from ncu itself: it refuses them before it starts the
 * program, which does nothing here, and names one at a time. So it is asked about all metrics repeatedly until it
 * accepts the remaining ones: with a GPU, accepted calls wait for each other.
 */
export async function queryRefused(
  { path, options, isElsewhere }: NcuCapabilities,
  cli: Pick<NcuCliConfig, "replay_mode" | "graph_profiling" | "metrics">,
): Promise<ReadonlySet<string>> {
  const { replay_mode, graph_profiling: graphs = null } = cli;
  const refused = new Set<string>();
  if (!measuresTogether(cli) || isElsewhere !== undefined) return refused;
  const left = new Set(metricsOf(cli).filter((metric) => MAY_BE_PER_INSTRUCTION.test(metric)));
  while (left.size > 0) {
    const metrics = ["--metrics", [...left].join(",")];
    const modes = [
      ...["--replay-mode", replay_mode],
      ...(graphs === null ? [] : ["--graph-profiling", graphs]),
    ];
    const args = [...withoutConfigFile(options), ...modes, ...metrics, "true"];
    const { stdout, stderr } = await askNcu(path, args);
    const [, named] = /Metric (\S+) is not supported/.exec(`${stdout}${stderr}`) ?? [];
    if (named === undefined || !left.delete(named)) return refused;
    refused.add(named);
  }
  return refused;
}

/** Names in the first column of a table; other columns are not read. The names contain no quotes. */
function firstColumn(csv: string, heading: string): ReadonlySet<string> | null {
  const cells = csv.split("\n").flatMap((line) => /^"([^"]*)"/.exec(line)?.slice(1) ?? []);
  const start = cells.indexOf(heading);
  const names = cells.slice(start + 1);
  return start < 0 || names.length === 0 ? null : new Set(names);
}

export interface Adapted {
  readonly config: NcuCliConfig;
  /** A note for each omission, with the reason and the nearest name. */
  readonly notes: readonly string[];
}

/**
 * The config without unavailable items.
 *
 * @param refused metrics that are not measured in the replay mode
 */
export function adaptToAvailable(
  config: NcuCliConfig,
  available: Available,
  { version }: Pick<NcuCapabilities, "version">,
  refused: ReadonlySet<string> = new Set(),
): Adapted {
  const notes: string[] = [];
  const keep = (
    what: string,
    names: readonly string[],
    available: ReadonlySet<string> | null,
    nameOf: (name: string) => string | null = (name) => name,
  ): readonly string[] =>
    names.filter((name) => {
      const base = nameOf(name);
      if (available === null || base === null || available.has(base)) return true;
      notes.push(`${what} '${name}' is left out: ${whyNot(what, version)}${near(base, available)}`);
      return false;
    });
  const unmeasured = metricsOf(config).filter((metric) => refused.has(metric));
  if (unmeasured.length > 0)
    notes.push(
      `ncu ${version} does not measure metrics counted per instruction ${config.graph_profiling === "graph" ? "of whole graphs" : `in ${config.replay_mode} replay`}; left out: ${unmeasured.join(", ")}`,
    );
  const measured = metricsOf(config)
    .filter((metric) => !refused.has(metric))
    .map((metric) => {
      const named = nameOnGpu(metric, available.metrics);
      if (named !== metric) notes.push(`metric '${metric}' is '${named}' on this GPU`);
      return named;
    });
  return {
    config: {
      ...config,
      set: keep("set", namesOf(config.set), available.sets),
      sections: keep("section", namesOf(config.sections), available.sections, sectionName),
      metrics: keep("metric", [...new Set(measured)], available.metrics, metricBase),
    },
    notes,
  };
}

/** The metric's name on a GPU that has it by another one. */
function nameOnGpu(metric: string, available: ReadonlySet<string> | null): string {
  const other = otherName(metric);
  const has = (name: string) => available?.has(metricBase(name) ?? "") ?? false;
  return other !== null && !has(metric) && has(other) ? other : metric;
}

const whyNot = (what: string, version: string): string =>
  what === "metric"
    ? `ncu ${version} has no such metric for this GPU`
    : `ncu ${version} has no such ${what}`;

/** Regular expressions are left to ncu. */
const sectionName = (section: string): string | null =>
  section.startsWith("regex:") ? null : section;

/**
 * Metrics that `--query-metrics` never lists, because it lists counters of the GPU: expressions and groups, and
 * according to the Profiling Guide ("Metrics Reference") metrics of the launch, of the device and its links, of
 * samples, of source lines, metrics derived by sections, and those of the profiler itself.
 */
const UNLISTED = new RegExp(
  [
    "(?:regex|group|breakdown|pmsampling):",
    "(?:launch|device|nvlink|numa|sass|derived|profiler)__",
    "smsp__(?:pcsamp|branch_targets_threads_|sass_inst_executed_memdesc_explicit_evict_type)",
    "memory_(?:access_|l1_|l2_|type$)",
    "(?:branch_|thread_)?inst_executed(?:_true)?$",
  ]
    .map((names) => `^${names}`)
    .join("|"),
);

/**
 * The name that `--query-metrics` lists: without the rollup and its suffixes. Null for a metric that it never lists.
 */
const metricBase = (metric: string): string | null =>
  UNLISTED.test(metric)
    ? null
    : metric.replace(/\.(?:sum|avg|min|max|pct|ratio|max_rate|sum_rate)(?:\..*)?$/, "");

function near(name: string, available: ReadonlySet<string>): string {
  const found = nearest(name, [...available]);
  return found === undefined ? "" : ` (nearest: ${found})`;
}
