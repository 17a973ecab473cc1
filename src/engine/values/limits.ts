/** Limits: how much resolution, aliases and merging may add to a tree, and how that is counted. */

import { grouped } from "../../foundation/text/plural.ts";
import {
  checkMembers,
  checkObject,
  type OptionCheck,
  type OptionChecks,
  wrongArgument,
} from "./check-options.ts";
import { ConfigError, type ErrorCode, isConfigError } from "./errors.ts";
import {
  type ConfigNode,
  type ContainerNode,
  checkDepth,
  isPathValue,
  type Key,
  type ScalarValue,
} from "./node.ts";
import type { Origin } from "./origin.ts";
import { fullKeyOf, type Place, placeBelow, rootPlace } from "./place.ts";

/**
 * How much one operation may produce from a small input: a few lines of aliases or interpolations can double a value
 * again and again, and a compressed file can hold nothing but zeros. The contents of files themselves are not limited.
 */
export interface Limits {
  /** Values (maps, lists and scalars) that aliases and interpolations add to the written ones. */
  readonly values: number;
  /** UTF-16 units of the strings that they add or make, and of the YAML that a config is written as, in total. */
  readonly characters: number;
  /** Size in bytes of a compressed file after decompression. */
  readonly unpackedBytes: number;
}

/**
 * A thousand times more than any config of the recorded corpus needs, and at most some 500 MB of memory. Reports that
 * ncu compressed are decompressed to disk.
 */
export const DEFAULT_LIMITS: Limits = {
  values: 1_000_000,
  characters: 100_000_000,
  unpackedBytes: 4_000_000_000,
};

/** The environment variables that set the limits of a command. */
const LIMIT_VARIABLES: Readonly<Record<keyof Limits, string>> = {
  values: "HYDRACONF_MAX_VALUES",
  characters: "HYDRACONF_MAX_CHARACTERS",
  unpackedBytes: "HYDRACONF_MAX_UNPACKED_BYTES",
};

/**
 * The limits that an environment sets, with defaults for the others.
 * @throws ConfigError `value.wrong_type` for a value that is no number
 */
export function limitsOf(env: Readonly<Record<string, string | undefined>>): Limits {
  const { values, characters, unpackedBytes } = LIMIT_VARIABLES;
  // A fast path for the usual case without variables, since every operation calls this.
  if (
    env[values] === undefined &&
    env[characters] === undefined &&
    env[unpackedBytes] === undefined
  )
    return DEFAULT_LIMITS;
  return {
    values: limitIn(env, "values"),
    characters: limitIn(env, "characters"),
    unpackedBytes: limitIn(env, "unpackedBytes"),
  };
}

