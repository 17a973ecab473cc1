/** The remedy for an override that fails: what to type instead, tried on the config before it is proposed. */
import { firstFew } from "../../foundation/text/plural.ts";
import type { DictEntry, Override, OverrideValue } from "../overrides/ast.ts";
import { type Advice, type Proposed, saying, use, useAnyOf } from "../overrides/hints.ts";
import { parseOverride } from "../overrides/parser.ts";
import { elementToString, overrideKeyElement, overrideText, quoted } from "../overrides/print.ts";
import { isSweep, sweepStrings } from "../overrides/sweep.ts";
import { isConfigError, nearest as nearestName } from "../values/errors.ts";
import { nearestKey, obstacle, splitKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  child,
  getAt,
  isMissingOrNull,
  type KeyId,
  keyId,
  type ListNode,
} from "../values/node.ts";
import { pathOf } from "../values/place.ts";
import { pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import { selectPath } from "../values/resolution/resolution.ts";
import { standsInTree } from "./delete-keys.ts";
import { isSetByHydra, settingMeant } from "./hydra/hydra-schema.ts";
import { isAboutSecret, type SecretPath } from "./secrets.ts";

export interface FailedOverride {
  readonly override: Override;
  /** The override as it was typed: for a job of a sweep, that of the sweep. */
  readonly typed: Override;
  /** The config before the override. */
  readonly root: ConfigNode;
  /** The configs with the other options of a swept group: a proposed override works in them, too. */
  readonly swept: readonly ConfigNode[];
  readonly secrets: readonly SecretPath[];
  /** The option of every group, by override key. */
  readonly choices: ReadonlyMap<string, string | null>;
  /** What would choose options that have a key. */
  readonly optionsWith: (path: readonly string[]) => readonly string[];
  readonly context: ResolveContext;
  /** @throws ConfigError if the override fails */
  readonly apply: (root: ConfigNode, override: Override) => ConfigNode;
}

/** What to say of a failed override: alternatives to its key, and the remedy. */
export interface OverrideRemedy extends Partial<Advice> {
  readonly available?: readonly string[];
  readonly nearest?: string;
}

/**
 * The alternatives to a key that the config does not have. Each proposed override was applied to the config, and
 * replaces no value by a container or the other way round. Without one, the hint says what is in the way.
 */
export function overrideRemedy(failed: FailedOverride): OverrideRemedy {
  const { override, root, context, swept } = failed;
  const { keyOrGroup: key } = override;
  const tail = typedTail(failed);
  const below = keysBelow(failed, tail);
  if (below !== undefined) return below;
  const parts = splitKey(key, context.dialect);
  const setting = settingMeant(parts, context.dialect);
  if (setting?.versionHint !== undefined) return saying(setting.versionHint);
  const found = nearestKey(root, parts);
  const { hint: integer } = found;
  if (integer !== undefined) return throughMap(failed, parts) ?? saying(integer);
  const available = found.available.filter((other) => !isSetByHydra(other));
  const nearest =
    found.nearest === undefined || isSetByHydra(found.nearest) ? undefined : found.nearest;
  const referred = throughReference(failed, parts);
  const meant = [
    referred,
    ...sameButSeparators(root, key),
    ...inPackages(failed),
    setting?.key,
    ...(nearest === undefined || swept.some((other) => hasKey(other, parts)) ? [] : [nearest]),
    ...itemsWith(root, parts),
  ].find((other) => other !== undefined && works(`${other}${tail}`, failed));
  const added =
    override.type === "change" || override.type === "replace"
      ? ["+", "++"]
          .map((plus) => `${plus}${key}${tail.replace(/^:\s*/, "")}`)
          .find((text) => works(text, failed))
      : [`${key}${tail}`, `++${key}${tail}`].find((text) => works(text, failed));
  const isSame = meant !== undefined && bare(meant) === bare(key);
  const refusal = pluginRefusal(root, parts);
  const addedThere = [`+${referred}${tail}`, `++${referred}${tail}`].find(
    (text) => meant === undefined && referred !== undefined && works(text, failed),
  );
  const whole = meant === undefined && added === undefined ? appendedItem(failed) : undefined;
  const proposed = [
    ...(meant === undefined ? [] : [{ override: `${meant}${tail}` }]),
    ...(addedThere === undefined ? [] : [toAdd(addedThere, override)]),
    ...(added === undefined || isSame || refusal !== undefined ? [] : [toAdd(added, override)]),
    ...(added === undefined ? [] : toReplace(override, tail, failed)),
  ];
  const reason = refusal ?? inTheWay(root, parts, failed);
  return {
    available,
    ...(meant !== undefined && meant === nearest && { nearest }),
    ...(whole ??
      (proposed.length > 0
        ? withOptions(
            useAnyOf(
              proposed.map((each) => ({ ...each, override: inZip(each.override, failed.typed) })),
            ),
            isSweep(failed.typed) || hasKey(root, parts) ? [] : failed.optionsWith(parts),
          )
        : reason === undefined
          ? undefined
          : saying(reason))),
  };
}

/** Says of an unknown key which options have it. */
const withOptions = (advice: Advice, options: readonly string[]): Advice =>
  options.length === 0
    ? advice
    : {
        ...advice,
        hint: `${advice.hint}; with ${firstFew(options, MOST_OPTIONS)} the key is there`,
      };

/** A hint names so many options. */
const MOST_OPTIONS = 3;

/** What is proposed about the choice of a group in a job, with the options of the sweep that it comes from. */
export function choiceAdvice(
  { hint, proposals }: Advice,
  { override, typed }: Pick<FailedOverride, "override" | "typed">,
): Advice {
  const chosen = valueText(override);
  if (!isSweep(typed) || proposals === undefined) return { hint, proposals };
  const swept = proposals.map((text) => {
    const option = behindEquals(text);
    const value = option === chosen ? valueText(typed) : inSweep(option, override, typed);
    return inZip(text.slice(0, -option.length) + value, typed);
  });
  return {
    hint: proposals.reduce(
      (told, text, index) => told.replace(text, () => swept[index] ?? text),
      hint,
    ),
    proposals: swept,
  };
}

const behindEquals = (text: string): string => text.slice(text.indexOf("=") + 1);

const valueText = (override: Override): string => behindEquals(writtenText(override));

/** The text of an override, or of the column of a zip. */
const writtenText = ({ origin: { text, start, end } }: Override): string => text.slice(start, end);

/** What is proposed for the column of a zip, within the zip, which takes the values of a column in a call only. */
function inZip(proposed: string, { origin: { text, start = 0, end } }: Override): string {
  if (end === undefined) return proposed;
  const value = select(() => parseOverride(proposed))?.value;
  const column =
    value?.kind === "choice" && value.simple
      ? `${proposed.slice(0, value.span.start)}choice(${proposed.slice(value.span.start)})`
      : proposed;
  return text.slice(0, start) + column + text.slice(end);
}

/** A corrected value of a job in place of the wrong one in its sweep. */
const inSweep = (corrected: string, override: Override, typed: Override): string =>
  isSweep(typed)
    ? jobsOf(typed)
        .map(({ text }) => (text === valueText(override) ? corrected : text))
        .join(",")
    : corrected;

/** For a dict with keys that the map does not have: with the likely keys, added, or as a map of its own. */
function keysBelow(failed: FailedOverride, tail: string): OverrideRemedy | undefined {
  const { context, override, root } = failed;
  const { keyOrGroup: key, type, value } = override;
  const path = splitKey(key, context.dialect);
  const node = getAt(root, path);
  const wrong = node === undefined || value === undefined ? undefined : unknownKey(value, node);
  if (wrong === undefined || node === undefined || value === undefined) return undefined;
  const { available, nearest } = nearestKey(root, [...path, ...wrong]);
  const corrected = typedValues(failed).map((each) => each && withKeysMeant(each, node));
  const texts = corrected.flatMap((each) => (each === undefined ? [] : [elementToString(each)]));
  const written = `${overrideKeyElement(override)}=${texts.join(",")}`;
  const isWhole = texts.length === corrected.length;
  const meant = isWhole && works(written, failed) ? written : undefined;
  const added = [`+${key}${tail}`, `++${key}${tail}`].find((text) => works(text, failed));
  const proposed = [
    ...(meant === undefined ? [] : [{ override: meant }]),
    ...(added === undefined || type !== "change" ? [] : [toAdd(added, override)]),
    ...toReplace(override, tail, failed),
  ];
  if (proposed.length === 0) return undefined;
  return {
    available,
    ...(meant !== undefined && nearest !== undefined && { nearest }),
    ...useAnyOf(proposed),
  };
}

/** The path to the first key of a dict that the map in its place does not have. */
function unknownKey(value: OverrideValue, node: ConfigNode): readonly string[] | undefined {
  if (value.kind !== "dict" || node.kind !== "map") return undefined;
  for (const [id, entry] of value.entries) {
    const existing = node.entries.get(id);
    const below = existing === undefined ? [] : unknownKey(entry.value, existing.value);
    if (below !== undefined) return [String(entry.key), ...below];
  }
  return undefined;
}

/**
 * A dict with the likely key of the map in its place for each key that the map does not have; undefined where two keys would become one,
 * which would lose a value.
 */
function withKeysMeant(value: OverrideValue, node: ConfigNode): OverrideValue | undefined {
  if (value.kind !== "dict" || node.kind !== "map") return value;
  const others = [...node.entries].flatMap(([id, { key }]) =>
    value.entries.has(id) ? [] : [String(key)],
  );
  const entries = new Map<KeyId, DictEntry>();
  for (const [id, entry] of value.entries) {
    const existing = node.entries.get(id);
    const key = existing === undefined ? nearestName(String(entry.key), others) : undefined;
    const below = existing === undefined ? entry.value : withKeysMeant(entry.value, existing.value);
    const meantId = key === undefined ? id : keyId(key);
    if (below === undefined || entries.has(meantId)) return undefined;
    entries.set(meantId, { key: key ?? entry.key, value: below });
  }
  return { ...value, entries };
}

/** What is said in place of a further setting of a sweeper or launcher of Hydra's own or ours, which refuse those that they do not know. */
function pluginRefusal(root: ConfigNode, parts: readonly string[]): string | undefined {
  const [hydra, kind = "", ...rest] = parts;
  if (hydra !== "hydra" || !/^(?:sweeper|launcher)$/.test(kind) || rest.length !== 1)
    return undefined;
  const target = getAt(root, ["hydra", kind, "_target_"]);
  return target?.kind === "scalar" && OWN_PLUGIN.test(pyStr(target))
    ? `this ${kind} has no such setting: hydra/${kind}=NAME chooses another one`
    : undefined;
}

const OWN_PLUGIN = /^(?:hydraconf\.|hydra\._internal\.core_plugins\.)/;

/** An integer key in a map of its own, which is merged: `m={10:3}` for `m.10=3`. */
function throughMap(failed: FailedOverride, parts: readonly string[]): Advice | undefined {
  const maps = valuesOf(failed).map((value) => `{${parts.at(-1)}:${value}}`);
  const text = `${parts.slice(0, -1).join(".")}=${maps.join(",")}`;
  return parts.length > 1 && works(text, failed)
    ? {
        ...use(text),
        hint: `use ${text}: the key is an integer, which key paths find from Hydra 1.4 on`,
      }
    : undefined;
}

/** A key without what separates its parts, and without case. */
const bare = (key: string): string => key.replace(/[^a-z0-9]/gi, "").toLowerCase();

/** The keys that differ from the typed one only in what separates their parts: `hydra.run.dir` for `hydra.run_dir`. */
export function sameButSeparators(root: ConfigNode, typed: string): readonly string[] {
  const wanted = bare(typed);
  const found: string[] = [];
  const search = (node: ConfigNode, path: readonly string[], rest: string): void => {
    if (node.kind !== "map" || node.entries.size > WIDEST) return;
    for (const { key, value } of node.entries.values()) {
      const part = bare(String(key));
      const here = [...path, String(key)];
      if (part === rest) found.push(here.join("."));
      else if (part !== "" && rest.startsWith(part)) search(value, here, rest.slice(part.length));
    }
  };
  if (wanted !== "") search(root, [], wanted);
  return found.filter((key) => key !== typed);
}

/** Larger maps are not searched. */
const WIDEST = 1_000;

/** The key with the package of a config group in place of the group: `src.port` for `db.port`, where the list has `db@src`. */
function inPackages({ choices, override: { keyOrGroup } }: FailedOverride): readonly string[] {
  return [...choices.keys()].flatMap((choice) => {
    const [group = "", pkg] = choice.split("@");
    const start = `${group.replaceAll("/", ".")}.`;
    return pkg !== undefined && keyOrGroup.startsWith(start)
      ? [`${pkg}.${keyOrGroup.slice(start.length)}`]
      : [];
  });
}

/** For an override that would append an item: the list with one more item. No function appends one that Hydra has not deprecated. */
export function appendedItem(failed: FailedOverride): Advice | undefined {
  const { context, override, root, secrets } = failed;
  const { keyOrGroup, type } = override;
  const parts = splitKey(keyOrGroup, context.dialect);
  const { node, length } = reached(root, parts);
  if (node.kind !== "list" || type === "delete") return undefined;
  const [index, ...below] = parts.slice(length);
  const isNext = index === String(node.items.length) && below.length === 0;
  if (length < parts.length ? !isNext : type !== "add") return undefined;
  const values = valuesOf(failed);
  if (values.some((value) => value.trim() === "")) return undefined;
  const key = parts.slice(0, length).join(".");
  // The items would be shown.
  if (isAboutSecret(parts.slice(0, length), secrets)) return undefined;
  const written = extendedList(key, node, values);
  return written !== undefined && works(written, failed) ? asWholeList(written) : undefined;
}

/** The hint with the override that sets a list to its items and a further one. */
export const asWholeList = (written: string): Advice =>
  useAnyOf([{ override: written }], "a list is replaced as a whole:");

/** The override that sets a list to its items and a further one; with several values for that, a sweep. Undefined for items without a short text. */
export function extendedList(
  key: string,
  list: ListNode,
  values: readonly string[],
): string | undefined {
  const items = list.items.map(itemText);
  const written = `${key}=${values.map((value) => `[${[...items, value].join(",")}]`).join(",")}`;
  return items.includes(undefined) || written.length > LONGEST ? undefined : written;
}

const LONGEST = 200;

/** An item as an override has it; undefined for a container, bytes and a text of several lines. */
function itemText(node: ConfigNode): string | undefined {
  if (node.kind !== "scalar") return undefined;
  const { value } = node;
  if (value === null) return "null";
  if (typeof value === "object" || (typeof value === "string" && /[\n\r]/.test(value)))
    return undefined;
  if (typeof value !== "string") return pyStr(node).toLowerCase();
  return value.includes("${") ? quoted(value, "'") : overrideText(value);
}

const toAdd = (text: string, { type }: Override): Proposed => ({
  override: text,
  ...((type === "change" || type === "replace") && { purpose: "to add the key" }),
});

/** A dict is merged, also with `+`: what replaces the map that is there instead. */
function toReplace(
  { keyOrGroup, type, value }: Override,
  tail: string,
  failed: FailedOverride,
): readonly Proposed[] {
  const text = `${keyOrGroup}:${tail}`;
  return type === "change" && value?.kind === "dict" && works(text, failed)
    ? [{ override: text, purpose: `to replace '${keyOrGroup}' as a whole` }]
    : [];
}

/** The key behind an interpolation on the path: `src.l.0.k` for `ds.0.k`, where `ds` is `${src.l}`. */
function throughReference(
  { root, context }: FailedOverride,
  parts: readonly string[],
): string | undefined {
  const resolution = createResolution(root, context);
  for (let length = parts.length - 1; length > 0; length--) {
    const found = select(() => selectPath(resolution, resolution.root, parts.slice(0, length)));
    if (found === undefined) continue;
    const path = pathOf(found).map(String);
    const isElsewhere = path.some((part, index) => part !== parts[index]);
    return isElsewhere && standsInTree(found)
      ? [...path, ...parts.slice(length)].join(".")
      : undefined;
  }
  return undefined;
}

/** What a call finds; undefined if it throws an error of ours. */
export function select<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** The keys of the items of a list that have what is asked of the list: `ds.0.name` for `ds.name`. */
function itemsWith(root: ConfigNode, parts: readonly string[]): readonly string[] {
  const { node, length } = reached(root, parts);
  if (node.kind !== "list" || length === parts.length || isIndex(parts[length])) return [];
  const below = parts.slice(length);
  return node.items.flatMap((item, index) =>
    hasKey(item, below) ? [[...parts.slice(0, length), index, ...below].join(".")] : [],
  );
}

const isIndex = (part = ""): boolean => /^-?\d+$/.test(part);

/** The last node on a path, and the number of components that lead to it. */
function reached(root: ConfigNode, parts: readonly string[]): { node: ConfigNode; length: number } {
  let node = root;
  for (const [length, part] of parts.entries()) {
    const next = child(node, node.kind === "list" && isIndex(part) ? BigInt(part) : part);
    if (next === undefined) return { node, length };
    node = next;
  }
  return { node, length: parts.length };
}

const hasKey = (root: ConfigNode, parts: readonly string[]): boolean =>
  reached(root, parts).length === parts.length;

/** What was typed after the key, with the operator: for a job of a sweep, all of the sweep. */
function typedTail({ typed }: FailedOverride): string {
  const [text, { keyOrGroup }] = [writtenText(typed), typed];
  return text.slice(text.indexOf(keyOrGroup) + keyOrGroup.length);
}

/** The values that were typed: for a job of a sweep, those of all jobs. */
const typedValues = ({
  context: { dialect },
  override,
  typed,
}: FailedOverride): readonly (OverrideValue | undefined)[] =>
  isSweep(typed)
    ? jobsOf(typed).map((job) => parseOverride(job.override, { dialect }).value)
    : [override.value];

/** The same, as text. */
function valuesOf(failed: FailedOverride): readonly string[] {
  const { typed } = failed;
  return isSweep(typed)
    ? jobsOf(typed).map(({ text }) => text)
    : [typedTail(failed).replace(/^\s*:?=/, "")];
}

/** The overrides of the jobs of a sweep; of a long one, the first. */
function jobsOf(typed: Override): readonly { readonly override: string; readonly text: string }[] {
  const head = `${overrideKeyElement(typed)}=`;
  return (
    select(() => [...take(sweepStrings(typed), MOST_VALUES)])?.map((text) => ({
      override: head + text,
      text,
    })) ?? []
  );
}

/** Further values of a sweep are not tried. */
const MOST_VALUES = 16;

function* take<T>(items: Iterable<T>, most: number): Generator<T> {
  let left = most;
  for (const item of items) {
    if (left-- === 0) return;
    yield item;
  }
}

/** Whether an override, for a sweep that of each job, applies to the config, and to those of the other jobs, and keeps what is there. */
function works(text: string, failed: FailedOverride): boolean {
  const { dialect } = failed.context;
  const override = select(() => parseOverride(text, { dialect }));
  if (override === undefined || override.keyOrGroup === "") return false;
  const jobs = isSweep(override)
    ? jobsOf(override).map((job) => parseOverride(job.override, { dialect }))
    : [override];
  return (
    jobs.length > 0 &&
    jobs.every((job) =>
      [failed.root, ...failed.swept].every(
        (root) => keepsValues(root, job, failed.context) && select(() => failed.apply(root, job)),
      ),
    )
  );
}

/** Whether no text becomes a map, no map a text, and no interpolation either of them. */
export function keepsValues(
  root: ConfigNode,
  { keyOrGroup, value }: Override,
  { dialect }: Pick<ResolveContext, "dialect">,
): boolean {
  const parts = splitKey(keyOrGroup, dialect);
  const { node, length } = reached(root, parts);
  if (length < parts.length) return node.kind !== "scalar" || isMissingOrNull(node);
  const isContainer = value?.kind === "list" || value?.kind === "dict";
  return isMissingOrNull(node) || (node.kind !== "scalar") === isContainer;
}

/** For a value in place of a map with one key: `hydra.run.dir=x` for `hydra.run=x`. */
export function onlyKeyBelow(failed: FailedOverride): Advice | undefined {
  const { context, override, root } = failed;
  const node = getAt(root, splitKey(override.keyOrGroup, context.dialect));
  if (node?.kind !== "map" || node.entries.size !== 1) return undefined;
  const [{ key } = { key: "" }] = node.entries.values();
  const text = `${overrideKeyElement(override)}.${key}${typedTail(failed)}`;
  return works(text, failed) ? use(text) : undefined;
}

/** Why no override can set the key: a value without keys, or an index that the list does not have. */
function inTheWay(
  root: ConfigNode,
  parts: readonly string[],
  { override: { keyOrGroup }, secrets }: FailedOverride,
): string | undefined {
  const { node, length } = reached(root, parts);
  const path = parts.slice(0, length).join(".");
  if (length === parts.length || path === "") return undefined;
  const isHidden = node.kind === "scalar" && isAboutSecret(parts.slice(0, length), secrets);
  const blocked = isHidden ? `'${path}' has no keys` : obstacle(node, path, parts[length] ?? "");
  return blocked === undefined || node.kind !== "scalar"
    ? blocked
    : `${blocked}: for '${keyOrGroup}' a map must take its place where it is set`;
}
