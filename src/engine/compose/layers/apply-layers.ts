/** Puts the values of layers into a composed tree: finds their keys, and gives them types. */
import { overrideNode } from "../../overrides/evaluate.ts";
import { parseOverride } from "../../overrides/parser.ts";
import { updateNode } from "../../values/edit/update.ts";
import { ConfigError, isConfigError, nearest } from "../../values/errors.ts";
import { isInterpolationNode } from "../../values/interpolation/interpolation-parser.ts";
import {
  type ConfigNode,
  child,
  isMissingOrNull,
  type Key,
  type MapNode,
  scalar,
} from "../../values/node.ts";
import { describeOrigin, type Origin } from "../../values/origin.ts";
import { keyText, pyRepr } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import type { SecretPath } from "../secrets.ts";
import type { DeclaredType } from "../sources/config-source.ts";
import type { LayerValue } from "./layer.ts";

/** The type that a schema declares at a path; undefined if it says nothing. */
export type DeclaredTypeAt = (path: readonly string[]) => DeclaredType | undefined;

/** A tree with the values of layers, and the paths of those that are secret. */
export interface Layered {
  readonly root: MapNode;
  readonly secrets: readonly SecretPath[];
}

/**
 * The tree with the values in it.
 *
 * @throws ConfigError `compose.override_failed` for a key that the tree does not have, or several keys that fit a name,
 *   and for a text that is not of the type
 */
export function applyLayers(
  root: MapNode,
  values: readonly LayerValue[],
  declaredAt: DeclaredTypeAt,
  context: ResolveContext,
): Layered {
  const secrets: SecretPath[] = [];
  let tree = root;
  for (const value of values) {
    const path = findPath(tree, value);
    if (path === undefined) {
      if (value.isOptional === true) continue;
      throw unknownKey(tree, value);
    }
    const node = typedNode(
      { ...value, path: path.map(keyText) },
      nodeAt(tree, path),
      declaredAt(path.map(keyText)),
      context,
    );
    tree = put(tree, path, node, value, context);
    if (value.isSecret === true) secrets.push(path.map(keyText));
  }
  return { root: tree, secrets };
}

function put(
  root: MapNode,
  path: readonly Key[],
  node: ConfigNode,
  value: LayerValue,
  context: ResolveContext,
): MapNode {
  try {
    const updated = updateNode(root, path, node, { merge: false, plain: true }, context);
    return updated.kind === "map" ? updated : root;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    // The message quotes the text.
    if (value.isSecret === true)
      throw failed(
        value,
        path.map(keyText),
        "its text cannot be the value of this key, whose type is declared",
      );
    throw failed(value, path.map(keyText), error.message, { cause: error });
  }
}

/** The keys of the tree that the names of a value mean; undefined where there is none. */
function findPath(
  root: ConfigNode,
  value: Pick<LayerValue, "path" | "label" | "origin">,
): readonly Key[] | undefined {
  const path: Key[] = [];
  let node: ConfigNode | undefined = root;
  for (const name of value.path) {
    const key: Key | undefined = node && keyNamed(node, name, value);
    if (key === undefined) return undefined;
    path.push(key);
    node = node && child(node, key);
  }
  return path.length === 0 ? undefined : path;
}

const lettersOf = (name: string): string => name.toLowerCase().replaceAll(/[_-]/g, "");

/** The comparisons of names, the strictest first. */
const FORMS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => name.toLowerCase(),
  lettersOf,
];

function keyNamed(
  node: ConfigNode,
  name: string,
  value: Pick<LayerValue, "path" | "label" | "origin">,
): Key | undefined {
  const keys = keysOf(node);
  for (const form of FORMS) {
    const found = keys.filter((key) => form(keyText(key)) === form(name));
    if (found.length > 1) {
      const differInType = new Set(found.map(keyText)).size === 1;
      const shown = found.map(differInType ? pyRepr : keyText);
      throw new ConfigError({
        code: "compose.override_failed",
        message: `${value.label} may mean several keys: ${shown.join(", ")}`,
        origin: value.origin,
        available: shown,
        hint: differInType
          ? "rename one of the keys"
          : "a table gives the key of each variable: environment({ table: { NAME: 'a.key' } })",
      });
    }
    if (found.length === 1) return found[0];
  }
  return undefined;
}

