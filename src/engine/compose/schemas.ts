/** Schemas of the configs of a tree: where they apply, and how a composed tree violates them. */
import type { Override } from "../overrides/ast.ts";
import type { ConfigSchema } from "../values/config-schema.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import { isInterpolationNode } from "../values/interpolation/interpolation-parser.ts";
import { splitKey } from "../values/key-path.ts";
import {
  type ConfigNode,
  child,
  getAt,
  isMissing,
  type Key,
  type MapNode,
  withoutEntry,
} from "../values/node.ts";
import type { Origin, OverrideOrigin, SchemaOrigin } from "../values/origin.ts";
import type { Place } from "../values/place.ts";
import { parsePythonInt } from "../values/python-text.ts";
import type { ResolveContext } from "../values/resolution/context.ts";
import { createResolution } from "../values/resolution/evaluate-interpolation.ts";
import { setterHint } from "../values/resolution/resolution.ts";
import { resolveDeep } from "../values/resolution/resolve-tree.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import { environmentNames } from "./environment-names.ts";
import { type SchemaProblem, type SchemaReader, yamlFileName } from "./sources/config-source.ts";
import type { Repository } from "./sources/repository.ts";

/**
 * Checks a composed tree against the schemas of its configs. Values that are not known yet (a missing value, an
 * interpolation, and containers of them) are not checked here but when they are accessed.
 *
 * @throws ConfigError `schema.mismatch` of the first problem, at the file or the override
 */
export function checkComposed(
  schemas: readonly PlacedSchema[],
  root: ConfigNode,
  overrides: readonly Override[],
): void {
  for (const placed of schemas)
    refuse(placed, problemsAt(placed, root).filter(isCertain), { overrides, root });
}

/**
 * Checks a value that was resolved on access, at its place in the tree.
 *
 * @throws ConfigError `schema.mismatch`
 */
export function checkAccessed(
  schemas: readonly PlacedSchema[],
  root: ConfigNode,
  key: readonly string[],
  resolved: ConfigNode,
): void {
  if (schemas.length === 0) return;
  const path = pathIn(root, key);
  const accessed = path === undefined ? undefined : nodeAt(root, path);
  // An unchanged value was checked before; an absent key lies behind an interpolation, at another place.
  if (path === undefined || accessed === undefined || accessed === resolved) return;
  const tree = withNode(root, path, resolved);
  for (const placed of schemas) {
    const found = problemsAt(placed, tree).filter(isCertain);
    refuse(
      placed,
      found.filter((problem) => isWithin(pathOf(placed, problem), path)),
      { root },
    );
  }
}

/**
 * Checks a whole resolved tree, in which no mandatory value may be missing any more.
 *
 * @throws ConfigError `schema.mismatch`
 */
export function checkResolved(
  schemas: readonly PlacedSchema[],
  root: ConfigNode,
  resolved: ConfigNode,
  context: ResolveContext,
): void {
  checkAccessed(schemas, root, [], resolved);
  for (const placed of schemas)
    refuse(
      placed,
      problemsAt(placed, resolved).filter(({ problem }) => problem === "missing_value"),
      { context, root },
    );
}

/** A tree with what its schemas gave. */
export interface SchemaOutputs<Root extends ConfigNode = MapNode> {
  readonly root: Root;
  /** Those whose output is not known yet, and JSON Schemas, which are asked again about resolved values. */
  readonly pending: readonly PlacedSchema[];
  /** Values of the tree that no node can hold, such as dates, by the JSON text of their path. */
  readonly objects: ReadonlyMap<string, unknown>;
}

/**
 * The tree with the defaults of its schemas, and with the conversions of validators, in the order of the schemas. A validator is asked
 * about resolved values: where one is missing or cannot be resolved yet, its output is not known.
 *
 * @throws ConfigError `schema.mismatch` of all problems of a validator
 */
