/** Calls a resolver of an interpolation, and checks its arguments and its result. */
import { messageOf } from "../../../foundation/system/builtin-types.ts";
import { DIALECTS, type Dialect } from "../dialect.ts";
import { alternativesTo, ConfigError, isConfigError } from "../errors.ts";
import { parseElement } from "../interpolation/interpolation-parser.ts";
import { type ReferenceKey, referenceKey } from "../key-path.ts";
import {
  type ConfigNode,
  getAt,
  isMissing,
  isNode,
  type ScalarValue,
  writtenScalar,
} from "../node.ts";
import { fromCode } from "../origin.ts";
import { fullKeyOf, type Place, pathOf, resultPlace, rootOf } from "../place.ts";
import { type Resolution, selectPath, startOf } from "./resolution.ts";
import type { Resolver, ResolverArgument, ResolverCall } from "./resolver.ts";

/** One call of a resolver, with its evaluated arguments and their source text. */
export interface ResolverInvocation {
  readonly name: string;
  readonly args: readonly ResolverArgument[];
  readonly sources: readonly string[];
  readonly place: Place;
}

/** @throws ConfigError `resolver.unknown`, or `resolver.failed` whose cause is what the resolver threw */
export function callResolver(resolution: Resolution, invocation: ResolverInvocation): Place {
  const { context } = resolution;
  const { name } = invocation;
  const resolver = context.resolvers.get(name);
  if (resolver === undefined) throw unknownResolver(resolution, invocation);
  context.onResolverCall?.();
  if (resolver.useCache !== true) return invoke(resolution, resolver, invocation);
  const cacheKey = JSON.stringify([name, ...invocation.sources]);
  const cached = context.cache.get(cacheKey);
  if (cached !== undefined) return resolution.ownPlace(cached);
  const result = invoke(resolution, resolver, invocation);
  context.cache.set(cacheKey, resolution.sharedPlace(result));
  return result;
}

function invoke(resolution: Resolution, resolver: Resolver, invocation: ResolverInvocation): Place {
  const { args, place, name } = invocation;
  if (resolver.pure !== true && resolver.useCache !== true) resolution.markImpure();
  let result: Place | ConfigNode | ScalarValue;
  try {
    result = resolver.resolve(args, callFrom(resolution, place));
  } catch (error) {
    throw isConfigError(error) ? error : failed(name, place, error);
  }
  const { dialect } = resolution.context;
  if (isPlace(result) && (result.result !== true || !dialect.escapesMissing)) return result;
  const answer = isPlace(result) ? result.node : result;
  const node = isNode(answer)
    ? returnedNode(answer, dialect)
    : writtenScalar(answer, fromCode(`resolver ${name}`), dialect);
  if (dialect.escapesMissing && isMissing(node))
    throw new ConfigError({
      code: "interpolation.to_missing",
      message: "Interpolation resolved to a missing value",
      key: fullKeyOf(place),
      origin: place.node.origin,
      hint: "\\??? is the text ???",
    });
  return resultPlace(node, place);
}

/** A text that a resolver returns is one as it is written. */
function returnedNode(node: ConfigNode, dialect: Dialect): ConfigNode {
  if (node.kind !== "scalar" || node.literal === true) return node;
  const written = writtenScalar(node.value, node.origin, dialect);
  return written.literal === true ? { ...node, ...written } : node;
}

function callFrom(resolution: Resolution, callPlace: Place): ResolverCall {
  const parent = callPlace.parent ?? callPlace;
  return {
    parent: parent.node,
    root: rootOf(callPlace).node,
    node: callPlace.node,
    path: pathOf(callPlace),
    context: resolution.context,
    fullKey: (place = callPlace) => fullKeyOf(place),
    select(key, options) {
      const parsed = referenceKey(key, resolution.context.dialect);
      const start = startIfAny(resolution, parsed, callPlace);
      if (start === undefined) return undefined;
      return selectPath(resolution, start, parsed.components, {
        ...options,
        scalarsAreEmpty: true,
      });
    },
    selectIn(root, path, key) {
      let from = resolution.otherRoot(root);
      for (const step of path) {
        const child = resolution.places.child(from, step);
        if (child === undefined) return undefined;
        from = resolution.dereference(child);
      }
      const tree = from;
      const parsed = referenceKey(
        key.startsWith(".") ? key : `.${key}`,
        resolution.context.dialect,
      );
      // A place below the tree, so that the first dot leads to the tree, where the search begins.
      const below: Place = { kind: "place", node: tree.node, parent: tree };
      const start = startIfAny(resolution, parsed, below);
      if (start === undefined) return undefined;
      return asking(
        () => selectPath(resolution, start, parsed.components, { scalarsAreEmpty: true }),
        () => fullKeyOf(tree, key),
      );
    },
    child(container, key) {
      const child = resolution.places.child(container, key);
      if (child === undefined) return undefined;
      // A literal or a result is plain data: interpolations in it are not resolved again.
      if (container.result === true) return { ...child, result: true };
      return asking(
        () => resolution.dereference(child),
        () => fullKeyOf(child),
      );
    },
    evaluate: (text) =>
      resolution.evaluate(parseElement(text, resolution.context.dialect), callPlace),
    create: (node) => resolution.dereference({ kind: "place", node, parent }),
  };
}

