import { splitKey } from "../values/key-path.ts";
import type { ConfigNode, MapNode } from "../values/node.ts";
import type { FileOrigin, Origin } from "../values/origin.ts";
import { parsePythonInt } from "../values/python-number.ts";
import { keyText } from "../values/python-text.ts";
import type { Composition } from "./composition.ts";
import type { DefaultsTreeNode } from "./defaults/tree.ts";
import { maskSecrets } from "./secrets.ts";

/** Why a value is what it is. */
export interface Explanation {
  readonly key: string;
  /** As it stands in the tree, interpolations unresolved. */
  readonly value: ConfigNode;
  readonly cause: Cause;
  /** What stood there before and was replaced, newest first. */
  readonly replaced: readonly ReplacedValue[];
}

/** A value that another took the place of, and what had set it. */
export interface ReplacedValue {
  readonly value: ConfigNode;
  readonly cause: Cause;
}

/** What set a value, and for a file how the file came into the composition. */
export interface Cause {
  readonly origin: Origin;
  /** From the primary config down to the file itself; empty for anything but a file. */
  readonly broughtInBy: readonly DefaultsStep[];
}

/** One entry of a defaults list (or of the command line) that brought in a config. */
export interface DefaultsStep {
  readonly configPath: string;
  readonly package: string;
  /** `group=option` or `group@package=option`; null for a config that is no group's option. */
  readonly choice: string | null;
  /** Where the entry is written: in the parent's defaults list, or the override. */
  readonly origin: Origin;
}

/**
 * Explains the value at a key of the composed tree; undefined where there is no such key.
 * Interpolations are not followed: the explanation is about the text that stands there.
 */
export function explain(composition: Composition, key: string): Explanation | undefined {
  const path = splitKey(key);
  const value = nodeAt(maskSecrets(composition.root, composition), path);
  if (value === undefined) return undefined;
  const causeOf = (node: ConfigNode): Cause => ({
    origin: node.origin,
    broughtInBy: stepsTo(composition.tree.roots, node.origin, path),
  });
  return {
    key,
    value,
    cause: causeOf(value),
    replaced: earlier(value).map((node) => ({ value: node, cause: causeOf(node) })),
  };
}

function nodeAt(root: ConfigNode, path: readonly string[]): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>((node, part) => {
    if (node?.kind === "map") return entryOf(node, part);
    if (node?.kind !== "list") return undefined;
    const index = parsePythonInt(part);
    return index === null ? undefined : node.items[Number(index)];
  }, root);
}

/** A key of another type (`1`, `true`) is named by its text; a string of that text comes first. */
const entryOf = ({ entries }: MapNode, part: string): ConfigNode | undefined =>
  (entries.get(part) ?? [...entries.values()].find(({ key }) => keyText(key) === part))?.value;

function earlier(node: ConfigNode): ConfigNode[] {
  const chain: ConfigNode[] = [];
  for (let at = node.replaced; at !== undefined; at = at.replaced) chain.push(at);
  return chain;
}

/** The way to the file of an origin; a file included twice is told apart by its package. */
function stepsTo(
  nodes: readonly DefaultsTreeNode[],
  origin: Origin,
  path: readonly string[],
): readonly DefaultsStep[] {
  if (origin.kind !== "file") return [];
  for (const node of nodes) {
    if (node.state !== "used") continue;
    if (isFileOf(node, origin) && isBelow(path, node.package)) return [stepOf(node)];
    const children = node.children.filter((child) => child.kind === "config");
    const below = stepsTo(children, origin, path);
    if (below.length > 0) return [stepOf(node), ...below];
  }
  return [];
}

const isFileOf = ({ loaded }: DefaultsTreeNode, { source }: FileOrigin): boolean =>
  loaded?.origin.kind === "file" && loaded.origin.source === source;

function isBelow(path: readonly string[], pkg: string): boolean {
  const parts = pkg === "" ? [] : splitKey(pkg);
  const shared = Math.min(parts.length, path.length);
  return parts.slice(0, shared).every((part, index) => part === path[index]);
}

const stepOf = ({ placed, package: pkg }: DefaultsTreeNode): DefaultsStep => ({
  configPath: placed.configPath,
  package: pkg,
  choice: placed.overrideKey === null ? null : `${placed.overrideKey}=${placed.name}`,
  origin: placed.item.origin,
});
