/**
 * How often the work runs for what is requested, before anything runs: NVIDIA's library of metrics counts the passes on a chip.
 * Sections and sets count where the installed ncu tells which metrics they have.
 */
import { isCodedError } from "../../../../engine/values/errors.ts";
import { plural } from "../../../../foundation/text/plural.ts";
import { type ChipMetrics, unknownChip } from "../../../machine/chip-metrics.ts";
import { withOtherNames } from "../../../machine/metric-names.ts";
import type { MetricSource } from "../../../machine/metric-source.ts";
import { metricsOf, type NcuCliConfig, namesOf, type ReplayMode } from "../../profiler-config.ts";
import { withoutConfigFile } from "./availability.ts";
import { askNcu, type NcuCapabilities } from "./capabilities.ts";

export interface ReplayQuestion {
  readonly cli: NcuCliConfig;
  readonly ncu: NcuCapabilities;
  /** `cuda:N`; null: the program chooses. */
  readonly device: string | null;
  /** NVIDIA's name of the chip in any case; null: that of the device. */
  readonly chip: string | null;
}

/** One chip of each generation whose passes differ, for plans of another machine. */
const COMMON_CHIPS = ["GA100", "GA102", "AD102", "GH100", "GB100", "GB202"];

/**
 * One line: `each kernel takes at least 9 passes on GH100`. Null if nothing that is requested is known.
 *
 * @throws ConfigError `profile.chip` for a chip that was requested and is not known
 */
export async function replayNote(
  question: ReplayQuestion,
  source: MetricSource,
): Promise<string | null> {
  const { chip } = question;
  if (chip === null) {
    try {
      return await noteOf(question, source, await chipsOf(question, source));
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return `how often the work runs is not known: ${error.message}`;
    }
  }
  const chipNames = await source.chips();
  const name = chipNames.find((candidate) => candidate.toLowerCase() === chip.toLowerCase());
  if (name === undefined) throw unknownChip(chip, chipNames);
  return noteOf(question, source, [name]);
}

async function chipsOf(
  { device }: ReplayQuestion,
  { library, chips }: MetricSource,
): Promise<readonly string[]> {
  const index = Number(/^cuda:(\d+)$/.exec(device ?? "cuda:0")?.[1]);
  const here = library === null ? null : await library.chipOfDevice(index);
  if (here !== null) return [here];
  const chipNames = new Set(await chips());
  return COMMON_CHIPS.filter((chip) => chipNames.has(chip));
}

async function noteOf(
  { cli, ncu }: ReplayQuestion,
  { describe, library }: MetricSource,
  chips: readonly string[],
): Promise<string | null> {
  // For hundreds of metrics the library takes half a second a chip: only for the one that is meant.
  const listedByNcu = library === null || chips.length > 1 ? null : await expand(cli, ncu);
  const requested = (listedByNcu ?? metricsOf(cli)).filter((metric) => !IS_FREE.test(metric));
  const counted = requested.filter((metric) => !NEEDS_OWN_PASSES.test(metric));
  if (counted.length === 0) return null;
  const answers = await describe(chips, withOtherNames(counted));
  const hasSections = namesOf(cli.set).length + namesOf(cli.sections).length > 0;
  const isLeast =
    counted.length < requested.length ||
    (hasSections && listedByNcu === null) ||
    answers.some(({ metrics }) => library === null && metrics.length < counted.length);
  const text = countsText(answers, isLeast ? "at least " : "");
  if (text === "") return null;
  const without =
    hasSections && listedByNcu === null ? "; what sections and sets add is not counted" : "";
  const replayed =
    cli.graph_profiling === "graph" ? "each kernel or graph" : REPLAYED[cli.replay_mode];
  return `${replayed} takes ${text}${without}`;
}

const REPLAYED: Readonly<Record<ReplayMode, string>> = {
  kernel: "each kernel",
  range: "each range",
  application: "the program",
  "app-range": "the program",
};

/** `at least 6 passes on GA100; 7 on GA102, AD102`. */
function countsText(answers: readonly ChipMetrics[], least: string): string {
  const byPasses = new Map<number, string[]>();
  for (const { chip, passes } of answers)
    if (passes !== null) byPasses.set(passes, [...(byPasses.get(passes) ?? []), chip]);
  return [...byPasses]
    .sort(([a], [b]) => a - b)
    .map(([passes, chips], index) => {
      const count = index > 0 ? String(passes) : `${least}${plural(passes, "pass", "passes")}`;
      return `${count} on ${chips.join(", ")}`;
    })
    .join("; ");
}

/** Properties of the launch and of the device, and what is computed from other metrics. */
const IS_FREE = /^(?:launch|device|nvlink|numa|derived|profiler)__/;

/** What ncu counts by changing the kernel's instructions, or samples. */
const NEEDS_OWN_PASSES =
  /^(?:sass__|memory_|inst_executed|thread_inst|branch_|pmsampling:|group:|regex:)|__pcsamp|__branch_targets/;

/** The metrics of the sections and sets, and those requested; null if ncu does not tell. */
async function expand(cli: NcuCliConfig, ncu: NcuCapabilities): Promise<readonly string[] | null> {
  const { path, options, isElsewhere } = ncu;
  if (isElsewhere !== undefined || !options.has("--list-metrics")) return null;
  const repeated = (flag: string, names: readonly string[]) =>
    names.flatMap((name) => [flag, name]);
  const metrics = metricsOf(cli);
  const sections = [
    ...repeated("--set", namesOf(cli.set)),
    ...repeated("--section", namesOf(cli.sections)),
  ];
  if (sections.length === 0 && metrics.length > 0) return metrics;
  const { stdout } = await askNcu(path, [
    ...withoutConfigFile(options),
    "--list-metrics",
    ...sections,
  ]);
  const names = [...stdout.matchAll(/^(?:breakdown:)?([a-z][\w:.]*)\s*$/gm)].flatMap(
    ([, name = ""]) => (name === "" ? [] : [name]),
  );
  return names.length === 0 ? null : [...new Set([...names, ...metrics])];
}