export function applySchemas<Root extends ConfigNode>(
  root: Root,
  schemas: readonly PlacedSchema[],
  { context, overrides = [], refuses = true }: ApplyOptions,
): SchemaOutputs<Root> {
  let tree: Root = root;
  const objects = new Map<string, unknown>();
  const pending: PlacedSchema[] = [];
  for (const placed of schemas) {
    const { name = "", path, reader, schema } = placed;
    const written = getAt(tree, path);
    if (written === undefined) {
      pending.push(placed);
      continue;
    }
    const resolved = () => resolvedAt(tree, path, context);
    const result = reader.output(schema, { written, resolved }, name);
    if (refuses) refuse(placed, result.issues.filter(isCertain), { overrides, root: tree });
    if (!result.isFinal) pending.push(placed);
    for (const [key, value] of result.objects)
      objects.set(JSON.stringify([...path, ...JSON.parse(key)]), value);
    if (result.tree !== written) tree = withNode(tree, path, result.tree) as Root;
  }
  return { root: tree, pending, objects };
}

interface ApplyOptions {
  readonly context: ResolveContext;
  readonly overrides?: readonly Override[];
  /** Whether a validator's problems are refused here. Default: true. */
  readonly refuses?: boolean;
}

/** The values of a part of the config; undefined if they are not known yet. */
function resolvedAt(
  root: ConfigNode,
  path: readonly string[],
  context: ResolveContext,
): ConfigNode | undefined {
  try {
    return resolvedPart(root, path, context);
  } catch (error) {
    if (isConfigError(error)) return undefined;
    throw error;
  }
}

/** @throws ConfigError of the first interpolation that cannot be resolved */
function resolvedPart(
  root: ConfigNode,
  path: readonly string[],
  context: ResolveContext,
): ConfigNode | undefined {
  // The `hydra` node does not belong to the job's config.
  const config = root.kind === "map" ? withoutEntry(root, "hydra") : root;
  const resolution = createResolution(config, context);
  let place: Place | undefined = resolution.root;
  for (const key of path) place = place && resolution.places.child(place, keyIn(place.node, key));
  return place && resolveDeep(resolution, place);
}

/**
 * A part of a config with what its schema gives.
 * @throws ConfigError `schema.mismatch` if it does not fit, or lacks a value; of the first interpolation that cannot be resolved
 */
export function fitPart(
  root: ConfigNode,
  placed: PlacedSchema,
  context: ResolveContext,
): SchemaOutputs<ConfigNode> {
  const outputs = applySchemas(root, [placed], { context });
  const { path } = placed;
  const resolved = outputs.pending.length > 0 && resolvedPart(outputs.root, path, context);
  if (resolved) {
    const whole = withNode(outputs.root, path, resolved);
    for (const each of outputs.pending)
      refuse(each, problemsAt(each, whole), { root: outputs.root });
  }
  return outputs;
}

/** Whether a schema made a value of one that was written. */
export const isConverted = (
  node: ConfigNode,
): node is ConfigNode & { readonly replaced: ConfigNode; readonly origin: SchemaOrigin } =>
  node.origin.kind === "schema" && node.replaced !== undefined;

/** The tree with what was written in place of what a schema made of it. */
export function unconverted<Node extends ConfigNode>(root: Node): Node {
  const restore = (node: ConfigNode): ConfigNode => {
    if (isConverted(node)) return restore(node.replaced);
    if (node.kind === "list") return { ...node, items: node.items.map(restore) };
    if (node.kind === "scalar") return node;
    const entries = [...node.entries].map(
      ([id, { key, value }]) => [id, { key, value: restore(value) }] as const,
    );
    return { ...node, entries: new Map(entries) };
  };
  return restore(root) as Node;
}

/** The path in the notation of the tree: an index has several notations (`01`, `+1`). */
export function pathIn(
  root: ConfigNode,
  components: readonly string[],
): readonly string[] | undefined {
  const path: string[] = [];
  let current: ConfigNode | undefined = root;
  for (const component of components) {
    const index: bigint | null = current?.kind === "list" ? parsePythonInt(component) : null;
    if (current === undefined || (current.kind === "list" && index === null)) return undefined;
    path.push(index === null ? component : String(index));
    current = child(current, index ?? component);
  }
  return path;
}

