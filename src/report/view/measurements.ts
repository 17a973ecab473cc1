/** Command lines for measurements that would tell more than a report does. */
import { shellQuote } from "../../foundation/text/shell-words.ts";
import type {
  NCUProfileRegion,
  NCUProfileRegionReport,
  RegionReportBundle,
} from "../model/document.ts";
import { speedOfLight } from "./gpu-utilization.ts";

export interface Measurement {
  readonly why: string;
  readonly command: string;
}

/** A label that neither a shell nor the override language requires to be quoted. */
const PLAIN = /^[A-Za-z_][\w.-]*$/;

/** GPUs that NVIDIA's tools do not measure. */
const OF_OTHERS = /\b(?:AMD|Instinct|Radeon|Intel)\b/i;

export function measurementsOf(
  report: NCUProfileRegionReport,
  byGpu: readonly { readonly region: NCUProfileRegion }[],
  beside: readonly RegionReportBundle[],
): readonly Measurement[] {
  const { collector, totals, environment, regions } = report;
  const workload = workloadWords(environment);
  const profile = (options: readonly string[], words = workload) =>
    ["deep-profile", ...options, ...words].join(" ");
  const others = beside.flatMap(({ reports: [main] }) => main?.collector.name ?? []);
  const ofKernels = collector.kernel_clock === "gpu";
  const hasCounters =
    others.includes("ncu") || regions.some((region) => speedOfLight(region) !== null);
  const isOfOthers =
    environment.gpus.length > 0 && environment.gpus.every((gpu) => OF_OTHERS.test(gpu));
  const top = byGpu.find(({ region }) => region.kind !== "outside")?.region.name ?? "";
  const include = PLAIN.test(top) ? [`pipeline.ncu.ncu_cli.nvtx.include=${top}`] : [];
  return [
    ...(ofKernels && !hasCounters && !isOfOthers
      ? [
          {
            why: "what limits the kernels: hardware counters",
            command: profile(["pipeline.ncu.enable=true", ...include]),
          },
        ]
      : []),
    ...(collector.name === "ncu" && totals.run === undefined && others.length === 0
      ? [
          {
            why: "how long ranges are open, when kernels and copies run: a recording without counters",
            command: profile([]),
          },
        ]
      : []),
    ...(collector.name !== "ncu" &&
    regions.length > 0 &&
    regions.every(({ repeats }) => repeats === undefined)
      ? [
          {
            why: "how sure these times are: one run does not tell how much they vary",
            command: profile(["repeats=5"], onRanks(report) ?? workload),
          },
        ]
      : []),
  ];
}

type ProgramEnvironment = Pick<NCUProfileRegionReport["environment"], "command" | "overrides">;

/** What starts the program again: the overrides that the user typed for it, or its command line. */
const workloadWords = ({ command, overrides }: ProgramEnvironment): readonly string[] =>
  overrides === undefined ? ["--", ...programWords(command)] : overrides.map(shellQuote);

const programWords = (command: readonly string[]): readonly string[] =>
  command.length === 0 ? ["PROG", "ARG..."] : command.map(shellQuote);

/** Several ranks can record one run, but only a single process repeats it, which then starts the ranks itself; null for no ranks. */
function onRanks({
  ranks = [],
  environment: { command },
}: NCUProfileRegionReport): readonly string[] | null {
  if (ranks.length < 2 || LAUNCHER.test(command[0] ?? "")) return null;
  return ["--", "mpirun", "-n", String(ranks.length), ...programWords(command)];
}

const LAUNCHER = /(?:^|\/)(?:mpirun|mpiexec|orterun|prterun|srun|jsrun|flux|torchrun)[^/]*$/;
