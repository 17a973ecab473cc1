/** Values that schemas mark secret: where they are, and the tree with masks in their place. */
import { columnsOf, type Override, type OverrideValue } from "../overrides/ast.ts";
import { overrideKeyElement } from "../overrides/print.ts";
import type { ConfigSchema } from "../values/config-schema.ts";
import type { Difference } from "../values/diff.ts";
import { isInterpolationNode } from "../values/interpolation/interpolation-parser.ts";
import { splitKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  getAt,
  isMissingOrNull,
  type Key,
  type KeyId,
  type MapEntry,
  type MapNode,
  withoutEntry,
} from "../values/node.ts";
import type { Origin } from "../values/origin.ts";
import { keyText, pyStr } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { selectNode } from "../values/resolution/select.ts";
import { formsOf, holdsForm } from "./encoded-forms.ts";
import { type PlacedSchema, unconverted } from "./schemas.ts";
import type { SchemaReader } from "./sources/config-source.ts";

/** Shown in place of a secret value. */
export const MASK = "***";

/** The keys from the root of the config to a secret value, map or list. */
export type SecretPath = readonly string[];

/** The parts of a composition that masking needs. */
export interface Secrets {
  readonly secrets: readonly SecretPath[];
  /** Their texts may contain secrets. */
  readonly overrides: readonly Override[];
}

/** The values that schemas mark secret: those of the config store, and the program's own schema. */
export function findSecrets(
  root: MapNode,
  placed: readonly PlacedSchema[],
  program: { readonly schema?: ConfigSchema; readonly reader?: SchemaReader },
): readonly SecretPath[] {
  const { reader, schema } = program;
  const declared =
    schema === undefined || reader === undefined
      ? []
      : reader.secrets(schema, withoutEntry(root, "hydra"));
  const stored = placed.flatMap(({ path, reader: storeReader, schema: stored }) => {
    const node = getAt(root, path);
    if (node === undefined) return [];
    return storeReader.secrets(stored, node).map((below) => [...path, ...below]);
  });
  return [...declared, ...stored];
}

/** A config whose secrets are known. */
interface WithSecrets {
  /** With the `hydra` node. */
  readonly root: MapNode;
  readonly config: MapNode;
  readonly secrets: readonly SecretPath[];
}

/** The texts of all secrets in a composed config, including values that were overridden. */
export const secretTexts = (
  { config, root, secrets }: WithSecrets,
  context: ResolveContext,
): readonly string[] => textsAt([root, config], secrets, context);

function textsAt(
  trees: readonly ConfigNode[],
  paths: readonly SecretPath[],
  context: ResolveContext,
): readonly string[] {
  return paths.flatMap((path) => {
    const key = path.map((name) => `[${name}]`).join("");
    const options = { throwOnResolutionFailure: false, deep: true };
    return trees.flatMap((tree) => {
      const node = safely(() => selectNode(tree, key, context, options));
      return node === undefined ? [] : textsOf(node);
    });
  });
}

/** Undefined for a value that cannot be resolved: such a value cannot appear in a text either. */
function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function textsOf(node: ConfigNode): readonly string[] {
  const texts =
    node.kind === "list"
      ? node.items.flatMap(textsOf)
      : node.kind === "map"
        ? [...node.entries.values()].flatMap(({ value }) => textsOf(value))
        : node.value === null || typeof node.value === "boolean"
          ? []
          : [pyStr(node)];
  return node.replaced === undefined ? texts : [...texts, ...textsOf(node.replaced)];
}

/** Shorter texts occur everywhere by chance: masking them would protect little and hide much. */
export const SHORTEST_SECRET = 4;

/**
 * The paths of the values that a schema made of secrets, as a URL with a password in it: those which contain the text of one in any of the
 * forms that programs write.
 */
export function secretsOfOutput(
  { config, root, secrets }: WithSecrets,
  context: ResolveContext,
): readonly SecretPath[] {
  const made = secrets.length === 0 ? [] : schemaValues(config, []);
  if (made.length === 0) return [];
  const texts = new Set(
    textsAt([root, config, unconverted(root)], secrets, context).filter(
      (text) => text.length >= SHORTEST_SECRET,
    ),
  );
  const forms = [...texts].flatMap(formsOf);
  return made.filter(({ text }) => holdsForm(text, forms)).map(({ path }) => path);
}

/** The scalars that schemas gave. */
function schemaValues(
  node: ConfigNode,
  path: SecretPath,
): readonly { readonly path: SecretPath; readonly text: string }[] {
  if (node.kind === "list")
    return node.items.flatMap((item, index) => schemaValues(item, [...path, String(index)]));
  if (node.kind === "map")
    return [...node.entries.values()].flatMap(({ key, value }) =>
      schemaValues(value, [...path, keyText(key)]),
    );
  return node.origin.kind === "schema" ? [{ path, text: pyStr(node) }] : [];
}