/** The start of a lookup; undefined above the root if the dialect treats that as absent. */
function startIfAny({ context }: Resolution, key: ReferenceKey, place: Place): Place | undefined {
  if (!context.dialect.absentAboveRoot || key.levels === 0) return startOf(key, place);
  let start: Place | null = place;
  for (let level = 0; level < key.levels && start !== null; level++) start = start.parent;
  return start ?? undefined;
}

/** Runs a lookup for a resolver; its error names the requested key. */
function asking<Found>(find: () => Found, key: () => string): Found {
  try {
    return find();
  } catch (error) {
    throw isConfigError(error) ? error.withRequestedKey(key()) : error;
  }
}

function unknownResolver(
  resolution: Resolution,
  { place, name, sources }: ResolverInvocation,
): ConfigError {
  const { available, nearest } = alternativesTo(name, [...resolution.context.resolvers.keys()]);
  const unknown = {
    code: "resolver.unknown",
    message: `Unsupported interpolation type ${name}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    available,
  } as const;
  if (OF_HYDRA.has(name))
    return new ConfigError({
      ...unknown,
      hint: "a composed config resolves it; to resolve a tree, pass its context: { context: config.context }",
    });
  const meant = keyMeant(resolution.root.node, name, sources);
  if (meant !== undefined) return new ConfigError({ ...unknown, hint: `write \${${meant}}` });
  const owner = Object.values(DIALECTS).find((dialect) => dialect.addedResolvers.includes(name));
  if (owner !== undefined)
    return new ConfigError({
      ...unknown,
      hint: `only Hydra ${owner.name} has ${name} (version_base, --version-base ${owner.name})`,
    });
  if (nearest !== undefined) return new ConfigError({ ...unknown, nearest });
  const ready = READY.has(name)
    ? `name ours in hydraconf.yaml: resolvers: {${name}: ready}; or `
    : "";
  const hint = `${ready}register your own resolvers: resolvers: [resolver("${name}", …)]; name those of a Python program in hydraconf.yaml: resolvers: {${name}: python:MODULE}; without --resolve they stay as written`;
  return new ConfigError({ ...unknown, hint });
}

/** What has the form of a resolver and is none: a key with a colon in it, and a variable with its default, as a shell has it. */
function keyMeant(
  root: ConfigNode,
  name: string,
  [text = ""]: readonly string[],
): string | undefined {
  const key = `${name}.${text}`;
  if (/^[\w.]+$/.test(key) && getAt(root, key.split(".")) !== undefined) return key;
  const [, preset] = /^:?-([\w./-]+)$/.exec(text) ?? [];
  return preset !== undefined && /^[A-Z_][A-Z\d_]*$/.test(name)
    ? `oc.env:${name},${preset}`
    : undefined;
}

/** The names of the ready resolvers that settings may name. */
export const READY: ReadonlySet<string> = new Set([
  "eval",
  "multiply",
  "times",
  "divide",
  "eq",
  "if",
  "contains",
  "resolve_default",
]);

/** Resolvers that Hydra adds to OmegaConf's: every composed config has them. */
const OF_HYDRA: ReadonlySet<string> = new Set(["hydra", "now", "python_version"]);

const failed = (name: string, place: Place, cause: unknown): ConfigError =>
  new ConfigError({
    code: "resolver.failed",
    message: `Resolver '${name}' failed: ${messageOf(cause)}`,
    key: fullKeyOf(place),
    origin: place.node.origin,
    cause,
  });

type ResolverResult = Place | ConfigNode | ScalarValue;

const isPlace = (value: ResolverResult): value is Place =>
  typeof value === "object" && value !== null && "kind" in value && value.kind === "place";
