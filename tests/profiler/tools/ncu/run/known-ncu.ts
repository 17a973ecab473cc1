import { ConfigError } from "../../../../../src/engine/values/errors.ts";
import {
  type NcuCapabilities,
  readHelp,
} from "../../../../../src/profiler/tools/ncu/run/capabilities.ts";
import { checkOptions } from "../../../../../src/profiler/tools/ncu/run/cli-options.ts";
import type { NcuCliConfig } from "../../../../../src/profiler/tools/profiler-config.ts";
import { cliConfig } from "./cli-config.ts";

const HELP = `usage: ncu [options] [program] [program-arguments]

General Options:
  -h [ --help ]                         Print this help message.
  --config-file arg (=1)                Use config.ncu-cfg config file to set parameters.
  --target-processes arg (=all)         Select the processes you want to profile:
                                          application-only
                                          all
  --replay-mode arg (=kernel)           Mechanism used for replaying a kernel launch:
                                          kernel (default)
                                          application
                                          range
                                          app-range
  --set arg                             Identifier of section set to collect.
  --section arg                         Collect the section.
  --metrics arg                         Specify all metrics to be profiled.
  -k [ --kernel-name ] arg              Filter the kernel.
  --kernel-name-base arg (=function)    function
  -c [ --launch-count ] arg             Limit the number.
  -s [ --launch-skip ] arg (=0)         Set the number.
  --cache-control arg (=all)            all
                                        none
  --clock-control arg (=base)           base
                                        none
                                        reset
  --range-replay-options arg            Range replay options.
  --app-replay-match arg (=grid)        grid
  --app-replay-mode arg (=strict)       strict
                                        relaxed
  --rename-kernels arg (=on)            on/off
  --filter-mode arg (=global)           global
                                        per-gpu
                                        per-launch-config
  --graph-profiling arg (=node)         node
                                        graph
`;

/** An ncu with the options that the tests name. */
export const ncu: NcuCapabilities = { path: "/opt/ncu", version: "2026.1.0", ...readHelp(HELP) };
/** What is said of a config that is not what the tests start from. */
export function refusalOf(config: Partial<NcuCliConfig>): ConfigError["details"] {
  try {
    checkOptions({ ...cliConfig, ...config }, ncu);
  } catch (error) {
    if (error instanceof ConfigError) return error.details;
    throw error;
  }
  throw new Error("nothing was refused");
}
