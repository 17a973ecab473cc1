/**
 * What the selections of reports include. A region that one report shows and the selection of the other leaves out is
 * neither new nor removed.
 */
import type { KernelRecord, NCUProfileRegionReport, ReportSelection } from "../model/document.ts";
import { domainAt, type Ranged } from "../model/region-path.ts";
import { comparableName, nameOf, parseKernelPattern } from "../selection/kernel-pattern.ts";
import { matchesRange, parseRangePattern, type RangePattern } from "../selection/range-pattern.ts";
import { isLongestOnly } from "../view/notes.ts";

export interface SelectionCoverage {
  readonly region: (region: Ranged) => boolean;
  readonly kernel: (kernel: Pick<KernelRecord, "kernel_name" | "kind">) => boolean;
  /** Whether the report has all that its selection includes: of very many regions, it has only the longest. */
  readonly isWhole: boolean;
  /** The region selection in words; empty without one. */
  readonly regionWords: string;
  /** The kernel selection in words; empty without one. */
  readonly kernelWords: string;
}

export interface CoverageOfBoth {
  readonly a: SelectionCoverage;
  readonly b: SelectionCoverage;
}

/**
 * @throws ConfigError `profile.input` for an invalid expression over kernel names
 */
export function selectionCoverage(
  a: NCUProfileRegionReport,
  b: NCUProfileRegionReport,
): CoverageOfBoth {
  const [ofA, ofB] = [selectionOf(a), selectionOf(b)];
  // Equal filters include the same.
  const isOneFilter = isSameMeasurement(ofA, ofB);
  return {
    a: { ...coverageOf(ofA, isOneFilter), isWhole: !isLongestOnly(a.notes) },
    b: { ...coverageOf(ofB, isOneFilter), isWhole: !isLongestOnly(b.notes) },
  };
}

/** The selection of a report; without one, it includes everything. */
export const selectionOf = ({ selection }: NCUProfileRegionReport): ReportSelection =>
  selection ?? { applies_to: "report", include_patterns: [], exclude_patterns: [] };

/** Whether two selections measure the same regions, even if they show different ones. */
export const isSameMeasurement = (a: ReportSelection, b: ReportSelection): boolean =>
  measuredKey(a) === measuredKey(b);

/** Whether two selections count the same kernels. */
export const isSameKernels = (a: ReportSelection, b: ReportSelection): boolean =>
  kernelsKey(a) === kernelsKey(b);

function measuredKey(selection: ReportSelection): string {
  if (selection.applies_to === "report") return "";
  const { include_patterns, exclude_patterns } = selection;
  const { ncu_include_expressions, ncu_exclude_expressions } = selection;
  return JSON.stringify(
    [include_patterns, exclude_patterns, ncu_include_expressions, ncu_exclude_expressions].map(
      inAnyOrder,
    ),
  );
}

function kernelsKey(selection: ReportSelection): string {
  const { kernel_include_patterns, kernel_exclude_patterns, kernel_top_names } = selection;
  const patterns = [kernel_include_patterns, kernel_exclude_patterns].map(inAnyOrder);
  const base = patterns.every(({ length }) => length === 0) ? null : selection.kernel_name_base;
  const top = kernel_top_names?.map(comparableName);
  return JSON.stringify([patterns, base, top === undefined ? null : inAnyOrder(top)]);
}

const inAnyOrder = (texts: readonly string[] = []): readonly string[] => [...new Set(texts)].sort();

function coverageOf(
  selection: ReportSelection,
  isOneFilter: boolean,
): Omit<SelectionCoverage, "isWhole"> {
  const { include_patterns, exclude_patterns, kernel_top_names } = selection;
  const { ncu_include_expressions = [], ncu_exclude_expressions = [] } = selection;
  const { kernel_include_patterns = [], kernel_exclude_patterns = [] } = selection;
  return {
    region: regionFilter(selection, isOneFilter),
    kernel: kernelFilter(selection),
    regionWords: inWords(
      [...include_patterns, ...ncu_include_expressions],
      [...exclude_patterns, ...ncu_exclude_expressions],
    ),
    kernelWords: inWords(
      kernel_include_patterns,
      kernel_exclude_patterns,
      kernel_top_names === undefined ? [] : [`the longest ${kernel_top_names.length}`],
    ),
  };
}

const EVERYTHING = () => true;

/**
 * Filters regions by the ranges on their paths, as selections do. Kernels outside of ranges are included unless they
 * were not measured. What an expression of ncu includes is known only if both reports used the same; otherwise the
 * result is uncertain, and a gate must not pass because of it.
 */
function regionFilter(
  selection: ReportSelection,
  isOneFilter: boolean,
): SelectionCoverage["region"] {
  const include = selection.include_patterns.map(parseRangePattern);
  const exclude = selection.exclude_patterns.map(parseRangePattern);
  const { applies_to, ncu_include_expressions = [], ncu_exclude_expressions = [] } = selection;
  const isByExpression = ncu_include_expressions.length + ncu_exclude_expressions.length > 0;
  if (isByExpression && isOneFilter) return EVERYTHING;
  if (include.length + exclude.length === 0 && !isByExpression) return EVERYTHING;
  const isOutsideMeasured = applies_to === "report" || isOneFilter;
  return (region: Ranged): boolean => {
    if (region.kind === "outside") return isOutsideMeasured;
    const isOnPath = (patterns: readonly RangePattern[]) =>
      region.path.some((name, level) =>
        patterns.some((pattern) => matchesRange(pattern, domainAt(region, level), name)),
      );
    const isAny = include.length + ncu_include_expressions.length === 0;
    return (
      ncu_exclude_expressions.length === 0 && (isAny || isOnPath(include)) && !isOnPath(exclude)
    );
  };
}

function kernelFilter(selection: ReportSelection): SelectionCoverage["kernel"] {
  const { kernel_include_patterns = [], kernel_exclude_patterns = [] } = selection;
  const { kernel_name_base: base = "function", kernel_top_names } = selection;
  const patterns = (texts: readonly string[], key: string) =>
    // Reports contain no mangled names.
    base === "mangled" ? [] : texts.map((text) => parseKernelPattern(text, key));
  const include = patterns(kernel_include_patterns, "kernel_include_patterns");
  const exclude = patterns(kernel_exclude_patterns, "kernel_exclude_patterns");
  const top = kernel_top_names === undefined ? null : new Set(kernel_top_names.map(comparableName));
  if (include.length + exclude.length === 0 && top === null) return EVERYTHING;
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
