import { pathWords } from "../../report/region-path.ts";
import {
  matchesRange,
  parseRangePattern,
  type SelectionPatterns,
} from "../../report/selection/range-pattern.ts";
import { matchesGlob, parseGlob } from "../../text/glob.ts";
import { firstFewOf } from "../../text/plural.ts";
import { printableLabel } from "../../text/printable.ts";
import { nearest } from "../../values/errors.ts";
import { nodesDepthFirst, type PathNode, placeOf } from "./path-tree.ts";
import type { SelectedNodes } from "./selected-nodes.ts";

const MAX_LABELS = 20;
const MAX_LABEL_LENGTH = 80;

interface Label {
  readonly domain: string;
  readonly name: string;
}

/**
 * One note for each pattern that fits no region, with the labels that there are: a name that is
 * misspelt is otherwise only missed. One for each that only fits what is excluded. None where the program
 * opened no ranges at all.
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
      : ` (patterns match labels, and this is a path: its label is ${shorten(patternOf(label))})`;
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

/** Gates and tables tell regions by their paths, too: the label at the end of one that the pattern fits. */
function labelOfPath(text: string, root: PathNode): Label | null {
  if (!text.includes(" / ")) return null;
  const tokens = parseGlob(text);
  for (const node of nodesDepthFirst(root)) {
    const place = placeOf(node);
    if ([place.path.join(" / "), pathWords(place)].some((line) => matchesGlob(tokens, line)))
      return node;
  }
  return null;
}

/** Each once, in order of first appearance. */
function labelsIn(root: PathNode): readonly Label[] {
  const labels = new Map<string, Label>();
  for (const { domain, name } of nodesDepthFirst(root)) {
    const label = { domain, name };
    const pattern = patternOf(label);
    if (!labels.has(pattern)) labels.set(pattern, label);
  }
  return [...labels.values()];
}

/** The pattern that fits this label and no other domain's. */
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
  firstFewOf(labels, MAX_LABELS, (label) => shorten(listed(label)));

/** As a pattern; of a range without a name, what tables show. */
const listed = (label: Label): string =>
  `${patternOf(label)}${label.name === "" ? printableLabel("") : ""}`;

const shorten = (label: string): string =>
  label.length > MAX_LABEL_LENGTH ? `${label.slice(0, MAX_LABEL_LENGTH - 1)}…` : label;