const nodeAt = (root: ConfigNode, path: readonly string[]): ConfigNode | undefined =>
  path.reduce<ConfigNode | undefined>((node, key) => node && child(node, keyIn(node, key)), root);

const keyIn = (node: ConfigNode, key: string): Key => (node.kind === "list" ? BigInt(key) : key);

/** The tree with another node at an existing path. */
function withNode(container: ConfigNode, path: readonly string[], node: ConfigNode): ConfigNode {
  const [key, ...rest] = path;
  if (key === undefined) return node;
  if (container.kind === "list") {
    const items = container.items.map((item, index) =>
      String(index) === key ? withNode(item, rest, node) : item,
    );
    return { ...container, items };
  }
  const existing = container.kind === "map" ? container.entries.get(key) : undefined;
  if (container.kind !== "map" || existing === undefined) return container;
  const value = withNode(existing.value, rest, node);
  return { ...container, entries: new Map(container.entries).set(key, { ...existing, value }) };
}

/** Whether the problem does not depend on an unknown value. */
const isCertain = ({ problem, value }: SchemaProblem): boolean =>
  problem === "unknown_key" ||
  problem === "missing_key" ||
  (problem === "invalid_value" && (value === undefined || isKnown(value)));

function isKnown(node: ConfigNode): boolean {
  if (node.kind === "list") return node.items.every(isKnown);
  if (node.kind === "map") return [...node.entries.values()].every(({ value }) => isKnown(value));
  return !isMissing(node) && !isInterpolationNode(node);
}

const pathOf = ({ path }: PlacedSchema, { key }: SchemaProblem): readonly string[] =>
  key === "" ? path : [...path, ...splitKey(key)];

const isWithin = (path: readonly string[], outer: readonly string[]): boolean =>
  outer.every((key, index) => path[index] === key);

interface Refused {
  readonly overrides?: readonly Override[];
  readonly root: ConfigNode;
  /** For what would set a value that is missing. */
  readonly context?: ResolveContext;
}

function refuse(placed: PlacedSchema, problems: readonly SchemaProblem[], about: Refused): void {
  const [first, ...others] = problems.map((problem) => mismatch(placed, problem, about));
  if (first === undefined) return;
  throw others.length === 0 ? first : new ConfigError({ ...first.details, others });
}

function mismatch(
  placed: PlacedSchema,
  problem: SchemaProblem,
  { context, overrides = [], root }: Refused,
): ConfigError {
  const key = keyOf(placed, problem);
  const path = pathOf(placed, problem);
  const { available, description, nearest } = problem;
  const deletion = problem.problem === "missing_key" ? deletedBy(key, overrides) : undefined;
  const origin = deletion ?? problem.origin;
  // Layers set no key that the config does not have.
  const isMissing = problem.problem === "missing_value";
  const setters = isMissing && context ? setterHint(path, context) : undefined;
  const hint = quoted(problem, key, origin) ?? setters ?? description;
  const variables = environmentNames(root, path);
  const by = variables.length === 0 ? "" : ` (environment variable ${variables.join(", ")})`;
  const schemaText = placed.name === undefined ? "" : ` (schema of '${placed.name}')`;
  return new ConfigError({
    code: "schema.mismatch",
    message: `${sentence(key, problem)}${by}${schemaText}`,
    key,
    origin,
    available,
    nearest,
    hint,
  });
}

/**
 * The value in the message. OmegaConf converts a number to a declared string, which a schema does not, so the text is
 * shown as it was typed: `1e5` and not `100000.0`. Of a secret, too, only the typed text is known, and masked.
 */