/** A variable has only names: `10` is the integer that YAML reads, where a map has it. */
const keysOf = (node: ConfigNode): readonly Key[] => {
  if (node.kind === "list") return node.items.map((_, index) => BigInt(index));
  return node.kind === "map" ? [...node.entries.values()].map(({ key }) => key) : [];
};

const nodeAt = (root: ConfigNode, path: readonly Key[]): ConfigNode | undefined =>
  path.reduce<ConfigNode | undefined>((node, key) => node && child(node, key), root);

function unknownKey(root: MapNode, value: LayerValue): ConfigError {
  const { label, origin, path } = value;
  let node: ConfigNode = root;
  const present: string[] = [];
  for (const name of path) {
    const key: Key | undefined = keyNamed(node, name, value);
    const inner: ConfigNode | undefined = key === undefined ? undefined : child(node, key);
    if (key === undefined || inner === undefined) break;
    present.push(keyText(key));
    node = inner;
  }
  const missing = path[present.length] ?? "";
  const names = keysOf(node)
    .map(keyText)
    .filter((name) => present.length > 0 || name !== "hydra");
  const key = [...present, missing.toLowerCase()].join(".");
  const joined = pathsOfLetters(node, lettersOf(path.slice(present.length).join("")));
  const below = joined.length > 1 ? joined : names.map((name) => [name]);
  const available = below.map((inner) => [...present, ...inner].join("."));
  const similar = joined.length > 0 ? undefined : nearest(key, available);
  const inner =
    joined.length === 1 ? joined[0] : below.find((_, index) => available[index] === similar);
  const meant = inner && [...present, ...inner];
  const name = meant && value.nameOf?.(meant);
  return new ConfigError({
    code: "compose.override_failed",
    message: isInterpolationNode(node)
      ? `${label}: '${present.join(".")}' is an interpolation, and has no key '${missing.toLowerCase()}' of its own`
      : `${label}: the config has no key '${key}'`,
    origin,
    key,
    available,
    ...(meant !== undefined && { nearest: meant.join(".") }),
    hint: `${name === undefined ? "" : `name it ${name}; or `}add the key to a config file (??? for a value that must be given), or let the layer leave out unknown keys: unknown: 'ignore'`,
  });
}

/** The keys below a node whose names together have these letters: `db.port` of `dbport`, since `APP_DB_PORT` is easily written for it. */
function pathsOfLetters(node: ConfigNode, letters: string): readonly (readonly string[])[] {
  return keysOf(node).flatMap((key): readonly (readonly string[])[] => {
    const first = lettersOf(keyText(key));
    if (first === letters) return [[keyText(key)]];
    const inner = child(node, key);
    if (first === "" || inner === undefined || !letters.startsWith(first)) return [];
    return pathsOfLetters(inner, letters.slice(first.length)).map((rest) => [
      keyText(key),
      ...rest,
    ]);
  });
}

