/** What OmegaConf refuses when plain data, or a document, becomes a config. */

import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import { placeSyntaxError } from "../interpolation/interpolation-lexer.ts";
import {
  checkSyntax,
  createSharedTexts,
  type InterpolationNode,
  isInterpolationNode,
  parseNode,
} from "../interpolation/interpolation-parser.ts";
import { ambiguousKey, ambiguousKeys } from "../key-path.ts";
import { type ConfigNode, checkDepth, isMissing, type Key, type MapNode } from "../node.ts";
import type { FileOrigin, Origin } from "../origin.ts";
import { fullKeyOf, type Place, placeBelow, rootPlace } from "../place.ts";
import { invalidKeyType } from "./construction.ts";

/** Placeholders of values of Python-only types, with the names of the types. */
export type ForeignTypes = ReadonlyMap<ConfigNode, string>;

/**
 * What OmegaConf checks when plain data becomes a configuration: keys of supported types and the
 * syntax of interpolations. Returns the tree.
 * @param place the future place of the tree, which the keys of errors include
 * @param foreign placeholders of values of types that a config does not support: the type's name
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax`, `yaml.depth_limit`, `value.wrong_type`
 */
export function checkTree(
  node: ConfigNode,
  place: Place = rootPlace(node),
  foreign?: ForeignTypes,
  dialect: Dialect = DEFAULT_DIALECT,
): ConfigNode {
  const shared = createSharedTexts();
  const refusals: Refusals = {
    foreign,
    dialect,
    checkInterpolation: (text) =>
      checkSyntax(text.value, dialect, () => parseNode(text, dialect, shared)),
    nullKey: (_, value) =>
      new ConfigError({
        code: "key.invalid_type",
        message: "Incompatible key type 'NoneType'",
        origin: value.origin,
      }),
  };
  const path: Key[] = [];
  try {
    check(node, path, refusals);
  } catch (error) {
    throw isConfigError(error) ? error.withRequestedKey(fullKeyOf(placeBelow(place, path))) : error;
  }
  return node;
}

/** Checks the syntax of a string that contains `${`; throws a ConfigError. */
export type InterpolationCheck = (text: string) => void;

/** The content of a document, before OmegaConf's own rules are applied. */
export interface Constructed {
  readonly root: ConfigNode;
  /** Placeholders of values of Python types that OmegaConf does not support: the type's name. */
  readonly foreign: ReadonlyMap<ConfigNode, string>;
  /** Where keys that are null stand. */
  readonly nullKeys: readonly FileOrigin[];
  /** Whether OmegaConf's checks are needed at all; most files do not need them. */
  readonly suspicious: boolean;
}

/**
 * What `OmegaConf.create` refuses in a document that PyYAML accepts, in document order: null keys, values of types that
 * a config does not support, invalid interpolations. Without `checkText` only values are checked.
 */
export function acceptConfig(
  { root, foreign, nullKeys }: Constructed,
  dialect: Dialect,
  checkText?: InterpolationCheck,
): void {
  const refusals: Refusals = {
    foreign,
    dialect,
    ...(checkText && {
      checkInterpolation: (node) => {
        // A document that is a single string becomes a key, in which interpolations are not parsed.
        if (node !== root) checkInDocument(node, checkText);
      },
      nullKey: ({ origin }, value) =>
        invalidKeyType("NoneType", keyBefore(value.origin, nullKeys) ?? origin),
    }),
  };
  const path: Key[] = [];
  try {
    check(root, path, refusals);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    throw new ConfigError({ ...error.details, key: fullKeyOf(placeBelow(rootPlace(root), path)) });
  }
}

/** The null key of a value: the last one before it, unless the value is an alias of one that stands before all. */
const keyBefore = (value: Origin, keys: readonly FileOrigin[]): FileOrigin | undefined =>
  value.kind === "file"
    ? keys.findLast(({ source, start }) => source === value.source && start <= value.start)
    : undefined;

function checkInDocument(
  { origin, value }: InterpolationNode,
  checkText: InterpolationCheck,
): void {
  try {
    checkText(value);
  } catch (error) {
    throw isConfigError(error) ? placeSyntaxError(error, value, origin) : error;
  }
}

/** What to refuse, besides nodes that are nested too deep. */
interface Refusals {
  readonly foreign: ForeignTypes | undefined;
  readonly dialect: Dialect;
  /** Throws for an interpolation with invalid syntax; absent if syntax is not checked. */
  readonly checkInterpolation?: (node: InterpolationNode) => void;
  /** The error for a null key; absent if null keys are accepted. */
  readonly nullKey?: (parent: MapNode, value: ConfigNode) => ConfigError;
}

/**
 * Checks a tree in document order, up to the first error.
 * @param path the keys that lead to the node, which stay in place after an error
 */
function check(node: ConfigNode, path: Key[], refusals: Refusals): void {
  checkDepth(path.length, node);
  const typeName = refusals.foreign?.get(node);
  if (typeName !== undefined) throw unsupported(node, typeName);
  if (node.kind === "scalar") {
    if (isInterpolationNode(node)) refusals.checkInterpolation?.(node);
    return;
  }
  if (node.kind === "list") {
    if (node.tuple === true && node.items.some(isMissing)) throw missingInTuple(node);
    for (const [index, item] of node.items.entries()) {
      path.push(BigInt(index));
      check(item, path, refusals);
      path.pop();
    }
    return;
  }
  for (const { key, value } of node.entries.values()) {
    if (key === null && refusals.nullKey !== undefined) throw refusals.nullKey(node, value);
    path.push(key);
    const other = typeof key === "bigint" ? ambiguousKey(node, key, refusals.dialect) : undefined;
    if (other !== undefined) throw ambiguousKeys(key, other, String(key), node.origin);
    check(value, path, refusals);
    path.pop();
  }
}

const missingInTuple = ({ origin }: ConfigNode): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: "TupleConfig elements cannot be missing",
    origin,
  });

/** The error of a value whose Python type a config does not support. */
const unsupported = (node: ConfigNode, typeName: string): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `Value '${typeName}' is not a supported primitive type`,
    origin: node.origin,
  });
