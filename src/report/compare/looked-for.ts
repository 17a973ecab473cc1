/**
 * What a report's selections take. What they leave out was not looked for: of a region that one report
 * shows and the other one did not look for, nobody can say that it is new, or gone.
 */
import type { KernelRecord, NCUProfileRegionReport, RegionSelection } from "../document.ts";
import { domainAt, type Ranged } from "../region-path.ts";
import { comparableName } from "../selection/comparable-name.ts";
import { nameOf } from "../selection/kernel-name.ts";
import { parseKernelPattern } from "../selection/kernel-pattern.ts";
import { matchesRange, parseRangePattern, type RangePattern } from "../selection/range-pattern.ts";

export interface LookedFor {
  readonly region: (region: Ranged) => boolean;
  readonly kernel: (kernel: Pick<KernelRecord, "kernel_name" | "kind">) => boolean;
  /** What selected regions, in words; empty where nothing did. */
  readonly regionWords: string;
  /** The same of kernels. */
  readonly kernelWords: string;
}

/**
 * @throws ConfigError `profile.input` for an expression over names of kernels that is none
 */
export function lookedFor({ regions }: NCUProfileRegionReport): LookedFor {
  // The selection is one of the run: all its regions have the same.
  const selection = regions[0]?.selection;
  if (selection === undefined) return EVERYTHING;
  const { include_patterns, exclude_patterns, kernel_top_names } = selection;
  const { kernel_include_patterns = [], kernel_exclude_patterns = [] } = selection;
  return {
    region: regionFilter(selection),
    kernel: kernelFilter(selection),
    regionWords: inWords(include_patterns, exclude_patterns),
    kernelWords: inWords(
      kernel_include_patterns,
      kernel_exclude_patterns,
      kernel_top_names === undefined ? [] : [`the longest ${kernel_top_names.length}`],
    ),
  };
}

const EVERYTHING: LookedFor = {
  region: () => true,
  kernel: () => true,
  regionWords: "",
  kernelWords: "",
};

/** By the ranges on the path, as regions are selected. What ran outside of ranges is not. */
function regionFilter({ include_patterns, exclude_patterns }: RegionSelection) {
  const include = include_patterns.map(parseRangePattern);
  const exclude = exclude_patterns.map(parseRangePattern);
  if (include.length + exclude.length === 0) return EVERYTHING.region;
  return (region: Ranged): boolean => {
    if (region.kind === "outside") return true;
    const isOnPath = (patterns: readonly RangePattern[], whereUnknown: boolean) =>
      region.path.some((name, level) => {
        const domain = domainAt(region, level);
        return patterns.some((pattern) =>
          domain === null && pattern.domain !== null
            ? whereUnknown && matchesRange({ ...pattern, domain: null }, "", name)
            : matchesRange(pattern, domain ?? "", name),
        );
      });
    // Where a domain is not known, the doubt is the selection's: a gate must not pass by it.
    return (include.length === 0 || isOnPath(include, true)) && !isOnPath(exclude, false);
  };
}

function kernelFilter(selection: RegionSelection): LookedFor["kernel"] {
  const { kernel_include_patterns = [], kernel_exclude_patterns = [] } = selection;
  const { kernel_name_base: base = "function", kernel_top_names } = selection;
  const patterns = (texts: readonly string[], key: string) =>
    // Reports have no mangled names: by those nothing can be told.
    base === "mangled" ? [] : texts.map((text) => parseKernelPattern(text, key));
  const include = patterns(kernel_include_patterns, "kernel_include_patterns");
  const exclude = patterns(kernel_exclude_patterns, "kernel_exclude_patterns");
  const top = kernel_top_names === undefined ? null : new Set(kernel_top_names.map(comparableName));
  if (include.length + exclude.length === 0 && top === null) return EVERYTHING.kernel;
  return ({ kernel_name, kind }) => {
    if (kind === "cpu_operation") return true;
    const name = nameOf({ kernelName: kernel_name }, base);
    return (
      (include.length === 0 || include.some(({ matches }) => matches(name))) &&
      !exclude.some(({ matches }) => matches(name)) &&
      (top === null || top.has(comparableName(kernel_name)))
    );
  };
}

const inWords = (
  include: readonly string[],
  exclude: readonly string[],
  other: readonly string[] = [],
): string =>
  [
    ...(include.length === 0 ? [] : [`include ${include.join(", ")}`]),
    ...(exclude.length === 0 ? [] : [`exclude ${exclude.join(", ")}`]),
    ...other,
  ].join("; ");