/** The texts of overrides with a secret, and what is shown in their place. */
export function secretOverrides({ overrides, secrets }: Secrets): ReadonlyMap<string, string> {
  if (secrets.length === 0) return NONE;
  return new Map(
    overrides
      .filter((override) => holdsSecret(override, secrets))
      .map((override) => [override.origin.text, maskedText(override)]),
  );
}

const NONE: ReadonlyMap<string, string> = new Map();

const maskedText = ({ keyOrGroup, type }: Override): string =>
  `${overrideKeyElement({ type, keyOrGroup })}=${MASK}`;

/** Whether an override sets a secret, a value inside one, or a map around one. */
function holdsSecret({ keyOrGroup, value }: Override, secrets: readonly SecretPath[]): boolean {
  if (value === undefined) return false;
  const columns = columnsOf(value);
  if (columns.length > 0) return columns.some((column) => holdsSecret(column, secrets));
  const path = splitKey(keyOrGroup);
  return secrets.some(
    (secret) => isPrefix(secret, path) || (isPrefix(path, secret) && holdsDict(value)),
  );
}

function holdsDict(value: OverrideValue): boolean {
  if (value.kind === "dict") return true;
  if (value.kind === "union") return value.parts.some(holdsDict);
  return (value.kind === "choice" || value.kind === "list") && value.items.some(holdsDict);
}

/** Whether a value is a secret, is part of one, or has one in it. */
export const isAboutSecret = (path: readonly string[], secrets: readonly SecretPath[]): boolean =>
  secrets.some((secret) => isPrefix(secret, path) || isPrefix(path, secret));

const isPrefix = (prefix: readonly string[], path: readonly string[]): boolean =>
  prefix.every((key, index) => path[index] === key);

/**
 * The tree in a form that may be shown and stored. A secret that is null or missing is kept, and so is an
 * interpolation, since it is not the value itself, unless the tree is going to be resolved. Origins that are overrides
 * with a secret are masked as well, also in replaced nodes.
 *
 * @param path of the tree in the config
 */
export function maskSecrets<Node extends ConfigNode>(
  root: Node,
  found: Secrets,
  options: { readonly resolving?: boolean; readonly path?: readonly Key[] } = {},
): Node {
  if (found.secrets.length === 0) return root;
  const texts = secretOverrides(found);
  const ids = new Set(found.secrets.map((path) => JSON.stringify(path)));

  const originOf = (origin: Origin, secret: boolean): Origin => {
    if (origin.kind === "schema" && origin.converted !== undefined) {
      const { converted } = origin;
      const text = secret ? MASK : converted.text;
      return { ...origin, converted: { text, origin: originOf(converted.origin, secret) } };
    }
    const shown = origin.kind === "override" ? texts.get(origin.text) : undefined;
    return shown === undefined || origin.kind !== "override"
      ? origin
      : { kind: "override", text: shown, index: origin.index };
  };
  const maskAt = (node: ConfigNode, path: readonly string[], within: boolean): ConfigNode => {
    const secret = within || ids.has(JSON.stringify(path));
    const origin = originOf(node.origin, secret);
    const { replaced } = node;
    const kept = replaced === undefined ? {} : { replaced: maskAt(replaced, path, within) };
    if (node.kind === "list") {
      const items = node.items.map((item, index) => maskAt(item, [...path, String(index)], secret));
      return { ...node, items, origin, ...kept };
    }
    if (node.kind === "map") {
      const entries = new Map<KeyId, MapEntry>();
      for (const [id, { key, value }] of node.entries)
        entries.set(id, { key, value: maskAt(value, [...path, keyText(key)], secret) });
      return { ...node, entries, origin, ...kept };
    }
    if (secret && !staysVisible(node, options.resolving === true))
      return { kind: "scalar", value: MASK, origin, ...kept };
    // The text of an override, as in `hydra.overrides`.
    const shown = typeof node.value === "string" ? texts.get(node.value) : undefined;
    return { ...node, origin, ...(shown !== undefined && { value: shown }), ...kept };
  };
  const start = (options.path ?? []).map(keyText);
  const above = start.some((_, end) => ids.has(JSON.stringify(start.slice(0, end))));
  return maskAt(root, start, above) as Node;
}

const staysVisible = (node: ConfigNode, resolving: boolean): boolean =>
  isMissingOrNull(node) || (!resolving && isInterpolationNode(node));

/** Differences with secrets masked: that a secret changed is shown, but not its value. */
export const maskDifferences = (
  differences: readonly Difference[],
  older: Secrets,
  after: Secrets,
): readonly Difference[] =>
  differences.map((difference): Difference => {
    const { path } = difference;
    const masked = (node: ConfigNode, secrets: Secrets) => maskSecrets(node, secrets, { path });
    if (difference.kind === "added")
      return { ...difference, after: masked(difference.after, after) };
    const shown = { before: masked(difference.before, older) };
    if (difference.kind === "removed") return { ...difference, ...shown };
    return { ...difference, ...shown, after: masked(difference.after, after) };
  });
