import type { CompositionWarning } from "../warning.ts";
import type { Deletion, GroupChoices, Selection } from "./group-choices.ts";
import type { GroupItem } from "./item.ts";
import { isOptionList } from "./item.ts";
import type { Place, PlacedConfig } from "./placement.ts";
import { placeItem } from "./placement.ts";
import * as refuse from "./refusals.ts";

/**
 * What building one tree finds out on its way: which choices were made, which overrides took
 * effect. It lives as long as that pass; the tree keeps only its `record`.
 */
export interface Ledger {
  /** The item with the option that overrides select for it. */
  choose(item: GroupItem, place: Place): GroupItem;
  /** An `override` item of a list; the command line and whoever came before win over it. */
  noteOverride(item: GroupItem, placed: PlacedConfig, parent: PlacedConfig): void;
  /** @throws ConfigError `compose.invalid_defaults` for a second, other choice. */
  noteChoice(placed: PlacedConfig): void;
  /** Whether the command line deletes this choice. */
  takeDeletion(placed: PlacedConfig): boolean;
  warn(warning: CompositionWarning): void;
  /** The choices made so far, by override key. */
  known(): ReadonlyMap<string, string | null>;
  record(): TreeRecord;
}

export interface TreeRecord {
  /** The option of every group, in the order in which they were reached. */
  readonly known: ReadonlyMap<string, string | null>;
  /** The override keys under which each group appears. */
  readonly keysOfGroup: ReadonlyMap<string, ReadonlySet<string>>;
  /**
   * All selections, those of the command line first.
   * @internal
   */
  readonly selections: ReadonlyMap<string, RecordedSelection>;
  /** @internal */
  readonly deletions: ReadonlyMap<string, Deletion & { readonly used: boolean }>;
  readonly warnings: readonly CompositionWarning[];
}

export interface RecordedSelection extends Selection {
  readonly used: boolean;
  /** The config whose defaults list holds the override; null for the command line. */
  readonly within: string | null;
}

/** @param onWarning is told what the record will hold, as it comes up */
export function createLedger(
  choices: GroupChoices,
  onWarning: (warning: CompositionWarning) => void = () => {},
): Ledger {
  const selections = createSelections(choices);
  const deletions = createDeletions(choices);
  const known = new Map<string, string | null>();
  const chosenBy = new Map<string, PlacedConfig>();
  const keysOfGroup = new Map<string, Set<string>>();
  const warnings: CompositionWarning[] = [];
  return {
    choose: selections.choose,
    noteOverride: selections.noteOverride,
    noteChoice(placed) {
      const key = placed.overrideKey;
      if (key === null) return;
      const before = chosenBy.get(key);
      if (before !== undefined && before.name !== placed.name)
        throw refuse.secondChoice(placed, before, key);
      known.set(key, placed.name);
      chosenBy.set(key, placed);
      const keys = keysOfGroup.get(placed.group) ?? new Set();
      keysOfGroup.set(placed.group, keys.add(key));
    },
    takeDeletion: deletions.take,
    warn(warning) {
      warnings.push(warning);
      onWarning(warning);
    },
    known: () => new Map(known),
    record: () => ({
      known,
      keysOfGroup,
      selections: selections.all,
      deletions: deletions.all(),
      warnings,
    }),
  };
}

/** What is selected for each group: by the command line, then by whoever says `override` first. */
function createSelections({ selected }: GroupChoices): Pick<Ledger, "choose" | "noteOverride"> & {
  readonly all: TreeRecord["selections"];
} {
  const all = new Map<string, RecordedSelection>();
  for (const [key, selection] of selected)
    all.set(key, { ...selection, used: false, within: null });
  return {
    all,
    choose(item, place) {
      const key = placeItem(item, null, place).overrideKey;
      const selection = key === null ? undefined : all.get(key);
      if (key === null || selection === undefined) return item;
      all.set(key, { ...selection, used: true });
      return { ...item, value: selection.value, origin: selection.origin };
    },
    noteOverride({ origin, value }, { overrideKey: key }, { configPath }) {
      if (key === null || all.has(key)) return;
      all.set(key, { value, origin, used: false, within: configPath });
    },
  };
}

/** The deletions of the command line, and which of them met a choice. */
function createDeletions({ deleted }: GroupChoices): {
  readonly take: Ledger["takeDeletion"];
  readonly all: () => TreeRecord["deletions"];
} {
  const used = new Set<string>();
  return {
    take({ name, overrideKey: key }) {
      const deletion = key === null ? undefined : deleted.get(key);
      if (key === null || deletion === undefined) return false;
      if (deletion.name !== null && deletion.name !== name) return false;
      used.add(key);
      return true;
    },
    all: () =>
      new Map([...deleted].map(([key, deletion]) => [key, { ...deletion, used: used.has(key) }])),
  };
}

/** How a selection is written on the command line. */
export const selectionText = (value: RecordedSelection["value"]): string =>
  isOptionList(value) ? `[${value.join(",")}]` : (value ?? "null");
