/** `pipeline.nsys.extra_args`: what nsys must not be told there. */
import { ConfigError } from "../../../values/errors.ts";
import type { NsysSettings } from "../../config/nsys-settings.ts";

interface OwnOption {
  readonly short?: string;
  /** What to do instead. */
  readonly instead: string;
}

/** What the command line has already, by its long name: nsys takes every option once. */
const OWN_OPTIONS: ReadonlyMap<string, OwnOption> = new Map([
  [
    "--output",
    {
      short: "-o",
      instead: "the report is written to the run directory; change that with hydra.run.dir",
    },
  ],
  [
    "--force-overwrite",
    {
      short: "-f",
      instead: "it is always given; set hydra.run.dir to choose the report's directory",
    },
  ],
  ["--trace", { short: "-t", instead: "use pipeline.nsys.trace" }],
  ["--sample", { short: "-s", instead: "use pipeline.nsys.sample" }],
  ["--cuda-graph-trace", { instead: "use pipeline.nsys.cuda_graph_trace" }],
  ["--capture-range", { short: "-c", instead: "use pipeline.nsys.capture_range" }],
  ["--capture-range-end", { instead: "use pipeline.nsys.capture_range_end" }],
  ["--nvtx-capture", { short: "-p", instead: "use pipeline.nsys.nvtx_capture" }],
]);

/**
 * Refuses before anything runs what nsys would refuse after the run was set up, or what would take the report away.
 *
 * @throws ConfigError `profile.nsys_option`
 */
export function checkExtraOptions({ extra_args }: Pick<NsysSettings, "extra_args">): void {
  const key = "pipeline.nsys.extra_args";
  for (const argument of extra_args) {
    const own = ownOption(argument);
    if (own === undefined) continue;
    const [name, { instead }] = own;
    throw new ConfigError({
      code: "profile.nsys_option",
      key,
      message: `${key}: ${name} cannot be given`,
      hint: instead,
    });
  }
}

/** Whether the extra arguments give this option. */
export const givesOption = (
  { extra_args }: Pick<NsysSettings, "extra_args">,
  name: string,
): boolean => extra_args.some((argument) => writtenName(argument) === name);

/** `--name` of `--name=value`, `-o` of `-ofile`. */
const writtenName = (argument: string): string =>
  /^-[a-zA-Z]/.test(argument) ? argument.slice(0, 2) : (argument.split("=")[0] ?? argument);

/** nsys takes beginnings of names, too: one that is also another option's is ambiguous, and refused by it. */
function ownOption(argument: string): readonly [string, OwnOption] | undefined {
  const written = writtenName(argument);
  const isLong = /^--[a-z]/.test(written);
  return [...OWN_OPTIONS].find(([name, { short }]) =>
    isLong ? name.startsWith(written) : short === written,
  );
}
