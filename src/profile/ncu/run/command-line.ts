import type { NcuCliConfig } from "../../config/ncu-config.ts";
import type { Workload } from "../../workload/workload.ts";
import type { NcuCapabilities } from "./capabilities.ts";
import { configArguments } from "./cli-options.ts";
import type { Pass } from "./pass-plan.ts";
import { fitOptions } from "./response-file.ts";

export interface PassFiles {
  /** Without `.ncu-rep`, which ncu adds. */
  readonly report: string;
  readonly log: string;
  /** For options that are too long for a command line. */
  readonly options: string;
}

export interface PassCommand {
  readonly argv: readonly string[];
  /** What `PassFiles.options` must hold before this runs; null: nothing. */
  readonly options: string | null;
}

/**
 * The command line of one pass. What differs between versions of ncu, or hangs on files that lie
 * around, is said explicitly: the same config gives the same measurement everywhere.
 *
 * @throws ConfigError `profile.ncu` where its options are longer than a command line can be
 */
export function passCommand(
  pass: Pass,
  files: PassFiles,
  { config, ncu, workload }: { config: NcuCliConfig; ncu: NcuCapabilities; workload: Workload },
): PassCommand {
  const isGiven = (option: string) =>
    config.extra_args.some((given) => given === option || given.startsWith(`${option}=`));
  /** Of what ncu takes once, the user's own word counts. */
  const pinned = (option: string, value: string) =>
    ncu.options.has(option) && !isGiven(option) ? [option, value] : [];
  const { options, text } = fitOptions(
    [
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
    ],
    files.options,
  );
  return { argv: [ncu.path, ...options, ...workload.argv], options: text };
}

/** ncu replaces `%p`, `%h` and others in the path of a report, and there alone. */
const literalPath = (path: string): string => path.replaceAll("%", "%%");
