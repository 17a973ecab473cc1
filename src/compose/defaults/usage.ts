import { parseOverride } from "../../overrides/parser.ts";
import { overrideNode } from "../../overrides/to-node.ts";
import { ConfigError } from "../../values/errors.ts";
import { nearest as nearestName } from "../../values/nearest.ts";
import type { Origin } from "../../values/origin.ts";
import { pyRepr } from "../../values/python-text.ts";
import { type ChosenGroups, groupMeant, type TypedChoice } from "../group-meant.ts";
import { byCodePoint, type Repository } from "../sources/repository.ts";
import { isOptionList } from "./item.ts";
import type { RecordedSelection, TreeRecord } from "./ledger.ts";
import { selectionText } from "./ledger.ts";
import { overridesMeant } from "./override-meant.ts";

/**
 * Every override of a group and every deletion must have met its group in the tree.
 *
 * @throws ConfigError `compose.unused_override`, or `compose.ambiguous_override` where the group
 * appears under several packages.
 */
export function checkUsage(record: TreeRecord, repository: Repository): void {
  const { selections, deletions, known } = record;
  for (const [key, selection] of selections)
    if (!selection.used) throw unusedSelection(key, selection, record, repository);
  for (const [key, deletion] of deletions)
    if (!deletion.used) {
      const what = deletion.name === null ? key : `${key}=${deletion.name}`;
      const available = [...known.keys()];
      const nearest = nearestName(key, available);
      throw new ConfigError({
        code: "compose.unused_override",
        message: `Could not delete '${what}'. No match in the defaults list`,
        origin: deletion.origin,
        key,
        available,
        ...(nearest !== undefined && { nearest, hint: `use ~${nearest}` }),
      });
    }
}

function unusedSelection(
  key: string,
  { origin, value, within }: RecordedSelection,
  { keysOfGroup, known }: TreeRecord,
  repository: Repository,
): ConfigError {
  const [group = key] = key.split("@", 1);
  const similar = [...(keysOfGroup.get(group) ?? [])].sort(byCodePoint);
  const [first] = similar;
  const meant = within === null ? [] : overridesMeant({ key, within }, keysOfGroup);
  const nearest = meant[0]?.key ?? first ?? nearestName(key, [...known.keys()]);
  const option = selectionText(value);
  const has = (key: string) => {
    const options = repository.list(key.split("@", 1)[0] ?? "", "config");
    return [value].flat().every((each) => each === null || options.includes(each));
  };
  const isNamed = ![value].flat().includes(null);
  const typed = [
    ...(isNamed && nearest !== undefined && has(nearest) ? [`${nearest}=${option}`] : []),
    ...(isNamed && has(group) ? [`+${key}=${option}`] : []),
  ];
  const lines = meant
    .filter(({ key }) => has(key))
    .map((line) => `\`override ${line.written}: ${option}\``);
  const inFile = known.has(key)
    ? `an override reaches what stands above its file in the list: put ${key} above ${within}`
    : lines.length > 0
      ? `write ${lines.join(", or ")}`
      : has(group)
        ? "the list has no such group yet: without `override`, the line adds it"
        : undefined;
  const hint =
    (isNamed ? undefined : "quote option names that look like numbers") ??
    groupsBelow(`${group}/${option}`, [...known.keys()], repository) ??
    (within !== null ? inFile : typed.length > 0 ? `use ${typed.join(", or ")}` : undefined) ??
    chosenOtherwise({ typed: group, option, tail: `=${option}` }, { choices: known, repository });
  return new ConfigError({
    code: similar.length > 1 ? "compose.ambiguous_override" : "compose.unused_override",
    message: [
      within === null ? "" : `In '${within}': `,
      `Could not override '${key}'.`,
      first === undefined
        ? " No match in the defaults list."
        : `\nDid you mean to override ${similar.length > 1 ? "one of " : ""}${similar.join(", ")}?`,
      within === null
        ? `\nTo append to your default list use +${key}=${pythonText(value, origin)}`
        : "",
    ].join(""),
    origin,
    key,
    available: similar.length > 0 ? similar : [...known.keys()],
    nearest,
    hint,
  });
}

/** A folder was named as if it were an option: what it holds are groups, chosen one by one. */
function groupsBelow(
  folder: string,
  known: readonly string[],
  repository: Repository,
): string | undefined {
  const commands = known
    .filter((key) => key.startsWith(`${folder}/`))
    .sort(byCodePoint)
    .map((key) => {
      const [option] = repository.list(key.split("@", 1)[0] ?? "", "config");
      return `${key}=${option ?? "OPTION"}`;
    });
  return commands.length === 0
    ? undefined
    : `'${folder}' contains config groups; choose each of them: ${commands.join(", ")}`;
}

function chosenOtherwise(choice: TypedChoice, groups: ChosenGroups): string | undefined {
  const meant = groupMeant(choice, groups);
  return meant === undefined ? undefined : `to choose an option, use ${meant}`;
}

/** As Hydra's message shows the options: a list of them in Python's notation. */
function pythonText(value: RecordedSelection["value"], origin: Origin): string {
  if (!isOptionList(value)) return selectionText(value);
  // What names no option is shown as it was given.
  const given =
    value.includes(null) && origin.kind === "override"
      ? overrideNode(parseOverride(origin.text))
      : null;
  return given === null ? `[${value.map((option) => pyRepr(option)).join(", ")}]` : pyRepr(given);
}
