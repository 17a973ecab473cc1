/**
 * Notes of a report about its regions: similar processes, ranges that never closed, labels, patterns without a match.
 */

import { nearest } from "../../engine/values/errors.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { matchesGlob, parseGlob } from "../../foundation/text/glob.ts";
import { agreeing, firstFewOf, grouped, plural } from "../../foundation/text/plural.ts";
import { printableLabel } from "../../foundation/text/printable.ts";
import { pathWords } from "../../report/model/region-path.ts";
import {
  matchesRange,
  parseRangePattern,
  type SelectionPatterns,
} from "../../report/selection/range-pattern.ts";
import { unifiedNote } from "../../report/view/notes.ts";
import { MAX_DEPTH, type ProcessAttribution } from "./attribute.ts";
import { allRules, type LabelRule, type LabelUnifier } from "./labels.ts";
import {
  foldedLabels,
  nodesDepthFirst,
  type PathNode,
  rangePath,
  type SelectedNodes,
} from "./path-tree.ts";

/** The number of processes that may have the same note before these notes become one. */
const MAX_ALIKE = 8;
/** Worker processes usually end by `_exit`, so notes about their ends are combined. */
const OF_ENDS =
  /^: (?:ended without finishing|\d+ ranges? (?:was|were) never closed|the process ended inside)/;
/** The maximum number of notes about processes in a report of many; the report of each process has all of its own. */
const MAX_NOTES = 64;

/** Notes about several processes, combined, since thousands of processes would bury the report under their notes. */
export function notesOfProcesses(processes: readonly ProcessAttribution[]): readonly string[] {
  const notes = processes.flatMap((attribution) =>
    processNotes(attribution).map((note) => splitNote(note, attribution.process.pid)),
  );
  return upTo(MAX_NOTES, folded(notes));
}

interface ProcessNote {
  /** E.g. `process 12 (python3)`; empty if the note has no process. */
  readonly who: string;
  readonly what: string;
}

function splitNote(note: string, pid: number): ProcessNote {
  const start = new RegExp(`^process ${pid}(?: \\(.*?\\))?(?=: )`).exec(note)?.[0];
  return start === undefined
    ? { who: "", what: note }
    : { who: start, what: note.slice(start.length) };
}

/** In order of first appearance. */
function folded(notes: readonly ProcessNote[]): readonly string[] {
  const alike = new Map<string, Set<string>>();
  for (const { who, what } of notes) getOrCreate(alike, what, () => new Set<string>()).add(who);
  const shown = new Set<string>();
  for (const { who, what } of notes) {
    const all = alike.get(what) ?? new Set([who]);
    const [first = who] = all;
    shown.add(
      all.size <= (OF_ENDS.test(what) ? 1 : MAX_ALIKE)
        ? `${who}${what}`
        : `${first} and ${grouped(String(all.size - 1))} ${agreeing(all.size - 1, "other", "others")}${what}`,
    );
  }
  return [...shown];
}

const upTo = (limit: number, notes: readonly string[]): readonly string[] =>
  notes.length <= limit
    ? notes
    : [
        ...notes.slice(0, limit),
        `${plural(notes.length - limit, "more note")} in the reports of the processes`,
      ];

/** Notes about one process, each with its process id. */
function processNotes(attribution: ProcessAttribution): readonly string[] {
  const { process, ignoredOperations, tooDeep, overlapping } = attribution;
  const ownNotes = [
    ...unclosedNote(attribution),
    ...(overlapping > 0
      ? [
          `${plural(overlapping, "range")} closed before ${agreeing(overlapping, "a range that was opened later", "ranges that were opened later")}: such ranges overlap, and stand beside each other`,
        ]
      : []),
    ...(tooDeep > 0
      ? [
          `${plural(tooDeep, "range")} nested deeper than ${MAX_DEPTH} levels ${agreeing(tooDeep, "counts", "count")} as part of the enclosing range`,
        ]
      : []),
    ...(ignoredOperations > 0
      ? [
          `${plural(ignoredOperations, "CPU operation is", "CPU operations are")} not counted because GPU kernels were recorded`,
        ]
      : []),
  ];
  return [...process.notes, ...ownNotes.map((note) => `process ${process.pid}: ${note}`)];
}