function quoted({ expected, problem, value }: SchemaProblem, key: string, by: Origin) {
  const isOther =
    value?.kind === "scalar" && value.value !== null && typeof value.value !== "string";
  if (problem !== "invalid_value" || expected !== "a string" || !isOther) return undefined;
  if (by.kind !== "override" && by.kind !== "file") return undefined;
  const { start, end } = by;
  const all = by.kind === "override" ? by.text : by.source.text;
  const typed = all.slice(start, end);
  if (!/^[\w.+-]+$/.test(typed)) return undefined;
  const prefix = all.slice(0, start);
  return by.kind === "override" && prefix.replace(/^\+{1,2}/, "") === `${key}=`
    ? `to make it a string, write '${prefix}"${typed}"' in a shell`
    : `to make it a string, write "${typed}"`;
}

function keyOf({ path }: PlacedSchema, { key }: SchemaProblem): string {
  const prefix = path.join(".");
  if (prefix === "" || key === "") return `${prefix}${key}` || "(the whole config)";
  return key.startsWith("[") ? `${prefix}${key}` : `${prefix}.${key}`;
}

function sentence(key: string, { expected, problem, message }: SchemaProblem): string {
  const why = message === undefined ? "" : `: ${message}`;
  switch (problem) {
    case "unknown_key":
      return `Key '${key}' is not in the schema`;
    case "missing_key":
      return `Key '${key}' is missing${why}`;
    case "missing_value":
      return `Key '${key}' has no value`;
    case "invalid_value":
      return `Value of '${key}' does not fit: ${message ?? `expected ${expected}`}`;
  }
}

/**
 * The override that deleted a key (`~db.port`) or its parent (`~db`, a group at its package): the cause of a missing
 * key, instead of the file around it.
 */
export function deletedBy(key: string, overrides: readonly Override[]): OverrideOrigin | undefined {
  const path = splitKey(key);
  return overrides.findLast(({ keyOrGroup, package: pkg, type }) => {
    if (type !== "delete") return false;
    const deleted = splitKey(pkg ?? keyOrGroup.replaceAll("/", "."));
    return deleted.every((part, index) => path[index] === part);
  })?.origin;
}

/** Whether a schema is the validator of a library, which may convert what it is given. */
export const isValidator = (schema: ConfigSchema): boolean =>
  (typeof schema === "object" || typeof schema === "function") && "~standard" in schema;

/** A schema, and the place in the composed tree where it applies. */
export interface PlacedSchema {
  /** The config path of the entry, e.g. `db/base_mysql`; absent for the schema of the whole config. */
  readonly name?: string;
  /** The package of the entry; empty for the job's whole config. */
  readonly path: readonly string[];
  readonly schema: ConfigSchema;
  readonly reader: SchemaReader;
}

/**
 * The schemas of a defaults list, in its order: those of the store entries that it names, and of entries with the path
 * of a file that it names.
 */
export function placedSchemas(
  rows: readonly DefaultsRow[],
  repository: Repository,
  reader: SchemaReader | undefined,
): readonly PlacedSchema[] {
  if (reader === undefined) return [];
  return rows.flatMap(({ configPath, loaded, package: pkg }): readonly PlacedSchema[] => {
    const { schema } =
      loaded.source.scheme === "structured"
        ? loaded
        : (repository.loadSchema(yamlFileName(configPath)) ?? {});
    const path = pkg === "" ? [] : splitKey(pkg);
    return schema === undefined ? [] : [{ name: configPath, path, schema, reader }];
  });
}

/** Whether a schema takes no null at a path of the tree. */
export const refusesNull = (schemas: readonly PlacedSchema[], path: readonly string[]): boolean =>
  schemas.some(
    ({ path: outer, reader, schema }) =>
      isWithin(path, outer) && reader.refusesNull(schema, path.slice(outer.length)),
  );

/** The problems of a subtree under a schema; none if the tree does not have its place. */
function problemsAt(
  { path, reader, schema }: PlacedSchema,
  root: ConfigNode,
): readonly SchemaProblem[] {
  const node = getAt(root, path);
  if (node === undefined) return [];
  // The `hydra` node does not belong to the job's config.
  const content = path.length === 0 && node.kind === "map" ? withoutEntry(node, "hydra") : node;
  return reader.problems(schema, content);
}
