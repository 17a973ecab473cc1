import { ConfigError } from "../../values/errors.ts";
import { nearest as nearestName } from "../../values/nearest.ts";
import { pyRepr } from "../../values/python-text.ts";
import { byCodePoint } from "../sources/repository.ts";
import { isOptionList } from "./item.ts";
import type { RecordedSelection, TreeRecord } from "./ledger.ts";
import { selectionText } from "./ledger.ts";

/**
 * Every override of a group and every deletion must have met its group in the tree.
 *
 * @throws ConfigError `compose.unused_override`, or `compose.ambiguous_override` where the group
 * appears under several packages.
 */
export function checkUsage({ selections, deletions, keysOfGroup, known }: TreeRecord): void {
  for (const [key, selection] of selections)
    if (!selection.used) throw unusedSelection(key, selection, keysOfGroup, known);
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
  keysOfGroup: TreeRecord["keysOfGroup"],
  known: TreeRecord["known"],
): ConfigError {
  const [group = key] = key.split("@", 1);
  const similar = [...(keysOfGroup.get(group) ?? [])].sort(byCodePoint);
  const [first] = similar;
  const nearest = first ?? nearestName(key, [...known.keys()]);
  const option = selectionText(value);
  const append = `+${key}=${option}`;
  return new ConfigError({
    code: similar.length > 1 ? "compose.ambiguous_override" : "compose.unused_override",
    message: [
      within === null ? "" : `In '${within}': `,
      `Could not override '${key}'.`,
      first === undefined
        ? " No match in the defaults list."
        : `\nDid you mean to override ${similar.length > 1 ? "one of " : ""}${similar.join(", ")}?`,
      within === null ? `\nTo append to your default list use +${key}=${pythonText(value)}` : "",
    ].join(""),
    origin,
    key,
    available: similar.length > 0 ? similar : [...known.keys()],
    ...(nearest !== undefined && { nearest }),
    hint: nearest === undefined ? `use ${append}` : `use ${nearest}=${option}, or ${append}`,
  });
}

/** As Hydra's message shows the options: a list of them in Python's notation. */
const pythonText = (value: RecordedSelection["value"]): string =>
  isOptionList(value)
    ? `[${value.map((option) => pyRepr(option)).join(", ")}]`
    : selectionText(value);
