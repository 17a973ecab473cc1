/** Determines which ranges a program opens, and which of them are ever open at the same time. */

import { getOrCreate } from "../../../../foundation/system/get-or-create.ts";
import { withoutNumbers } from "../../../../report/model/families.ts";
import type { SelectionPatterns } from "../../../../report/selection/range-pattern.ts";
import {
  foldRules,
  type LabelOf,
  type LabelRules,
  LESS_TIMES,
  labelFunction,
  MANY_TIMES,
  type NvtxLabel,
} from "../../../analysis/labels.ts";
import {
  forEachRange,
  type ProcessTimeline,
  type RangeInstance,
  type Timeline,
} from "../../../model/timeline.ts";
import { escapeRegex } from "./filters.ts";

export interface DiscoveredLabels {
  /** In order of nesting, then of first appearance. */
  readonly labels: readonly NvtxLabel[];
  /** Whether ranges of two labels, or two ranges of one label, are open together in some process. */
  readonly overlap: (a: NvtxLabel, b: NvtxLabel) => boolean;
  /**
   * Whether a range of one label opens after one of the other has closed, with no CUDA call of the process between
   * them. Calls that give the GPU no work and do not wait for it count as none. False where no calls were recorded.
   */
  readonly adjoin: (a: NvtxLabel, b: NvtxLabel) => boolean;
}

export const labelKey = ({ domain, name, kind }: NvtxLabel): string =>
  JSON.stringify([domain, name, kind]);

/**
 * Collects the labels of a recording. Domains of operations are excluded: their ranges are not regions. Time is
 * proportional to the number of ranges times the number of labels that are open at once.
 *
 * @param labelOf the name of a range in reports; ncu gets the program's own labels
 */
export function labelsOf(
  timeline: Timeline,
  operationDomains: readonly string[],
  labelOf: LabelOf = (name) => name,
): DiscoveredLabels {
  const ignored = new Set(operationDomains);
  const found = new Map<string, { readonly label: NvtxLabel; depth: number }>();
  const pairs = new Set<string>();
  const neighbours = new Set<string>();
  const names = new Set<string>();
  for (const process of timeline.processes)
    sweep(process, ignored, labelOf, (label, name, open, justClosed) => {
      names.add(name);
      const key = labelKey(label);
      const existing = found.get(key);
      if (existing === undefined) found.set(key, { label, depth: open.length });
      else existing.depth = Math.min(existing.depth, open.length);
      for (const other of open) pairs.add(pairKey(key, other));
      for (const other of justClosed) neighbours.add(pairKey(key, other));
    });
  const ordered = [...found.values()].sort((a, b) => a.depth - b.depth);
  const writtenOf = rawLabelPatterns(names, labelOf);
  return {
    labels: ordered.map(({ label }) => {
      const written = writtenOf(label.name);
      return written === null ? label : { ...label, written };
    }),
    overlap: (a, b) => pairs.has(pairKey(labelKey(a), labelKey(b))),
    adjoin: (a, b) => neighbours.has(pairKey(labelKey(a), labelKey(b))),
  };
}

/** The labels of a program under label rules; numbers are folded if more than a few labels differ only in those. */
export function foldingLabels(
  timeline: Timeline,
  rules: LabelRules | undefined,
  selection?: SelectionPatterns,
): LabelOf {
  const unified = labelFunction(rules);
  const fold = foldRules(rules, selection);
  if (fold === null) return unified;
  const families = new Map<string, Set<string>>();
  const plainOf = (domain: string, name: string): string => {
    const plain = withoutNumbers(name);
    return fold.isKept?.(domain, name, plain) === true ? name : plain;
  };
  for (const process of timeline.processes)
    forEachRange(process, ({ domain, name }) => {
      const label = unified(name);
      const plain = plainOf(domain, label);
      if (plain !== label) getOrCreate(families, plain, () => new Set<string>()).add(label);
    });
  const sizes = [...families.values()].map(({ size }) => Math.min(size, fold.most + 1));
  const isMany = sizes.reduce((sum, size) => sum + size, 0) > MANY_TIMES * fold.most;
  const most = isMany ? Math.ceil(fold.most / LESS_TIMES) : fold.most;
  const folded = new Map(
    [...families].flatMap(([plain, labels]) =>
      labels.size > most ? [...labels].map((label) => [label, plain] as const) : [],
    ),
  );
  return (name) => {
    const label = unified(name);
    return folded.get(label) ?? label;
  };
}

const pairKey = (a: string, b: string): string => (a < b ? `${a}\n${b}` : `${b}\n${a}`);

/** When the CUDA calls of a process began that gave its GPUs work or waited for them, in order. */
function cudaCalls({ kernels, synchronizations = [] }: ProcessTimeline): Float64Array {
  const times = new Float64Array(kernels.length + synchronizations.length);
  let length = 0;
  for (const { launchThreadId, launchNs } of kernels)
    if (launchThreadId !== null) times[length++] = launchNs;
  for (const { callNs } of synchronizations) times[length++] = callNs;
  return times.subarray(0, length).sort();
}

