/** What a report says of its labels: that rules changed them, or that rules would help. */

import { unifiedNote } from "../../report/label-rules-note.ts";
import { grouped, plural } from "../../text/plural.ts";
import { allRules, type LabelRule, type LabelUnifier } from "../labels/label-rules.ts";
import { nodesDepthFirst, type PathNode } from "./path-tree.ts";

/** @param unifier that saw all labels of the report; null: no rules were given */
export const labelNotes = (root: PathNode, unifier: LabelUnifier | null): readonly string[] =>
  unifier === null ? hintNotes(root) : ruleNotes(unifier);

function ruleNotes({ rules, seen }: LabelUnifier): readonly string[] {
  const { labels, unified, fitted } = seen();
  if (labels === 0) return [];
  const { preset = [], rules: own = [] } = rules;
  const ofPreset = fitted.slice(0, preset.length);
  const unfit = own.filter((_, index) => fitted[preset.length + index] !== true);
  return [
    unifiedNote(labels, unified, allRules(rules).map(ruleWords)),
    ...(preset.length > 0 && !ofPreset.includes(true)
      ? [`the ready-made label rules (${preset.map(ruleWords).join(", ")}) match no label`]
      : []),
    ...unfit.map((rule) => `the label rule ${ruleWords(rule)} matches no label`),
  ];
}

const ruleWords = ({ pattern, replace = "" }: LabelRule): string => `'${pattern}' => '${replace}'`;

/** From so many labels on nobody reads them one by one. */
const MANY_LABELS = 1_000;
/** So many labels to one without its numbers: they differ in little else. */
const MUCH_FEWER = 10;

const OF_PYTORCH = /, (?:seq|op_id) = \d/;

/** Labels that programs number are a region each, and which of them is slow has no answer. */
function hintNotes(root: PathNode): readonly string[] {
  const labels = new Set<string>();
  for (const { name, regions } of nodesDepthFirst(root))
    if (regions.some(({ kind }) => kind !== "outside")) labels.add(name);
  if (labels.size <= MANY_LABELS) return [];
  const withoutNumbers = new Map<string, number>();
  for (const label of labels) {
    const plain = label.replaceAll(/\d+/g, "#");
    withoutNumbers.set(plain, (withoutNumbers.get(plain) ?? 0) + 1);
  }
  if (withoutNumbers.size * MUCH_FEWER > labels.size) return [];
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
