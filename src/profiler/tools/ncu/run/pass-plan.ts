/**
 * Plans how often ncu has to run the program, and with which NVTX filter each time. Kernels have the whole stack of
 * ranges, so one run serves every region. A range result extends from the first API call to the last while any filter
 * matches (Nsight Compute, "Range Replay"): it would absorb a nested region, and may absorb one that follows without an
 * API call between them. Such regions get separate runs; for nested ones that is one per level.
 */

import type { NvtxLabel } from "../../../analysis/labels.ts";
import type { MeasuredSelection } from "../../../analysis/region-model.ts";
import { isRangeMode, type NcuConfig, namesOf, type ReplayMode } from "../../profiler-config.ts";
import { includeExpressions, labelExpressions, matchedBeside, matchingLabels } from "./filters.ts";
import type { DiscoveredLabels } from "./label-survey.ts";

/** One run of ncu. */
export interface Pass {
  /** The prefix of its files: unique in the plan, safe in a path. */
  readonly name: string;
  readonly mode: ReplayMode;
  /** One `--nvtx-include` each; empty profiles everything. */
  readonly include: readonly string[];
  /** One `--nvtx-exclude` each. */
  readonly exclude: readonly string[];
  /** The regions that a range pass measures; null if only the tool knows. */
  readonly labels: readonly NvtxLabel[] | null;
}

export interface PassPlan {
  readonly passes: readonly Pass[];
  readonly notes: readonly string[];
}

/** The regions that the config requests. */
export interface NvtxRequest {
  /** Labels and globs; without any, and without expressions, every region is meant. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** ncu's own expressions, passed on unchanged. */
  readonly native: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** False: profiling does not depend on NVTX ranges. */
  readonly gating: boolean;
  /** False: ncu profiles everything, and the patterns only select what the reports show. */
  readonly filtering: boolean;
}

/** Whether the plan depends on the labels of the program. */
export const needsLabels = (mode: ReplayMode, request: NvtxRequest): boolean =>
  request.gating &&
  (isRangeMode(mode)
    ? wantsLabels(request)
    : request.filtering && request.include.length + request.exclude.length > 0);

/** In range replay: ncu's own expressions need no labels unless the config combines them with labels. */
const wantsLabels = ({ include, native }: NvtxRequest): boolean =>
  include.length > 0 || native.include.length === 0;

/** @param discovered null if `needsLabels` is false */
export function planPasses(
  mode: ReplayMode,
  request: NvtxRequest,
  discovered: DiscoveredLabels | null,
): PassPlan {
  const single = { name: "profile", mode, labels: null };
  if (!request.gating) return { passes: [{ ...single, include: [], exclude: [] }], notes: [] };
  if (isRangeMode(mode)) return planRanges(mode, request, discovered);
  if (!request.filtering) return { passes: [{ ...single, include: [], exclude: [] }], notes: [] };
  const expressions = (patterns: readonly string[]) =>
    patterns.length === 0 || discovered === null
      ? []
      : includeExpressions(patterns, discovered.labels);
  const include = [...expressions(request.include), ...request.native.include];
  const exclude = [...expressions(request.exclude), ...request.native.exclude];
  return {
    passes: [{ ...single, include, exclude }],
    notes: [...excludeNotes(request, exclude), ...nativeNotes(request.native.include, include)],
  };
}

/**
 * A warning, because the ranges that ncu's matcher misses (see `filters.ts`) cannot be avoided for expressions that are
 * not ours.
 */
const nativeNotes = (native: readonly string[], all: readonly string[]): readonly string[] =>
  native.length > 0 && all.length > 1 && all.some((expression) => expression.startsWith("regex:"))
    ? [
        "ncu may miss ranges if a regular expression is combined with other --nvtx-include expressions: use labels and globs, or a single regular expression",
      ]
    : [];

function excludeNotes(
  { include, exclude, native }: NvtxRequest,
  expressions: readonly string[],
): readonly string[] {
  if (exclude.length + native.exclude.length === 0) return [];
  if (expressions.length === 0)
    return [`nvtx.exclude (${exclude.join(", ")}) matches no region: nothing is excluded`];
  return include.length + native.include.length > 0
    ? []
    : ["with nvtx.exclude alone, ncu also excludes kernels outside all regions"];
}