const MAX_NAMES = 5;
const MAX_NAME = 80;

/**
 * Names the first ranges that were open to the end, each once; for a process that was ended, the ranges in which it
 * was.
 */
function unclosedNote({ process, unclosed }: ProcessAttribution): readonly string[] {
  const { count, names, innermost } = unclosed;
  if (innermost === null) return [];
  return [
    neverClosed(count, ` (${firstFewOf(names, MAX_NAMES, shorten)})`),
    ...(process.finished || count === 1
      ? []
      : [`the process ended inside ${shorten(pathWords(rangePath(innermost.region.node)))}`]),
  ];
}

const shorten = (name: string): string =>
  name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name;

/** @param which which of the process's ranges, in brackets */
export const neverClosed = (count: number, which = ""): string =>
  `${plural(count, "range was", "ranges were")} never closed${which}; ${agreeing(count, "it lasts", "they last")} at least until the end of the process, as far as it is known`;

// Notes about labels: that rules changed them, or that rules would help.

/** @param unifier the unifier that processed all labels of the report; null without rules */
export const labelNotes = (root: PathNode, unifier: LabelUnifier | null): readonly string[] => [
  ...(unifier === null ? hintNotes(root) : ruleNotes(unifier)),
  ...foldNotes(root),
];

function foldNotes(root: PathNode): readonly string[] {
  const labels = foldedLabels(root);
  if (labels.length === 0) return [];
  const named = firstFewOf(labels, MAX_NAMES, (label) => `'${shorten(printableLabel(label))}'`);
  return [
    `labels that differ only in numbers are one region, with # for the numbers, where there are more than ${root.tree.most} of them: ${named}; labels.fold=null keeps each as it is (import and report: --fold none)`,
  ];
}

function ruleNotes({ rules, seen }: LabelUnifier): readonly string[] {
  const { labels, unified, fitted } = seen();
  if (labels === 0) return [];
  const { preset = [], rules: ownRules = [] } = rules;
  const ofPreset = fitted.slice(0, preset.length);
  const unfit = ownRules.filter((_, index) => fitted[preset.length + index] !== true);
  return [
    unifiedNote(labels, unified, allRules(rules).map(ruleWords)),
    ...(preset.length > 0 && !ofPreset.includes(true)
      ? [`the ready-made label rules (${preset.map(ruleWords).join(", ")}) match no label`]
      : []),
    ...unfit.map((rule) => `the label rule ${ruleWords(rule)} matches no label`),
  ];
}

const ruleWords = ({ pattern, replace = "" }: LabelRule): string => `'${pattern}' => '${replace}'`;

/** More labels than this are not read one by one. */
const MANY_LABELS = 1_000;
/** The ratio of labels to labels without numbers from which on numbers are what mainly distinguishes them. */
const MUCH_FEWER = 10;

const OF_PYTORCH = /, (?:seq|op_id) = \d/;

/** If a program numbers its labels, each is a region of its own, and which of them is slow cannot be seen. */
function hintNotes(root: PathNode): readonly string[] {
  // Most labels must contain numbers; that can be counted without keeping a million labels.
  let numbered = 0;
  for (const { name } of nodesDepthFirst(root)) if (/\d/.test(name)) numbered++;
  if (numbered * MUCH_FEWER < MANY_LABELS * (MUCH_FEWER - 1)) return [];
  const labels = new Set<string>();
  for (const { name, region } of nodesDepthFirst(root))
    if (region !== null && (region.kind !== "outside" || region.next !== null)) labels.add(name);
  if (labels.size <= MANY_LABELS) return [];
  const withoutNumbers = new Map<string, number>();
  for (const label of labels) {
    const plain = label.replaceAll(/\d+/g, "#");
    withoutNumbers.set(plain, (withoutNumbers.get(plain) ?? 0) + 1);
    if (withoutNumbers.size * MUCH_FEWER > labels.size) return [];
  }
  const [most = ""] = [...withoutNumbers].reduce((a, b) => (b[1] > a[1] ? b : a));
  const example = [...labels].find((label) => label.replaceAll(/\d+/g, "#") === most) ?? "";
  const remedy = OF_PYTORCH.test(example)
    ? "labels=pytorch unifies the labels that PyTorch numbers (import and report: --labels pytorch)"
    : "label rules unify them (labels.rules; import and report: --label-rule 'REGEX=>TEXT')";
  return [
    `${plural(labels.size, "label")} would be ${grouped(String(withoutNumbers.size))} without the numbers in them, e.g. in '${example.slice(0, MAX_EXAMPLE)}': ${remedy}`,
  ];
}

