import type { Workload } from "../../workload/workload.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { configArguments } from "./cli-options.ts";
import type { NcuCliConfig } from "./ncu-config.ts";
import type { Pass } from "./pass-plan.ts";

export interface PassFiles {
  /** Without `.ncu-rep`, which ncu adds. */
  readonly report: string;
  readonly log: string;
}

/**
 * The command line of one pass. What differs between versions of ncu, or hangs on files that lie
 * around, is said explicitly: the same config gives the same measurement everywhere.
 */
export function passCommand(
  pass: Pass,
  files: PassFiles,
  { config, ncu, workload }: { config: NcuCliConfig; ncu: NcuCapabilities; workload: Workload },
): readonly string[] {
  const isGiven = (option: string) =>
    config.extra_args.some((given) => given === option || given.startsWith(`${option}=`));
  /** Of what ncu takes once, the user's own word counts. */
  const pinned = (option: string, value: string) =>
    ncu.options.has(option) && !isGiven(option) ? [option, value] : [];
  return [
    ncu.path,
    ...pinned("--config-file", "off"),
    ...pinned("--rename-kernels", "off"),
    ...configArguments({ ...config, replay_mode: pass.mode }),
    // Without it ncu records no ranges, and nothing could be attributed.
    "--nvtx",
    ...pass.include.flatMap((expression) => ["--nvtx-include", expression]),
    ...pass.exclude.flatMap((expression) => ["--nvtx-exclude", expression]),
    "--export",
    literalPath(files.report),
    ...(config.force_overwrite ? ["--force-overwrite"] : []),
    "--log-file",
    files.log,
    ...workload.argv,
  ];
}

/** ncu replaces `%p`, `%h` and others in the path of a report, and there alone. */
const literalPath = (path: string): string => path.replaceAll("%", "%%");