function planRanges(
  mode: ReplayMode,
  { include, native, filtering }: NvtxRequest,
  discovered: DiscoveredLabels | null,
): PassPlan {
  const never = () => false;
  const { labels, overlap, adjoin } = discovered ?? { labels: [], overlap: never, adjoin: never };
  const levels: NvtxLabel[][] = [];
  const wanted = matchingLabels(filtering ? include : [], labels);
  // A filter that matches other labels, too, would measure those, or begin the range too early.
  const fitsInto = (level: readonly NvtxLabel[], label: NvtxLabel): boolean =>
    level.every((other) => !overlap(other, label) && !adjoin(other, label)) &&
    matchedBeside([...level, label], labels).length === 0;
  for (const label of wanted) {
    const level = levels.find((others) => fitsInto(others, label));
    if (level === undefined) levels.push([label]);
    else level.push(label);
  }
  const several = levels.length + Math.min(1, native.include.length) > 1;
  const ofLabels = levels.map(
    (level, index): Pass => ({
      name: several ? `level-${index + 1}` : "profile",
      mode,
      include: labelExpressions(level),
      exclude: [],
      labels: level,
    }),
  );
  const ofExpressions: readonly Pass[] =
    native.include.length === 0
      ? []
      : [
          {
            name: several ? "expressions" : "profile",
            mode,
            include: native.include,
            exclude: [],
            labels: null,
          },
        ];
  return {
    passes: [...ofLabels, ...ofExpressions],
    notes: [
      ...nativeNotes(native.include, native.include),
      ...wanted
        .filter((label) => overlap(label, label))
        .map(
          ({ name }) =>
            `'${name}' is open several times at once (recursion or threads): ncu measures it as one range from the first opening to the last closing`,
        ),
    ],
  };
}

/** The regions that a config requests from ncu. */
export function nvtxRequest({ gating_nvtx, native_nvtx, ncu_cli }: NcuConfig): NvtxRequest {
  const include = namesOf(ncu_cli.nvtx.include);
  const exclude = namesOf(ncu_cli.nvtx.exclude);
  const isLabel = (text: string) => !isExpression(text);
  return {
    include: include.filter(isLabel),
    exclude: exclude.filter(isLabel),
    native: { include: include.filter(isExpression), exclude: exclude.filter(isExpression) },
    gating: gating_nvtx,
    filtering: native_nvtx,
  };
}

/**
 * Whether a text has ncu's own grammar: `regex:...`, `A/` (a push/pop range, also chains of them), `A]` and `[A` (at
 * the top or the bottom of the stack). All others are labels or globs, including `br[0]`, `model/forward`, and a label
 * that ends with a slash if that is written `\/`.
 */
export function isExpression(text: string): boolean {
  if (text.startsWith("regex:") || /(?:^|[^\\])\/$/.test(text)) return true;
  const opening = text.split("[").length;
  const closing = text.split("]").length;
  return (text.endsWith("]") && closing > opening) || (text.startsWith("[") && opening > closing);
}

/** Whether labels alone describe what is measured. */
export const isByLabels = ({ native }: NvtxRequest): boolean =>
  native.include.length + native.exclude.length === 0;

/** The selection that ncu measures with the passes of `planPasses`; null if it is everything. */
export function measuredSelection(
  mode: ReplayMode,
  request: NvtxRequest,
): MeasuredSelection | null {
  const { include, exclude, native, gating, filtering } = request;
  if (!gating) return null;
  if (!isRangeMode(mode))
    return filtering && (include.length + exclude.length > 0 || !isByLabels(request))
      ? { patterns: { include, exclude }, expressions: native }
      : null;
  const isEveryLabel = include.length > 0 ? !filtering : native.include.length === 0;
  if (isEveryLabel) return null;
  // Passes over ranges exclude nothing: patterns do so in the report, unless there are expressions.
  return {
    patterns: { include, exclude: isByLabels(request) ? exclude : [] },
    expressions: { include: native.include, exclude: [] },
  };
}
