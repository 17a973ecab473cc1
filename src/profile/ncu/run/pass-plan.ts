/**
 * How often ncu has to run the program, and with which NVTX filter each time. Kernels carry the whole
 * stack of ranges, so one run serves every region. A range result is taken from the first API call
 * to the last while any filter matches (Nsight Compute, "Range Replay"): a region inside another one
 * would be swallowed by it, so regions that are ever open together get runs of their own, one per
 * level of nesting.
 */
import { includeExpressions, labelExpressions, matchingLabels, type NvtxLabel } from "./filters.ts";
import type { DiscoveredLabels } from "./labels.ts";

export type ReplayMode = "kernel" | "application" | "range" | "app-range";

export const isRangeMode = (mode: ReplayMode): boolean => mode === "range" || mode === "app-range";

/** One run of ncu. */
export interface Pass {
  /** Names its files: unique in the plan, safe in a path. */
  readonly name: string;
  readonly mode: ReplayMode;
  /** One `--nvtx-include` each; none profiles everything. */
  readonly include: readonly string[];
  /** One `--nvtx-exclude` each. */
  readonly exclude: readonly string[];
  /** The regions that a range pass measures; null where the tool alone knows. */
  readonly labels: readonly NvtxLabel[] | null;
}

export interface PassPlan {
  readonly passes: readonly Pass[];
  readonly notes: readonly string[];
}

/** Which regions are wanted, as the config says it. */
export interface NvtxRequest {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** The patterns are expressions of ncu's own. */
  readonly native: boolean;
  /** Only what runs inside regions is profiled. */
  readonly gating: boolean;
}

/** Whether the plan depends on which labels the program has. */
export const needsLabels = (mode: ReplayMode, request: NvtxRequest): boolean =>
  request.gating &&
  !isNative(request) &&
  (isRangeMode(mode) || request.include.length > 0 || request.exclude.length > 0);

/** Without patterns there is nothing to pass on as it stands. */
const isNative = ({ native, include, exclude }: NvtxRequest): boolean =>
  native && include.length + exclude.length > 0;

/** @param labels null where `needsLabels` says that they are not needed */
export function planPasses(
  mode: ReplayMode,
  request: NvtxRequest,
  discovered: DiscoveredLabels | null,
): PassPlan {
  const single = { name: "profile", mode, exclude: [] as readonly string[], labels: null };
  if (!request.gating) return { passes: [{ ...single, include: [] }], notes: [] };
  if (isNative(request) || discovered === null)
    return {
      passes: [
        {
          ...single,
          include: isNative(request) ? request.include : [],
          exclude: isNative(request) ? request.exclude : [],
        },
      ],
      notes: [],
    };
  if (isRangeMode(mode)) return planRanges(mode, request, discovered);
  const exclude =
    request.exclude.length === 0 ? [] : includeExpressions(request.exclude, discovered.labels);
  const include =
    request.include.length === 0 ? [] : includeExpressions(request.include, discovered.labels);
  return { passes: [{ ...single, include, exclude }], notes: excludeNotes(request, exclude) };
}

function excludeNotes({ include, exclude }: NvtxRequest, expressions: readonly string[]) {
  if (exclude.length === 0) return [];
  if (expressions.length === 0)
    return [`nvtx.exclude (${exclude.join(", ")}) matches no region: nothing is left out`];
  return include.length > 0
    ? []
    : ["with nvtx.exclude alone, ncu leaves out kernels outside of all regions, too"];
}

function planRanges(
  mode: ReplayMode,
  request: NvtxRequest,
  { labels, overlap }: DiscoveredLabels,
): PassPlan {
  const levels: NvtxLabel[][] = [];
  const wanted = matchingLabels(request.include, labels);
  for (const label of wanted) {
    const level = levels.find((others) => others.every((other) => !overlap(other, label)));
    if (level === undefined) levels.push([label]);
    else level.push(label);
  }
  const several = levels.length > 1;
  const recursive = wanted.filter((label) => overlap(label, label));
  return {
    passes: levels.map((level, index) => ({
      name: several ? `level-${index + 1}` : "profile",
      mode,
      include: labelExpressions(level, labels),
      exclude: [],
      labels: level,
    })),
    notes: recursive.map(
      ({ name }) =>
        `'${name}' is open several times at once (recursion or threads): ncu measures it as one range from the first opening to the last closing`,
    ),
  };
}
