/** Reduces a result's NVTX state to the ranges that determine its region. */
import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { withoutNumbers } from "../../../../report/model/families.ts";
import type { LabelOf, NvtxLabel } from "../../../analysis/labels.ts";
import type { RegionModel } from "../../../analysis/region-model.ts";
import type { NcuResult, NvtxRange, NvtxState } from "../../../model/counters.ts";
import { labelKey } from "./label-survey.ts";

export interface StateOptions {
  /** The regions that a range pass measures; null leaves the state as it is. */
  readonly labels: readonly NvtxLabel[] | null;
  /** Domains whose ranges are operations, never regions. */
  readonly operationDomains: readonly string[];
  /** A recording of the same program, which has the enclosing ranges of other domains and kinds. */
  readonly recorded: RegionModel | null;
  /** Maps a range of the program to its name in `labels`; by default unchanged. */
  readonly measuredLabelOf?: LabelOf;
  /** Maps a range of the program to its name in reports and in `recorded`; by default unchanged. */
  readonly labelOf?: LabelOf;
}

/** An open range, as reports show it. */
interface OpenRange extends NvtxLabel {
  /** Whether the pass is to measure it. */
  readonly isWanted: boolean;
}

/**
 * The state of a range result is that of its first API call, when nested ranges may already be open: it is reduced to
 * the measured range and its enclosing ranges. Equal states share an object.
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
  const cache = new Map<NvtxState, NvtxState>();
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
    return { ...result, nvtx: getOrCreate(cache, nvtx, () => read(nvtx, kind === "range")) };
  };
}

/**
 * The measured range, after the ranges that certainly enclose it: ncu lists push/pop ranges by domain, and preserves
 * order only within a domain. It does not report what encloses a start/end range.
 */
function certainRanges(
  stack: readonly OpenRange[],
  startEnd: readonly OpenRange[],
): readonly NvtxLabel[] {
  const isWanted = (range: OpenRange) => range.isWanted;
  const index = stack.findLastIndex(isWanted);
  if (index >= 0)
    return stack.slice(0, index + 1).filter(({ domain }) => domain === stack[index]?.domain);
  const measured = startEnd.find(isWanted);
  return measured === undefined ? [] : [measured];
}

const stateOf = (ranges: readonly NvtxLabel[]): NvtxState => {
  const ofKind = (kind: NvtxLabel["kind"]) =>
    ranges.filter((range) => range.kind === kind).map(({ domain, name }) => ({ domain, name }));
  return { pushPop: ofKind("push_pop"), startEnd: ofKind("start_end") };
};

const rangeKey = ({ domain, name }: NvtxRange): string => JSON.stringify([domain, name]);

/** Paths in the recording that end in a range, as keys. */
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

/** The open ranges on the longest path that consists of open ranges and contains the certain ones. */
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

/** The ranges with these keys, in the order of the list; null if one is absent. */
function allOf(keys: readonly string[], listed: readonly NvtxLabel[]): readonly NvtxLabel[] | null {
  const missing = [...keys];
  const found = listed.filter((range) => {
    const index = missing.indexOf(rangeKey(range));
    if (index >= 0) missing.splice(index, 1);
    return index >= 0;
  });
  return missing.length === 0 ? found : null;
}

const asItIs = <T>(value: T): T => value;

/** Converts NVTX states to the labels of reports. Equal states share an object. */
export function createStateUnifier(labelOf: LabelOf): (state: NvtxState) => NvtxState {
  const cache = new WeakMap<NvtxState, NvtxState>();
  const unify = ({ domain, name }: NvtxRange): NvtxRange => ({ domain, name: labelOf(name) });
  return (state) =>
    getOrCreate(cache, state, () => {
      const others = state.otherThreads?.map((stack) => stack.map(unify));
      return {
        pushPop: state.pushPop.map(unify),
        startEnd: state.startEnd.map(unify),
        ...(others && { otherThreads: others }),
      };
    });
}
