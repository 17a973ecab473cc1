/** Limits: how much resolution, aliases and merging may add to a tree, and what counts against them. */

import { grouped } from "../text/plural.ts";
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
 * How much one operation may make of a small input: a few lines of aliases or interpolations can double what they refer
 * to again and again, and a compressed file can hold nothing but zeros. What files hold as it is read is never limited.
 */
export interface Limits {
  /** Values (maps, lists and scalars) that aliases and interpolations add to those that are written. */
  readonly values: number;
  /** UTF-16 units of the texts that they add or make, and those of the YAML that a config is written as, all of them. */
  readonly characters: number;
  /** Bytes that a compressed file may hold. */
  readonly unpackedBytes: number;
}

/**
 * A thousand times what any config of the recorded corpus stays below, and no more than some 500 MB of memory. Reports that
 * ncu compressed are unpacked to the disk.
 */
export const DEFAULT_LIMITS: Limits = {
  values: 1_000_000,
  characters: 100_000_000,
  unpackedBytes: 4_000_000_000,
};

/** The variables of the environment that set them for a command. */
const LIMIT_VARIABLES: Readonly<Record<keyof Limits, string>> = {
  values: "HYDRACONF_MAX_VALUES",
  characters: "HYDRACONF_MAX_CHARACTERS",
  unpackedBytes: "HYDRACONF_MAX_UNPACKED_BYTES",
};

/**
 * The limits that an environment sets, and the defaults of the others.
 *
 * @throws ConfigError `value.wrong_type` for what is no number
 */
export function limitsOf(env: Readonly<Record<string, string | undefined>>): Limits {
  const { values, characters, unpackedBytes } = LIMIT_VARIABLES;
  // Hardly anybody sets one, and this is asked for by every operation.
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

/** Limits with others in their place, where they are given. */
export function withLimits(base: Limits, given: Partial<Limits> | undefined): Limits {
  if (given === undefined) return base;
  const { values, characters, unpackedBytes } = given;
  return {
    values: values ?? base.values,
    characters: characters ?? base.characters,
    unpackedBytes: unpackedBytes ?? base.unpackedBytes,
  };
}

/** Limits of which all that are not given are those of the process: its environment is slow to ask, and asked for no more. */
export const completeLimits = (given: Partial<Limits> | undefined): Limits =>
  isComplete(given) ? given : withLimits(limitsOf(process.env), given);

const isComplete = (given: Partial<Limits> | undefined): given is Limits =>
  given?.values !== undefined &&
  given.characters !== undefined &&
  given.unpackedBytes !== undefined;

/** What one operation has spent of its limits. Each operation has its own, and hands it to all that take part. */
export interface Budget {
  readonly limits: Limits;
  values: number;
  characters: number;
}

/** How large something is once it is written out: what is shared counts wherever it stands. */
export interface Size {
  readonly values: number;
  readonly characters: number;
}

/** @param spent what the operation had spent before, where another one has done the first part of it */
export const createBudget = (limits: Limits, spent: Size = NOTHING): Budget => ({
  limits,
  values: spent.values,
  characters: spent.characters,
});

export const NOTHING: Size = { values: 0, characters: 0 };

/** What has been spent by now. */
export const spentOf = ({ values, characters }: Budget): Size => ({ values, characters });

/**
 * Counts what is added at a place.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function spend(budget: Budget, added: Size, at: Place): void {
  budget.values += added.values;
  if (budget.values > budget.limits.values) throw tooLarge("values", budget.limits, at);
  spendCharacters(budget, added.characters, at);
}

/** @throws ConfigError `limit.characters` */
export function spendCharacters(budget: Budget, added: number, at: Place): void {
  budget.characters += added;
  if (budget.characters > budget.limits.characters) throw tooLarge("characters", budget.limits, at);
}

/**
 * Refuses what is larger than all that may be added, wherever it came from.
 * @throws ConfigError `limit.values`, `limit.characters`
 */
export function checkSize({ limits }: Budget, { values, characters }: Size, at: Place): void {
  if (values > limits.values) throw tooLarge("values", limits, at);
  if (characters > limits.characters) throw tooLarge("characters", limits, at);
}

const tooLarge = (of: "values" | "characters", limits: Limits, at: Place): ConfigError =>
  limitError(of, limits[of], { key: fullKeyOf(at), origin: at.node.origin });

const CODES = {
  values: "limit.values",
  characters: "limit.characters",
  unpackedBytes: "limit.unpacked_bytes",
} as const satisfies Record<keyof Limits, ErrorCode>;

/** Where a limit was reached, and by what. */
export interface LimitReached {
  readonly key?: string;
  readonly origin?: Origin;
  /** What is too large, as the message begins. Default: aliases and interpolations, with the key. */
  readonly what?: string;
  /** What to do where a higher limit does not help. */
  readonly hint?: string;
}

/** The error of a limit, whatever was too large: what to do is the same. */
export function limitError(
  of: keyof Limits,
  limit: number,
  { key, origin, what, hint }: LimitReached = {},
): ConfigError {
  const upTo = key === undefined || key === "" ? "" : ` up to '${key}'`;
  const unit = of === "unpackedBytes" ? "bytes" : of;
  const is = what ?? `Aliases and interpolations${upTo} expand to`;
  const more = limit > 0 ? limit * 10 : 1;
  // Programs have no other way to reports than the command.
  const inProgram = of === "unpackedBytes" ? "" : `, or limits: { ${of}: ${more} } in a program`;
  return new ConfigError({
    code: CODES[of],
    message: `${is} more than ${grouped(String(limit))} ${unit}`,
    ...(key !== undefined && { key }),
    origin,
    hint:
      hint ??
      `if that is meant, raise the limit: ${LIMIT_VARIABLES[of]}=${more} in the environment${inProgram}`,
  });
}

/** Whether an error is that of a limit: nothing that does without a value may take it for one that is not there. */
export const isLimitError = (error: unknown): boolean =>
  isConfigError(error) && error.code.startsWith("limit.");

/** What was measured before: a graph of few nodes can be a large tree. */
export type SizeCache = Map<ContainerNode, Size>;

/** The size of a node that is written out, with all that is below it wherever it is shared. */
export const sizeOf = (node: ConfigNode, known: SizeCache): Size =>
  node.kind === "scalar"
    ? { values: 1, characters: charactersOf(node.value) }
    : measure(node, { known, path: [], onMeasured: () => {} });

/** What a text of the value is at least as long as. Other scalars than these have a few characters at most. */
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
  readonly before?: ContainerNode;
}

