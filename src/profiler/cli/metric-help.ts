/** `--help METRIC` and the completion of metric names: what NVIDIA's library says, or what it once said. */
import picocolors from "picocolors";
import { ConfigError, nearest } from "../../engine/values/errors.ts";
import type { DescribedMetrics, MetricLibrary } from "../machine/chip-metrics.ts";
import { type Machine, thisMachine } from "../machine/doctor/machine.ts";
import { otherName } from "../machine/metric-names.ts";
import { type MetricSource, openReadyMetricSource } from "../machine/metric-source.ts";
import { RECORDED_METRICS } from "../machine/recorded-metrics.ts";

interface Surroundings {
  readonly env: Machine["env"];
  /** Whether the text has colours. */
  readonly color: boolean;
}

/**
 * The text of `--help METRIC`: what it counts, its unit, the chips that have it, and in how many passes each measures it, in
 * ranges and at an interval.
 *
 * @throws ConfigError `profile.metric` for a metric that no chip has, with the nearest name
 */
export async function metricHelp(name: string, { env, color }: Surroundings): Promise<string> {
  const source = await openReadyMetricSource(thisMachine(env));
  const [base = name] = name.split(".");
  const chips = await source.chips();
  const answers = await source.describe(chips, [name]);
  const having = answers.filter(({ metrics }) => metrics.length > 0);
  const [first] = having;
  const metric = first?.metrics[0];
  if (first === undefined || metric === undefined) throw await noSuchMetric(name, source);
  const rollups = name === base ? await rollupsOf(base, first.chip, source.library) : [];
  const sampled = (await source.library?.describe(chips, [name], "samples")) ?? [];
  const described = metric as Partial<DescribedMetrics["metrics"][number]>;
  const lacking = answers.filter(({ metrics }) => metrics.length === 0);
  const other = otherName(name);
  const rows: readonly (readonly [string, string])[] = [
    ["counts", described.description ?? ""],
    ["unit", metric.unit],
    ["passes", passesText(having)],
    ["sampled", name === base ? "" : sampledText(sampled)],
    ["not on", lacking.map(({ chip }) => chip).join(", ")],
    ["there", other === null || lacking.length === 0 ? "" : `${other} on some of those`],
    ["rollups", rollups.join(", ")],
    [
      "from",
      source.library === null ? "a record of CUDA 13.0: no CUPTI of 12.6 or newer was found" : "",
    ],
  ];
  const { bold, dim } = picocolors.createColors(color);
  const shown = rows.filter(([, text]) => text !== "");
  const width = Math.max(...shown.map(([label]) => label.length));
  const lines = shown.map(([label, text]) => `  ${dim(label.padEnd(width))}  ${text}`);
  return `${[bold(name), ...lines].join("\n")}\n`;
}

/** `1 on GV100, TU102; 8 on GH100`, to measure it alone. */
function passesText(answers: readonly DescribedOrRecorded[]): string {
  const chipsOf = new Map<number, string[]>();
  for (const { chip, metrics } of answers) {
    const passes = metrics[0]?.passes ?? null;
    if (passes !== null) chipsOf.set(passes, [...(chipsOf.get(passes) ?? []), chip]);
  }
  return chipsOf.size === 0
    ? "none without a rollup"
    : [...chipsOf]
        .sort(([a], [b]) => a - b)
        .map(([passes, chips]) => `${passes} on ${chips.join(", ")}`)
        .join("; ");
}

/** The passes of PM Sampling, as `passesText`; empty if nothing is known of it. */
function sampledText(answers: readonly DescribedOrRecorded[]): string {
  if (answers.length === 0) return "";
  const isKnown = answers.some(({ metrics }) => (metrics[0]?.passes ?? null) !== null);
  return isKnown
    ? `${passesText(answers)}: passes at an interval, where one is all that there is (pipeline.counters.timeline)`
    : "not at an interval (pipeline.counters.timeline)";
}

type DescribedOrRecorded = Awaited<ReturnType<MetricSource["describe"]>>[number];

async function rollupsOf(base: string, chip: string, library: MetricLibrary | null) {
  const kinds = (await library?.names(chip)) ?? [];
  return kinds.find(({ names }) => names.includes(base))?.rollups ?? [];
}

async function noSuchMetric(name: string, { library }: MetricSource): Promise<ConfigError> {
  const [base = name, ...rollup] = name.split(".");
  const names = await knownNames(library);
  const near = nearest(base, names) ?? undefined;
  const whole = near === undefined ? undefined : [near, ...rollup].join(".");
  return new ConfigError({
    code: "profile.metric",
    message:
      near === base
        ? `'${base}' has no rollup '.${rollup.join(".")}'`
        : `no chip that is known here has a metric '${name}'`,
    ...(near !== base && whole !== undefined && { nearest: whole }),
    hint:
      near === base
        ? `deep-profile --help ${base} lists its rollups`
        : "ncu --query-metrics --chips CHIP lists those of a chip",
  });
}

/** Names without rollups: of recent chips of each generation, or those of the record. */
async function knownNames(library: MetricLibrary | null): Promise<readonly string[]> {
  if (library === null)
    return [
      ...new Set(Object.keys(RECORDED_METRICS.metrics).map((name) => name.split(".")[0] ?? name)),
    ];
  const chips = await library.chips();
  const recent = ["GA102", "GH100", "GB202"].filter((chip) => chips.includes(chip));
  const kinds = await Promise.all(recent.map((chip) => library.names(chip)));
  return [...new Set(kinds.flat().flatMap(({ names }) => names))];
}

/** Names for completion: base names, and the rollups of the one that was typed. Never throws: a shell shows no error. */
export async function metricsBeginning(
  typed: string,
  { env }: Pick<Surroundings, "env">,
): Promise<readonly string[]> {
  try {
    const { library } = await openReadyMetricSource(thisMachine(env));
    if (library === null)
      return Object.keys(RECORDED_METRICS.metrics).filter((name) => name.startsWith(typed));
    const [base = ""] = typed.split(".");
    if (typed.includes(".")) {
      const chips = await library.chips();
      const recent = ["GH100", "GB202", "GA102"].filter((chip) => chips.includes(chip));
      for (const chip of recent) {
        const rollups = await rollupsOf(base, chip, library);
        if (rollups.length > 0)
          return rollups
            .map((rollup) => `${base}${rollup}`)
            .filter((name) => name.startsWith(typed));
      }
      return [];
    }
    const names = await knownNames(library);
    return names
      .filter((name) => name.startsWith(typed) && !name.includes("."))
      .map((name) => `${name}.`);
  } catch {
    return [];
  }
}
