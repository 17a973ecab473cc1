import type { CommandLine } from "../../command-line/command-line.ts";
import { COLLECTOR_NAMES } from "../collection/collector-names.ts";
import { subcommand } from "./subcommand.ts";

export const COMMAND: CommandLine = {
  name: "deep-profile compare",
  takes: { shown: "A B", expected: "two runs or reports", least: 2, most: 2 },
  about: `Compares two runs, A before and B after a change. Each is a run directory, the folder of a collector
in it, or a report.json. Regions are matched by their paths, kernels by their names. Differences
within the spread of a region's calls are called unclear.`,
  options: {
    "fail-on": {
      value: "CONDITIONS",
      repeatable: true,
      help: `exit with 3 if a condition holds, e.g. 'total_ms>5%' (all kernels together),
'region:stem.kernel_count>0', 'kernel:*gemm*.total_ms>=0.1'; separated by commas`,
    },
    strict: {
      help: `also fail limits that are exceeded only within the noise, and those that a selection
leaves unchecked`,
    },
    "allow-failed": {
      help: `also check conditions against a run that failed, which is otherwise an error, since
what a run did not reach looks faster`,
    },
    collector: { value: "NAME", choices: COLLECTOR_NAMES, help: "if the runs have several" },
    scope: { value: "SCOPE", help: "e.g. process:4711 or device:cuda:0\n(default: the aggregate)" },
    regions: {
      value: "N",
      help: "regions to list; of more, those that changed\n(default: 60)",
    },
    kernels: { value: "N", help: "kernels to list (default: 10)" },
    json: { help: "print everything as JSON" },
    markdown: { help: "print Markdown, for a pull request" },
    html: { value: "FILE", help: "also write an HTML page" },
  },
  epilogue: `Numbers: total_ms, exclusive_ms, wall_ms, wall_exclusive_ms, median_ms, p95_ms, kernel_count,
invocations, outside_ms, region_count, calls (of kernels), and metrics by their names; of regions
gpu_busy_pct and gpu_busy_ms, gpu_kernel_ms, gpu_copy_ms, gpu_overlap_ms; of kernels sm_pct,
memory_pct, tensor_pct, occupancy_pct, occupancy_limit_pct.

Exit code: 0 no condition holds, 1 something cannot be read, 2 wrong usage, 3 a condition holds.`,
};

/** `deep-profile compare`. */
export const runCompare = subcommand(COMMAND, async (command, io) =>
  (await import("./compare-runs.ts")).compareRuns(command, io),
);