/**
 * Reports for every range which labels are open when it opens, including those of other threads, and in which the last
 * CUDA call was made if they have closed since.
 */
function sweep(
  process: ProcessTimeline,
  ignored: ReadonlySet<string>,
  labelOf: LabelOf,
  onOpen: (
    label: NvtxLabel,
    name: string,
    open: readonly string[],
    justClosed: Iterable<string>,
  ) => void,
): void {
  const keyOf = ({ domain, name, kind }: NvtxLabel) =>
    labelKey({ domain, name: labelOf(name), kind });
  const open = new Map<string, number>();
  const justClosed = new Set<string>();
  const calls = cudaCalls(process);
  let called = 0;
  const forgetBefore = (ns: number): void => {
    const calledBefore = called;
    while (called < calls.length && (calls[called] ?? 0) < ns) called++;
    if (called > calledBefore) justClosed.clear();
  };
  const opens = (range: RangeInstance) => {
    const { domain, name, kind } = range;
    forgetBefore(range.startNs);
    onOpen({ domain, name: labelOf(name), kind }, name, [...open.keys()], justClosed);
    const key = keyOf(range);
    open.set(key, (open.get(key) ?? 0) + 1);
  };
  const closes = (range: RangeInstance) => {
    const key = keyOf(range);
    const count = (open.get(key) ?? 0) - 1;
    if (count > 0) open.set(key, count);
    else open.delete(key);
    forgetBefore(endOf(range, process));
    // Those that contain the last call: no more than are nested around it.
    if ((calls[called - 1] ?? Number.NEGATIVE_INFINITY) >= range.startNs) justClosed.add(key);
  };
  if (process.allRanges !== undefined) {
    process.allRanges.replay({
      opens(range) {
        if (!ignored.has(range.domain)) opens(range);
      },
      closes(range) {
        if (!ignored.has(range.domain)) closes(range);
      },
    });
    return;
  }
  const ranges = process.ranges.filter(({ domain }) => !ignored.has(domain));
  const closings = [...ranges].sort(
    (a, b) => endOf(a, process) - endOf(b, process) || (a.endSequence ?? 0) - (b.endSequence ?? 0),
  );
  let closed = 0;
  for (const range of ranges) {
    for (; closed < closings.length; closed++) {
      const closing = closings[closed];
      if (closing === undefined || !closesBefore(closing, range, process)) break;
      closes(closing);
    }
    opens(range);
  }
}

/** At equal times the order of recording decides; if that is unknown, the closing comes first. */
function closesBefore(
  closing: RangeInstance,
  opening: RangeInstance,
  process: ProcessTimeline,
): boolean {
  if (closing.id === opening.id) return false;
  const end = endOf(closing, process);
  if (end !== opening.startNs) return end < opening.startNs;
  // An empty range that opens now cannot have closed before.
  if (closing.startNs === opening.startNs && closing.endSequence === undefined)
    return closing.id < opening.id;
  return (closing.endSequence ?? -1) < (opening.startSequence ?? 0);
}

const endOf = ({ endNs }: RangeInstance, process: ProcessTimeline): number =>
  endNs ?? Math.max(process.endNs, 0) + 1;

/**
 * The program's forms of labels that label rules unify, as regular expressions for ncu. Any number matches where a
 * label has one: the next run has other numbers, and thousands of labels would not fit into a command line. A label
 * keeps its own numbers if the unified label depends on them.
 *
 * @param names all labels of the program, in its own form
 * @returns null for a label whose only form in the program is that of the reports
 */
function rawLabelPatterns(
  names: ReadonlySet<string>,
  labelOf: LabelOf,
): (label: string) => readonly string[] | null {
  const labelsByForm = new Map<string, Set<string>>();
  const namesByLabel = new Map<string, string[]>();
  for (const name of names) {
    const label = labelOf(name);
    getOrCreate(namesByLabel, label, () => []).push(name);
    getOrCreate(labelsByForm, formOf(name), () => new Set<string>()).add(label);
  }
  return (label) => {
    const rawNames = namesByLabel.get(label) ?? [];
    if (rawNames.every((name) => name === label)) return null;
    const forms = rawNames.map((name) => {
      const form = formOf(name);
      return labelsByForm.get(form)?.size === 1 ? form : escapeRegex(name);
    });
    return [...new Set(forms)];
  };
}

const formOf = (name: string): string =>
  escapeRegex(name.replaceAll(/\d+/g, NUMBER)).replaceAll(NUMBER, "\\d+");

/** Occurs in no label: ncu prints labels, and a zero byte ends a text. */
const NUMBER = "\0";