/** The value of a text, by the declared type or else that of the value that it replaces. */
function typedNode(
  value: LayerValue,
  present: ConfigNode | undefined,
  declared: DeclaredType | undefined,
  context: ResolveContext,
): ConfigNode {
  const { origin, text } = value;
  // The value of a typed field is converted when it is assigned.
  if (present?.type !== undefined && present.kind === "scalar") return literal(text, origin);
  switch (declared ?? typeOf(present)) {
    case "string":
      return literal(text, origin);
    case "integer":
      return numberOf(value, /^[+-]?\d+$/, "an integer", present);
    case "number":
      return numberOf(value, NUMBER, "a number", present);
    case "boolean":
      return booleanOf(value, present);
    case "array":
      return grammarNode(value, /^\s*\[/.test(text) ? text : `[${text}]`, context);
    case "object":
      return grammarNode(value, text, context);
    case undefined:
      return value.isSecret === true ? literal(text, origin) : guessed(value, context);
  }
}

function typeOf(node: ConfigNode | undefined): DeclaredType | undefined {
  if (node === undefined || isMissingOrNull(node) || isInterpolationNode(node)) return undefined;
  if (node.kind !== "scalar") return node.kind === "list" ? "array" : "object";
  switch (typeof node.value) {
    case "string":
      return "string";
    case "bigint":
    case "number":
      return "number";
    case "boolean":
      return "boolean";
    default:
      return undefined;
  }
}

/** A text that is no interpolation, whatever it contains. */
const literal = (text: string, origin: Origin): ConfigNode =>
  scalar(
    text.replaceAll(/(\\*)\$\{/g, (_, slashes: string) => `${slashes}${slashes}\\\${`),
    origin,
  );

const NUMBER =
  /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|\.?(?:inf|Inf|INF)|\.?(?:nan|NaN|NAN))$/;

/** An integer stays one where the files have a float: `1` is 1.0 there. */
function numberOf(
  value: LayerValue,
  form: RegExp,
  expected: string,
  present: ConfigNode | undefined,
): ConfigNode {
  const text = value.text.trim();
  if (!form.test(text)) throw wrongText(value, expected, present);
  const isFloat = present?.kind === "scalar" && typeof present.value === "number";
  if (/^[+-]?\d+$/.test(text) && !isFloat)
    return scalar(BigInt(text.replace(/^\+/, "")), value.origin);
  const special = /^([+-]?)\.?(inf|nan)$/i.exec(text);
  const number =
    special === null
      ? Number(text)
      : special[2]?.toLowerCase() === "nan"
        ? Number.NaN
        : special[1] === "-"
          ? Number.NEGATIVE_INFINITY
          : Number.POSITIVE_INFINITY;
  return scalar(number, value.origin);
}

function booleanOf(value: LayerValue, present: ConfigNode | undefined): ConfigNode {
  const text = value.text.trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(text)) return scalar(true, value.origin);
  if (["false", "no", "off", "0"].includes(text)) return scalar(false, value.origin);
  throw wrongText(value, "true or false", present);
}

/** As in an override: `1` is an int, `[1,2]` a list; what that grammar refuses is a text. */
function guessed(value: LayerValue, context: ResolveContext): ConfigNode {
  const text = value.text.trim();
  if (text === "" || text.includes("${")) return literal(value.text, value.origin);
  try {
    return grammarNode(value, text, context);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return literal(value.text, value.origin);
  }
}

function grammarNode(value: LayerValue, text: string, { dialect }: ResolveContext): ConfigNode {
  try {
    const node = overrideNode(parseOverride(`x=${text}`, { dialect }), dialect);
    return withOrigin(node ?? scalar(null, value.origin), value.origin);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    throw failed(value, value.path, `${shownText(value)} cannot be read`, {
      // It quotes the text.
      ...(value.isSecret !== true && { cause: error }),
      hint: "a list is written as in an override: [a,b], a map {key:value}",
    });
  }
}

/** Every value of the layer has its origin. */
function withOrigin(node: ConfigNode, origin: Origin): ConfigNode {
  if (node.kind === "scalar") return { ...node, origin };
  if (node.kind === "list")
    return { ...node, origin, items: node.items.map((item) => withOrigin(item, origin)) };
  const entries = [...node.entries].map(
    ([id, { key, value }]) => [id, { key, value: withOrigin(value, origin) }] as const,
  );
  return { ...node, origin, entries: new Map(entries) };
}

function wrongText(
  value: LayerValue,
  expected: string,
  present: ConfigNode | undefined,
): ConfigError {
  const reason =
    present === undefined || isMissingOrNull(present)
      ? "as the schema says"
      : `as in ${describeOrigin(present.origin)}`;
  return failed(value, value.path, `${shownText(value)} is not ${expected}, ${reason}`);
}

const shownText = ({ isSecret, text }: LayerValue): string =>
  isSecret === true ? "its text" : `'${text}'`;

const failed = (
  { label, origin }: LayerValue,
  path: readonly string[],
  problem: string,
  more: { readonly cause?: ConfigError; readonly hint?: string } = {},
): ConfigError =>
  new ConfigError({
    code: "compose.override_failed",
    message: `${label}: ${problem}`,
    origin,
    key: path.join("."),
    ...more,
  });