function limitIn(env: Readonly<Record<string, string | undefined>>, name: keyof Limits): number {
  const variable = LIMIT_VARIABLES[name];
  const text = (env[variable] ?? "").trim();
  if (text === "") return DEFAULT_LIMITS[name];
  const limit = /^\d+(?:_\d+)*$/.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  if (Number.isSafeInteger(limit)) return limit;
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${variable} must be a whole number, not '${text}'`,
    hint: `for example ${variable}=${DEFAULT_LIMITS[name] * 10}`,
  });
}

const limit: OptionCheck = (by, name, value) => {
  if (value !== undefined && (typeof value !== "number" || !(value >= 0)))
    throw wrongArgument(by, name, "a number from 0", value);
};

const LIMITS: OptionChecks<Limits> = { values: limit, characters: limit, unpackedBytes: limit };

/** The option `limits` of a function: those that are given, any of them. */
export const limitsOption: OptionCheck = (by, name, value) => {
  if (value === undefined) return;
  checkObject(by, name, value);
  checkMembers(by, value, LIMITS, `${name}.`);
};

/** Limits, with some of them replaced by the given ones. */
export function withLimits(base: Limits, partial: Partial<Limits> | undefined): Limits {
  if (partial === undefined) return base;
  const { values, characters, unpackedBytes } = partial;
  return {
    values: values ?? base.values,
    characters: characters ?? base.characters,
    unpackedBytes: unpackedBytes ?? base.unpackedBytes,
  };
}

/** Completes given limits by those of an environment, which is read only if needed: that of a process is slow to read. */
export const completeLimits = (
  partial: Partial<Limits> | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Limits => (isComplete(partial) ? partial : withLimits(limitsOf(env), partial));

const isComplete = (limits: Partial<Limits> | undefined): limits is Limits =>
  limits?.values !== undefined &&
  limits.characters !== undefined &&
  limits.unpackedBytes !== undefined;

/** What one operation has used of its limits. Each operation has its own budget, and passes it to all its parts. */
export interface Budget {
  readonly limits: Limits;
  values: number;
  characters: number;
}

/** The size of a value when it is written out: a shared node counts each time it occurs. */
export interface Size {
  readonly values: number;
  readonly characters: number;
}

/** @param spent what an earlier operation used for the first part of this one */
export const createBudget = (limits: Limits, spent: Size = NOTHING): Budget => ({
  limits,
  values: spent.values,
  characters: spent.characters,
});

const NOTHING: Size = { values: 0, characters: 0 };

/** What has been spent by now. */
export const spentOf = ({ values, characters }: Budget): Size => ({ values, characters });

/**
 * Counts what is added at a place against the budget.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function spend(budget: Budget, added: Size, place: Place): void {
  budget.values += added.values;
  if (budget.values > budget.limits.values) throw tooLarge("values", budget.limits, place);
  spendCharacters(budget, added.characters, place);
}

/** @throws ConfigError `limit.characters` */
export function spendCharacters(budget: Budget, added: number, place: Place): void {
  budget.characters += added;
  if (budget.characters > budget.limits.characters)
    throw tooLarge("characters", budget.limits, place);
}

/**
 * Refuses a value that is larger than the limits, whatever its source.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function checkSize({ limits }: Budget, { values, characters }: Size, place: Place): void {
  if (values > limits.values) throw tooLarge("values", limits, place);
  if (characters > limits.characters) throw tooLarge("characters", limits, place);
}

const tooLarge = (kind: "values" | "characters", limits: Limits, place: Place): ConfigError =>
  limitError(kind, limits[kind], { key: fullKeyOf(place), origin: place.node.origin });

const CODES = {
  values: "limit.values",
  characters: "limit.characters",
  unpackedBytes: "limit.unpacked_bytes",
} as const satisfies Record<keyof Limits, ErrorCode>;

/** Where and by what a limit was reached. */
export interface LimitReached {
  readonly key?: string;
  readonly origin?: Origin;
  /** The subject of the message. Default: aliases and interpolations, with the key. */
  readonly what?: string;
  /** The remedy where raising the limit does not help. */
  readonly hint?: string;
}

/** The error of a limit. All limits are raised in the same way, so the hint is the same. */
export function limitError(
  exceeded: keyof Limits,
  limit: number,
  { key, origin, what, hint }: LimitReached = {},
): ConfigError {
  const upTo = key === undefined || key === "" ? "" : ` up to '${key}'`;
  const unit = exceeded === "unpackedBytes" ? "bytes" : exceeded;
  const is = what ?? `Aliases and interpolations${upTo} expand to`;
  const more = limit > 0 ? limit * 10 : 1;
  // Only the command reads reports, so programs have no option for this limit.
  const inProgram =
    exceeded === "unpackedBytes" ? "" : `, or limits: { ${exceeded}: ${more} } in a program`;
  return new ConfigError({
    code: CODES[exceeded],
    message: `${is} more than ${grouped(String(limit))} ${unit}`,
    ...(key !== undefined && { key }),
    origin,
    hint:
      hint ??
      `if that is meant, raise the limit: ${LIMIT_VARIABLES[exceeded]}=${more} in the environment${inProgram}`,
  });
}

/** Whether an error is that of a limit: code that treats a failed value as absent must not do so for these. */
export const isLimitError = (error: unknown): boolean =>
  isConfigError(error) && error.code.startsWith("limit.");

/** Sizes measured before, since a graph of few nodes can be a large tree. */
export type SizeCache = Map<ContainerNode, Size>;

/** The size of a node and everything below it when it is written out: shared nodes count each time they occur. */
export const sizeOf = (node: ConfigNode, cache: SizeCache): Size =>
  node.kind === "scalar"
    ? { values: 1, characters: charactersOf(node.value) }
    : measure(node, { sizes: cache, path: [], onMeasured: () => {} });

/** A lower bound for the length of a value as text. Scalars of other types have a few characters at most. */
export function charactersOf(value: ScalarValue | Key): number {
  if (typeof value === "string") return value.length;
  if (typeof value === "bigint") return value < LARGE && value > -LARGE ? 0 : String(value).length;
  if (typeof value !== "object" || value === null) return 0;
  return isPathValue(value) ? value.path.length : Math.ceil((value.length * 4) / 3);
}

const LARGE = 2n ** 64n;

/** What is known of a tree that may be too large. */
export interface Expanding {
  /** How many characters are written. */
  readonly written?: number;
  /** The tree that it was made of by changing some of it. */
  readonly previous?: ContainerNode;
}

/**
 * Refuses a tree in which repetitions of shared nodes exceed the limits.
 * @throws ConfigError `limit.values`, `limit.characters`, with the innermost map or list that is too large
 */
export function checkExpansion(
  root: ConfigNode,
  limits: Limits,
  { previous, written }: Expanding = {},
): void {
  if (root.kind === "scalar" || (written === undefined && !sharesAny(root, previous))) return;
  const path: Key[] = [];
  let [values, characters] = [0, written ?? 0];
  const tooLarge = (kind: "values" | "characters") => {
    const place = placeBelow(rootPlace(root), path);
    return limitError(kind, limits[kind], { key: fullKeyOf(place), origin: place.node.origin });
  };
  const onMeasured = (size: Size, nodeSize: Size): void => {
    values += nodeSize.values;
    if (written === undefined) characters += nodeSize.characters;
    if (size.values - values > limits.values) throw tooLarge("values");
    if (size.characters - characters > limits.characters) throw tooLarge("characters");
  };
  measure(root, { sizes: new Map(), path, onMeasured });
}

/** A tree in which no map or list occurs more than once, and the latest one that was made from it, also without any. */
interface SingleTree {
  readonly nodes: ReadonlySet<ConfigNode>;
  latest?: { readonly root: ContainerNode; readonly added: WeakSet<ContainerNode> };
}

const SINGLE = new WeakMap<ContainerNode, SingleTree>();

/** Whether a map or list occurs more than once in a tree. Most trees share nothing, and every job of a sweep checks this. */
function sharesAny(root: ContainerNode, previous: ContainerNode | undefined): boolean {
  const single = previous && (SINGLE.get(previous) ?? singleTree(previous));
  if (previous === undefined || single === undefined) return isShared(root, new Set());
  SINGLE.set(previous, single);
  return sharesWithLatest(root, single) && sharesWithBefore(root, previous, single);
}

/** Jobs of a sweep mostly differ less from the job before than from the tree without overrides. */
function sharesWithLatest(root: ContainerNode, single: SingleTree): boolean {
  const { latest, nodes } = single;
  if (latest === undefined) return true;
  const { added } = latest;
  const seenNodes = { has: (node: ContainerNode) => nodes.has(node) || added.has(node) };
  const met = new Set<ContainerNode>();
  if (movesAny(root, latest.root, seenNodes, met)) return true;
  for (const node of met) added.add(node);
  single.latest = { root, added };
  return false;
}

function sharesWithBefore(
  root: ContainerNode,
  previous: ContainerNode,
  single: SingleTree,
): boolean {
  const met = new Set<ContainerNode>();
  if (movesAny(root, previous, single.nodes, met)) return isShared(root, new Set());
  single.latest = { root, added: new WeakSet(met) };
  return false;
}

function singleTree(root: ContainerNode): SingleTree | undefined {
  const nodes = new Set<ContainerNode>();
  return isShared(root, nodes) ? undefined : { nodes };
}

/** Whether a known map or list occurs at another place than in the tree before, or a new one twice. */
function movesAny(
  node: ContainerNode,
  previous: ConfigNode | undefined,
  nodes: { has(node: ContainerNode): boolean },
  met: Set<ContainerNode>,
): boolean {
  if (node === previous) return false;
  if (nodes.has(node) || met.has(node)) return true;
  met.add(node);
  if (node.kind === "list") {
    const items = previous?.kind === "list" ? previous.items : [];
    return node.items.some(
      (item, index) => item.kind !== "scalar" && movesAny(item, items[index], nodes, met),
    );
  }
  const entries = previous?.kind === "map" ? previous.entries : undefined;
  for (const [id, { value }] of node.entries)
    if (value.kind !== "scalar" && movesAny(value, entries?.get(id)?.value, nodes, met))
      return true;
  return false;
}

function isShared(node: ContainerNode, met: Set<ContainerNode>): boolean {
  if (met.has(node)) return true;
  met.add(node);
  if (node.kind === "list")
    return node.items.some((item) => item.kind !== "scalar" && isShared(item, met));
  for (const { value } of node.entries.values())
    if (value.kind !== "scalar" && isShared(value, met)) return true;
  return false;
}

interface Measuring {
  readonly sizes: SizeCache;
  /** The keys that lead to the map or list being measured. */
  readonly path: Key[];
  /** Called once for each map and list, inner ones first, with its size and its own part of that size. */
  readonly onMeasured: (size: Size, nodeSize: Size) => void;
}

function measure(node: ContainerNode, measuring: Measuring): Size {
  const { sizes, path, onMeasured } = measuring;
  const measured = sizes.get(node);
  if (measured !== undefined) return measured;
  checkDepth(path.length, node);
  const nodeSize = { values: 1, characters: 0 };
  const below = { values: 0, characters: 0 };
  const add = (key: Key, value: ConfigNode): void => {
    if (value.kind === "scalar") {
      nodeSize.values++;
      nodeSize.characters += charactersOf(value.value);
      return;
    }
    path.push(key);
    const size = measure(value, measuring);
    path.pop();
    below.values += size.values;
    below.characters += size.characters;
  };
  if (node.kind === "list")
    for (const [index, item] of node.items.entries()) add(BigInt(index), item);
  else
    for (const { key, value } of node.entries.values()) {
      nodeSize.characters += charactersOf(key);
      add(key, value);
    }
  const size = {
    values: nodeSize.values + below.values,
    characters: nodeSize.characters + below.characters,
  };
  sizes.set(node, size);
  onMeasured(size, nodeSize);
  return size;
}
