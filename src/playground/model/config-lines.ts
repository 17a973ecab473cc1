/** The lines of a composed config, each with its key, and where its value comes from. */
import type { Composition } from "../../engine/compose/compose.ts";
import {
  type Cause,
  explain,
  maskSecrets,
  originLines,
  pathText,
} from "../../engine/compose/index.ts";
import { showValue } from "../../engine/schema/show-value.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import { isInterpolationNode } from "../../engine/values/interpolation/interpolation-parser.ts";
import type { ConfigNode, Key } from "../../engine/values/node.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { resolveWherePossible } from "../../engine/values/resolution/resolve-tree.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import { placeOf, type ShownPlace } from "./problems.ts";

/** A line of the YAML of a config. */
export interface ConfigTextLine {
  readonly text: string;
  /** The key of the value that begins in it; undefined for further lines of a value. */
  readonly key: string | undefined;
  /** Whether an override set the value. */
  readonly isOverride: boolean;
}

/**
 * The lines of `--cfg job`, or, where interpolations are resolved, those of `--resolve` as far as that is possible without the program.
 * Secrets are masked.
 */
export function configLines(
  composition: Composition,
  context: ResolveContext,
  { resolve }: { readonly resolve: boolean },
): readonly ConfigTextLine[] {
  const { config, dialect } = composition;
  const shown = resolve
    ? maskSecrets(resolveWherePossible(config, context), composition, { resolving: true })
    : maskSecrets(config, composition);
  const places = placesIn(shown, []);
  return originLines(shown, { dialect }).map(({ node, text }) => {
    if (node === undefined) return { text, key: undefined, isOverride: false };
    return { text, key: keyOf(node, places), isOverride: node.origin.kind === "override" };
  });
}

interface NodePlace {
  readonly path: readonly Key[];
  readonly node: ConfigNode;
}

/** All nodes in the order of the text. */
function* placesIn(node: ConfigNode, path: readonly Key[]): Generator<NodePlace, undefined> {
  yield { path, node };
  if (node.kind === "map")
    for (const { key, value } of node.entries.values()) yield* placesIn(value, [...path, key]);
  if (node.kind === "list")
    for (const [index, item] of node.items.entries())
      yield* placesIn(item, [...path, BigInt(index)]);
}

/** The key of the next place with this node: one node may stand in several places. */
function keyOf(node: ConfigNode, places: Generator<NodePlace, undefined>): string | undefined {
  for (let next = places.next(); next.done !== true; next = places.next())
    if (next.value.node === node) return pathText(next.value.path);
  return undefined;
}

/** Where a value comes from. */
export interface ValueHistory {
  readonly key: string;
  readonly value: string;
  /** What the interpolation in it resolves to, or why it does not; undefined without one. */
  readonly resolved: { readonly text: string; readonly isProblem: boolean } | undefined;
  readonly setBy: HistoryStep;
  /** What it replaced, newest first. */
  readonly replaced: readonly (HistoryStep & { readonly value: string })[];
  /** What cannot be known without running the program. */
  readonly note: string | undefined;
}

/** What set a value, and how the file came into the config. */
export interface HistoryStep {
  readonly place: ShownPlace;
  /** From the file up to the primary config. */
  readonly broughtInBy: readonly {
    readonly text: string;
    /** Undefined for the primary config, which no file names. */
    readonly place: ShownPlace | undefined;
  }[];
}

/** Undefined for a key that cannot be found by its text, such as one with a dot in it. */
export function valueHistory(
  composition: Composition,
  context: ResolveContext,
  { directory, key }: { readonly directory: string; readonly key: string },
): ValueHistory | undefined {
  const explanation = explain(composition, key);
  if (explanation === undefined) return undefined;
  const { cause, replaced, value } = explanation;
  return {
    key,
    value: showValue(value),
    resolved: isInterpolationNode(value) ? resolvedAt(composition, context, key) : undefined,
    setBy: stepOf(cause, directory),
    replaced: replaced.map((earlier) => ({
      value: showValue(earlier.value),
      ...stepOf(earlier.cause, directory),
    })),
    note: /(?:^|\.)_target_$/.test(key)
      ? "The name of what the program creates. It is not looked up here."
      : undefined,
  };
}

function resolvedAt(
  composition: Composition,
  context: ResolveContext,
  key: string,
): ValueHistory["resolved"] {
  try {
    const node = selectNode(maskSecrets(composition.root, composition), key, context, {
      deep: true,
    });
    return node === undefined ? undefined : { text: showValue(node), isProblem: false };
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return { text: error.details.message, isProblem: true };
  }
}

const stepOf = ({ broughtInBy, origin }: Cause, directory: string): HistoryStep => ({
  place: placeOf(origin, directory),
  broughtInBy: broughtInBy
    .map(({ choice, configPath, origin: entry }, index) => ({
      text:
        index === 0
          ? `in the composition of ${configPath}`
          : choice === null
            ? `listed as ${configPath}`
            : `chosen by ${choice}`,
      place: index === 0 ? undefined : placeOf(entry, directory),
    }))
    .reverse(),
});
