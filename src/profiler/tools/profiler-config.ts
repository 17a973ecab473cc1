/** The configuration as the profiler reads it. Its types are made from the schema against which it was checked. */
import type { LabelRules } from "../analysis/labels.ts";
import type { DeepProfileConfiguration } from "./profiler-config-types.ts";

/** The composed and validated configuration: a plain object. */
export type ProfileConfig = Omit<DeepProfileConfiguration, "args" | "labels" | "runners"> & {
  /** Rules that unify labels, for all collectors. Absent in older runs, and in trees without such rules. */
  readonly labels?: LabelRules;
};

/** `workload`: the program to profile. */
export type WorkloadConfig = ProfileConfig["workload"];

/** `model`: the shape of the built-in model. */
export type ModelConfig = ProfileConfig["model"];

/** `infer`: how the built-in model runs. */
export type InferConfig = ProfileConfig["infer"];

/** `pipeline`: the collectors to run, and the reports to write. */
export type PipelineConfig = ProfileConfig["pipeline"];

/** `pipeline.nsys`; keys are flags of `nsys profile`. */
export type NsysSettings = PipelineConfig["nsys"];

/** `pipeline.counters`. */
export type CountersConfig = NonNullable<PipelineConfig["counters"]>;

/** `pipeline.ncu`; keys below `ncu_cli` are options of ncu. */
export type NcuConfig = PipelineConfig["ncu"];

/** ncu's own options, one to one; null leaves an option to ncu. */
export type NcuCliConfig = NcuConfig["ncu_cli"];

/** What ncu replays to measure it: a kernel or range in place, or the whole program. */
export type ReplayMode = NcuCliConfig["replay_mode"];

export const isRangeMode = (mode: ReplayMode): boolean => mode === "range" || mode === "app-range";

/** Whether ncu measures several kernels as one: ranges, or whole graphs. */
export const measuresTogether = ({
  replay_mode,
  graph_profiling,
}: Pick<NcuCliConfig, "replay_mode" | "graph_profiling">): boolean =>
  isRangeMode(replay_mode) || graph_profiling === "graph";

/** One name, several, or none. */
export type Names = string | readonly string[] | null;

/** The single metrics: ncu itself takes a text with commas. */
export const metricsOf = ({ metrics }: Pick<NcuCliConfig, "metrics">): readonly string[] =>
  namesOf(metrics)
    .flatMap((names) => names.split(","))
    .map((name) => name.trim())
    .filter((name) => name !== "");

/** One name, a list of names, or none, as a list. */
export const namesOf = (names: Names): readonly string[] =>
  names === null ? [] : typeof names === "string" ? [names] : names;
