/** `hydra.override.aliases` of Hydra 1.4: short names of keys and groups in overrides. */

import { parseOverride } from "../overrides/index.ts";
import type { Dialect } from "../values/dialect.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { isInterpolationNode } from "../values/interpolation/interpolation-parser.ts";
import { equalsSign } from "../values/key-path.ts";
import type { Limits } from "../values/limits.ts";
import { type ConfigNode, child, getAt, type MapNode } from "../values/node.ts";
import { writeYaml } from "../values/yaml/writer.ts";

/*
 * Short names for the keys of overrides, or for whole overrides: `hydra.override.aliases` of the primary config.
 * @see https://github.com/facebookresearch/hydra/issues/3224
 */

/** One short name. */
export interface Alias {
  readonly name: string;
  /** A key (`opt.lr`, `db@second`), or a whole override (`epochs=1`, `~db=mysql`). */
  readonly target: string;
  /** Whether the target is a whole override. */
  readonly isWhole: boolean;
}

const PATH = ["hydra", "override", "aliases"];
const KEY = PATH.join(".");

/**
 * The aliases that a primary config defines, in its order.
 *
 * @param primary the primary config, as it stands at the root of the tree
 * @throws ConfigError `compose.invalid_config`
 */
export function aliasesOf(primary: MapNode, dialect: Dialect): readonly Alias[] {
  const node = dialect.hasAliases ? definitions(primary) : undefined;
  return node === undefined ? [] : aliasesIn(node, dialect);
}

/**
 * The aliases in a map of texts.
 *
 * @throws ConfigError `compose.invalid_config`
 */
export function aliasesIn(node: MapNode, dialect: Dialect): readonly Alias[] {
  const aliases = new Map<string, Alias>();
  for (const { key, value } of node.entries.values()) {
    if (typeof key !== "string" || value.kind !== "scalar" || typeof value.value !== "string")
      throw notText(value);
    if (key.includes("${") || isInterpolationNode(value)) throw notText(value);
    const target = value.value;
    const refuse = (why: string, cause?: ConfigError): never => {
      throw new ConfigError({
        ...cause?.details,
        code: "compose.invalid_config",
        message: `Invalid override alias '${key}': ${why}`,
        key: KEY,
        origin: value.origin,
      });
    };
    const isWhole = equalsSign(target, dialect) >= 0;
    if (!isWhole && /^[+~]/.test(target)) refuse("A key alias target cannot have an operator");
    if (!isWhole && target !== "") requireKey(target, dialect, refuse);
    for (const name of key.split(",").map((part) => part.trim())) {
      if (name === "" || /^[+~]/.test(name) || equalsSign(name, dialect) >= 0)
        refuse("Alias names must be nonempty override keys");
      requireKey(name, dialect, refuse);
      if (aliases.has(name)) refuse(`Duplicate override alias '${name}'`);
      aliases.set(name, { name, target, isWhole });
    }
  }
  return [...aliases.values()];
}

function definitions(primary: MapNode): MapNode | undefined {
  let node: ConfigNode | undefined = primary;
  for (const key of PATH) {
    node = child(node, key);
    if (node !== undefined && isInterpolationNode(node))
      throw invalid("Override alias definitions must be literal", node);
    if (node === undefined || (node.kind === "scalar" && key !== PATH.at(-1))) return undefined;
  }
  if (node?.kind === "map") return node;
  throw invalid(`${KEY} must be a mapping`, node);
}

const invalid = (message: string, node: ConfigNode | undefined, hint?: string): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message,
    key: KEY,
    ...(node !== undefined && { origin: node.origin }),
    hint,
  });

const notText = (value: ConfigNode): ConfigError =>
  invalid("Override aliases must have string names and literal string targets", value);

function requireKey(
  key: string,
  dialect: Dialect,
  refuse: (why: string, cause?: ConfigError) => never,
): void {
  try {
    parseOverride(`${key}=1`, { dialect });
  } catch (error) {
    if (!isConfigError(error)) throw error;
    refuse(error.message.replace(/^Error parsing override '.*?=1': /s, ""), error);
  }
}

/** Overrides whose aliases are expanded, and what was typed for those that had one. */
export interface Expansion {
  readonly overrides: readonly string[];
  readonly typed: ReadonlyMap<string, string>;
}