/**
 * Refuses a tree in which what is shared adds more than it may to what is there once.
 * @throws ConfigError `limit.values`, `limit.characters`, with the innermost map or list that is too large
 */
export function checkExpansion(
  root: ConfigNode,
  limits: Limits,
  { before, written }: Expanding = {},
): void {
  if (root.kind === "scalar" || (written === undefined && !sharesAny(root, before))) return;
  const path: Key[] = [];
  let [values, characters] = [0, written ?? 0];
  const tooLarge = (of: "values" | "characters") => {
    const place = placeBelow(rootPlace(root), path);
    return limitError(of, limits[of], { key: fullKeyOf(place), origin: place.node.origin });
  };
  const onMeasured = (size: Size, own: Size): void => {
    values += own.values;
    if (written === undefined) characters += own.characters;
    if (size.values - values > limits.values) throw tooLarge("values");
    if (size.characters - characters > limits.characters) throw tooLarge("characters");
  };
  measure(root, { known: new Map(), path, onMeasured });
}

/** The maps and lists of trees in which none stands more than once. */
const SINGLE = new WeakMap<ContainerNode, ReadonlySet<ConfigNode>>();

/** Whether a map or list stands more than once in a tree: in most nothing does, and every job of a sweep asks. */
function sharesAny(root: ContainerNode, before: ContainerNode | undefined): boolean {
  if (before !== undefined) {
    const known = SINGLE.get(before) ?? singleNodes(before);
    if (known !== undefined) {
      SINGLE.set(before, known);
      if (!movesAny(root, before, known, new Set())) return false;
    }
  }
  return isShared(root, new Set());
}

function singleNodes(root: ContainerNode): ReadonlySet<ConfigNode> | undefined {
  const met = new Set<ContainerNode>();
  return isShared(root, met) ? undefined : met;
}

/** Whether a map or list of the tree before stands at another place in the one that was made of it, or a new one twice. */
function movesAny(
  node: ContainerNode,
  before: ConfigNode | undefined,
  known: ReadonlySet<ConfigNode>,
  met: Set<ContainerNode>,
): boolean {
  if (node === before) return false;
  if (known.has(node) || met.has(node)) return true;
  met.add(node);
  if (node.kind === "list") {
    const items = before?.kind === "list" ? before.items : [];
    return node.items.some(
      (item, at) => item.kind !== "scalar" && movesAny(item, items[at], known, met),
    );
  }
  const entries = before?.kind === "map" ? before.entries : undefined;
  for (const [id, { value }] of node.entries)
    if (value.kind !== "scalar" && movesAny(value, entries?.get(id)?.value, known, met))
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
  readonly known: SizeCache;
  /** The keys that lead to the map or list that is measured. */
  readonly path: Key[];
  /** Told of each map and list once, those inside it first: its size, and its own part of that. */
  readonly onMeasured: (size: Size, own: Size) => void;
}

function measure(node: ContainerNode, measuring: Measuring): Size {
  const { known, path, onMeasured } = measuring;
  const before = known.get(node);
  if (before !== undefined) return before;
  checkDepth(path.length, node);
  const own = { values: 1, characters: 0 };
  const below = { values: 0, characters: 0 };
  const add = (key: Key, value: ConfigNode): void => {
    if (value.kind === "scalar") {
      own.values++;
      own.characters += charactersOf(value.value);
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
      own.characters += charactersOf(key);
      add(key, value);
    }
  const size = {
    values: own.values + below.values,
    characters: own.characters + below.characters,
  };
  known.set(node, size);
  onMeasured(size, own);
  return size;
}