const MAX_EXAMPLE = 80;

const MAX_LABELS = 20;
const MAX_LABEL_LENGTH = 80;

interface Label {
  readonly domain: string;
  readonly name: string;
}

/**
 * A note for each pattern that matches no region, with the available labels, since a misspelt name would otherwise go
 * unnoticed, and for each pattern that matches only excluded regions. None if the program opened no ranges.
 */
export function unmatchedNotes(
  root: PathNode,
  { include, exclude }: SelectionPatterns,
  selected: SelectedNodes,
): readonly string[] {
  if (include.length + exclude.length === 0) return [];
  const labels = labelsIn(root);
  if (labels.length === 0) return [];
  const hint = (text: string) => {
    const label = labelOfPath(text, root);
    return label === null
      ? near(text, labels)
      : ` (patterns match labels, and this is a path: its label is ${shortenPattern(patternOf(label))})`;
  };
  const note = (text: string, key: string): readonly string[] => {
    const pattern = parseRangePattern(text);
    return labels.some(({ domain, name }) => matchesRange(pattern, domain, name))
      ? []
      : [`${key}: '${text}' matches no region${hint(text)}; available: ${shown(labels)}`];
  };
  return [
    ...include.flatMap((text) => note(text, "include")),
    ...include
      .filter((text) => fitsExcludedOnly(text, root, selected))
      .map(
        (text) =>
          `include: '${text}' matches only regions that exclude leaves out (${exclude.join(", ")})`,
      ),
    ...exclude.flatMap((text) => note(text, "exclude")),
  ];
}

function fitsExcludedOnly(text: string, root: PathNode, selected: SelectedNodes): boolean {
  const pattern = parseRangePattern(text);
  const fitting = [...nodesDepthFirst(root)].filter(({ domain, name }) =>
    matchesRange(pattern, domain, name),
  );
  return fitting.length > 0 && !fitting.some((node) => selected.has(node));
}

/** Gates and tables identify regions by path, too: the label at the end of a path that the pattern matches. */
function labelOfPath(text: string, root: PathNode): Label | null {
  if (!text.includes(" / ")) return null;
  const tokens = parseGlob(text);
  for (const node of nodesDepthFirst(root)) {
    const place = rangePath(node);
    if ([place.path.join(" / "), pathWords(place)].some((line) => matchesGlob(tokens, line)))
      return node;
  }
  return null;
}

/** Each label once, in order of first appearance. */
function labelsIn(root: PathNode): readonly Label[] {
  const labels = new Map<string, Label>();
  for (const { domain, name } of nodesDepthFirst(root)) {
    const label = { domain, name };
    const pattern = patternOf(label);
    if (!labels.has(pattern)) labels.set(pattern, label);
  }
  return [...labels.values()];
}

/** A pattern that matches this label, and in no other domain. */
const patternOf = ({ domain, name }: Label): string =>
  domain === "" ? escaped(name) : `${escaped(domain)}@${escaped(name)}`;

const escaped = (text: string): string => text.replaceAll(/[\\@*?]/g, "\\$&");

function near(text: string, labels: readonly Label[]): string {
  const plain = text.replaceAll("*", "");
  const named = labels.filter(({ name }) => name !== "");
  const found =
    nearest(plain, named.map(patternOf)) ??
    nearest(
      plain,
      named.map(({ name }) => escaped(name)),
    );
  return found === undefined ? "" : ` (nearest: ${found})`;
}

const shown = (labels: readonly Label[]): string =>
  firstFewOf(labels, MAX_LABELS, (label) => shortenPattern(listed(label)));

/** The label as a pattern; for a range without a name, the text that tables show. */
const listed = (label: Label): string =>
  `${patternOf(label)}${label.name === "" ? printableLabel("") : ""}`;

const shortenPattern = (label: string): string =>
  label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label;