/**
 * Expands the aliases in overrides, once each: what an alias stands for is not expanded again.
 *
 * @throws ConfigError `compose.invalid_config` for the alias of a key without a value
 */
export function expandAliases(
  texts: readonly string[],
  aliases: readonly Alias[],
  dialect: Dialect,
): Expansion {
  const typed = new Map<string, string>();
  if (aliases.length === 0) return { overrides: texts, typed };
  const overrides = texts.map((text, index) => {
    const expanded = expand(text, index, aliases, dialect);
    if (expanded !== text) typed.set(expanded, text);
    return expanded;
  });
  return { overrides, typed };
}

/** The key that an alias stands for, or sets: `--help lr` explains `opt.lr`. Other words stay. */
export function aliasedKey(word: string, aliases: readonly Alias[], dialect: Dialect): string {
  const alias = aliases.find(({ name }) => name === word);
  if (alias === undefined) return word;
  const { isWhole, target } = alias;
  const [, rest = ""] = /^(?:~|\+{0,2})(.*)$/s.exec(target) ?? [];
  return isWhole ? rest.slice(0, equalsSign(rest, dialect)) : target;
}

function expand(text: string, index: number, aliases: readonly Alias[], dialect: Dialect): string {
  const [, operator = "", rest = ""] = /^(~|\+{0,2})(.*)$/s.exec(text) ?? [];
  const equals = equalsSign(rest, dialect);
  const key = equals < 0 ? rest : rest.slice(0, equals);
  const name = dialect.extendsOverrides ? key.replace(/:$/, "") : key;
  const alias = aliases.find((candidate) => candidate.name === name);
  if (alias === undefined) return text;
  const { isWhole, target } = alias;
  if (isWhole) {
    if (equals >= 0) return text;
    return operator === "" ? target : operator + target.replace(/^(?:~|\+{1,2})/, "");
  }
  if (equals >= 0) return operator + target + rest.slice(name.length);
  if (operator === "~") return operator + target;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `Override alias '${name}' requires a value for '${text}'`,
    key: target,
    origin: { kind: "override", text, index },
    hint: `use ${operator}${name}=VALUE`,
  });
}

/**
 * Runs an operation with expanded overrides, and adds what was typed to its error about one of them.
 *
 * @throws ConfigError as `work` does
 */
export function explainingAliases<Result>(typed: Expansion["typed"], work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!isConfigError(error) || error.details.origin?.kind !== "override") throw error;
    const { text } = error.details.origin;
    const original = typed.get(text);
    if (original === undefined) throw error;
    throw new ConfigError({
      ...error.details,
      message: `${error.message.trimEnd()}\nAlias expansion:\n  '${original}' -> '${text}'`,
    });
  }
}

/** The table of `--help` and `--info aliases`; empty if there are none. */
export const aliasTable = (aliases: readonly Alias[]): string =>
  aliases.length === 0
    ? ""
    : `== Override aliases ==\n\n${aliases
        .map(({ isWhole, name, target }) => `${name} -> ${target}${isWhole ? "" : "=<value>"}\n`)
        .join("")}`;

/**
 * Refuses a config other than the primary one that defines aliases.
 *
 * @param layer the config at its package
 * @throws ConfigError `compose.invalid_config`
 */
export function refuseAliases(configPath: string, layer: ConfigNode): void {
  const found = getAt(layer, PATH);
  if (found === undefined) return;
  throw invalid(
    `In '${configPath}': ${KEY} can only be defined in the primary config`,
    found,
    "move the aliases to the primary config",
  );
}

/**
 * Refuses overrides that change the aliases.
 *
 * @throws ConfigError `compose.override_failed`
 */
export function requireSameAliases(base: MapNode, overridden: MapNode, limits: Limits): void {
  const [original, changed] = [getAt(base, PATH), getAt(overridden, PATH)];
  if (original === changed || textOf(original, limits) === textOf(changed, limits)) return;
  throw new ConfigError({
    code: "compose.override_failed",
    message: `${KEY} can only be defined in the primary config; command-line overrides cannot change them`,
    key: KEY,
    ...(changed !== undefined && { origin: changed.origin }),
  });
}

const textOf = (node: ConfigNode | undefined, limits: Limits): string =>
  node === undefined ? "" : writeYaml(node, { limits });
