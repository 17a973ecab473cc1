/** What of a result's NVTX state its region is told from. */
import { getOrCreate } from "../../../../system/get-or-create.ts";
import { type LabelOf, type NvtxLabel, withoutNumbers } from "../../../analysis/labels.ts";
import type { RegionModel } from "../../../analysis/region-model.ts";
import type { NcuResult, NvtxRange, NvtxState } from "../../../model/counters.ts";
import { labelKey } from "./labels.ts";

export interface StateOptions {
  /** The regions that a range pass measures; null leaves the state as it is. */
  readonly labels: readonly NvtxLabel[] | null;
  /** Their ranges are operations, never regions. */
  readonly operationDomains: readonly string[];
  /** A recording of the same program, which knows what ranges of other domains and kinds are around one. */
  readonly recorded: RegionModel | null;
  /** What `labels` call a range of the program's; as the program does where absent. */
  readonly measuredLabelOf?: LabelOf;
  /** What the reports and `recorded` call it; as the program does where absent. */
  readonly labelOf?: LabelOf;
}

/** A range that was open, as reports show it. */
interface OpenRange extends NvtxLabel {
  /** Whether the pass was told to measure it. */
  readonly isWanted: boolean;
}

/**
 * The state of a range result is that of its first API call, by when ranges inside it may be open
 * already: it is cut down to the range that was measured and those around it. Equal states stay one object.
 */
export function createStateReader({
  labels,
  operationDomains,
  recorded,
  measuredLabelOf = asItIs,
  labelOf = asItIs,
}: StateOptions): (result: NcuResult) => NcuResult {
  const ignored = new Set(operationDomains);
  const wanted = labels === null ? null : new Set(labels.map(labelKey));
  const pathsTo = recordedPaths(recorded);
  const known = new Map<NvtxState, NvtxState>();
  const unify = labelOf === asItIs ? asItIs : createStateUnifier(labelOf);
  const labelled = (ranges: readonly NvtxRange[], kind: NvtxLabel["kind"]): readonly OpenRange[] =>
    ranges.map(({ domain, name }) => ({
      domain,
      name: labelOf(name),
      kind,
      isWanted: isWanted(domain, measuredLabelOf(name), kind),
    }));
  const isWanted = (domain: string, name: string, kind: NvtxLabel["kind"]): boolean =>
    wanted !== null &&
    (wanted.has(labelKey({ domain, name, kind })) ||
      wanted.has(labelKey({ domain, name: withoutNumbers(name), kind })));
  const isRegion = ({ domain }: NvtxRange) => !ignored.has(domain);
  const read = (state: NvtxState, isRange: boolean): NvtxState => {
    const pushPop = state.pushPop.filter(isRegion);
    const startEnd = state.startEnd.filter(isRegion);
    const others = state.otherThreads?.map((stack) => stack.filter(isRegion));
    const whole = { ...state, pushPop, startEnd, ...(others && { otherThreads: others }) };
    if (wanted === null || !isRange) return unify(whole);
    const stack = labelled(pushPop, "push_pop");
    const processWide = labelled(startEnd, "start_end");
    const certain = certainRanges(stack, processWide);
    const measured = certain.at(-1);
    if (measured === undefined) return unify(whole);
    const open = [...processWide, ...stack];
    return stateOf(longestWithin(pathsTo(measured), open, certain) ?? certain);
  };
  return (result) => {
    const { nvtx, kind } = result;
    return { ...result, nvtx: getOrCreate(known, nvtx, () => read(nvtx, kind === "range")) };
  };
}

/**
 * The range that was measured, after those that are around it for sure: ncu lists push/pop ranges by
 * domain, and keeps their order within one alone. What is around a start/end range it does not tell.
 */
function certainRanges(
  stack: readonly OpenRange[],
  startEnd: readonly OpenRange[],
): readonly NvtxLabel[] {
  const isWanted = (range: OpenRange) => range.isWanted;
  const at = stack.findLastIndex(isWanted);
  if (at >= 0) return stack.slice(0, at + 1).filter(({ domain }) => domain === stack[at]?.domain);
  const measured = startEnd.find(isWanted);
  return measured === undefined ? [] : [measured];
}

const stateOf = (ranges: readonly NvtxLabel[]): NvtxState => {
  const ofKind = (kind: NvtxLabel["kind"]) =>
    ranges.filter((range) => range.kind === kind).map(({ domain, name }) => ({ domain, name }));
  return { pushPop: ofKind("push_pop"), startEnd: ofKind("start_end") };
};

const rangeKey = ({ domain, name }: NvtxRange): string => JSON.stringify([domain, name]);

/** Paths that end in a range, as keys, in the recording. */
function recordedPaths(
  recorded: RegionModel | null,
): (range: NvtxRange) => readonly (readonly string[])[] {
  const paths = new Map<string, (readonly string[])[]>();
  for (const { path, path_domains, domain } of recorded?.scopes[0]?.regions ?? []) {
    const keys = path.map((name, level) =>
      rangeKey({ name, domain: path_domains?.[level] ?? domain }),
    );
    getOrCreate(paths, keys.at(-1) ?? "", () => []).push(keys);
  }
  return (range) => paths.get(rangeKey(range)) ?? [];
}

/** Of the open ranges, those on the longest path that is made of them and has the certain ones in it. */
function longestWithin(
  paths: readonly (readonly string[])[],
  open: readonly NvtxLabel[],
  certain: readonly NvtxLabel[],
): readonly NvtxLabel[] | undefined {
  return [...paths]
    .sort((a, b) => b.length - a.length)
    .flatMap((path) => {
      const chosen = allOf(path, open);
      return chosen !== null && allOf(certain.map(rangeKey), chosen) !== null ? [chosen] : [];
    })[0];
}

/** The ranges of these keys, in the order in which they are listed; null where one is not among them. */
function allOf(keys: readonly string[], listed: readonly NvtxLabel[]): readonly NvtxLabel[] | null {
  const missing = [...keys];
  const found = listed.filter((range) => {
    const at = missing.indexOf(rangeKey(range));
    if (at >= 0) missing.splice(at, 1);
    return at >= 0;
  });
  return missing.length === 0 ? found : null;
}

const asItIs = <T>(value: T): T => value;

/** NVTX states with the labels that reports show. Equal states stay one object. */
export function createStateUnifier(labelOf: LabelOf): (state: NvtxState) => NvtxState {
  const known = new WeakMap<NvtxState, NvtxState>();
  const unify = ({ domain, name }: NvtxRange): NvtxRange => ({ domain, name: labelOf(name) });
  return (state) =>
    getOrCreate(known, state, () => {
      const others = state.otherThreads?.map((stack) => stack.map(unify));
      return {
        pushPop: state.pushPop.map(unify),
        startEnd: state.startEnd.map(unify),
        ...(others && { otherThreads: others }),
      };
    });
}
