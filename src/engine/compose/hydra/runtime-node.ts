/** The parts of the `hydra` node that only a composition knows: overrides, choices, job and runtime. */

import { byCodePoint } from "../../../foundation/text/code-points.ts";
import type { Override } from "../../overrides/ast.ts";
import { ConfigError } from "../../values/errors.ts";
import { isInterpolationNode } from "../../values/interpolation/interpolation-parser.ts";
import {
  type ConfigNode,
  editTree,
  getAt,
  isMissing,
  list,
  type MapNode,
  map,
  type NodeType,
  type ScalarValue,
  type TreeEditor,
} from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import { pyStr } from "../../values/python-text.ts";
import { asDeclared, type ResolveContext } from "../../values/resolution/context.ts";
import { selectNode } from "../../values/resolution/select.ts";
import { checkTree } from "../../values/yaml/check-tree.ts";
import type { SourceInfo } from "../sources/config-source.ts";
import { ANY, STR } from "./hydra-schema.ts";

/** Facts that are known only during a composition. */
export interface RuntimeFacts {
  readonly overrides: readonly Override[];
  /** The chosen options, by override key. */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly configName: string | null;
  /** The default for the name of the job. */
  readonly jobName: string;
  readonly cwd: string;
  readonly sources: readonly SourceInfo[];
  /** The texts of overrides with secrets, which must not appear in the name of a directory. */
  readonly hidden: ReadonlyMap<string, string>;
  /** The version of Hydra for `hydra.runtime.version`. */
  readonly version: string;
  readonly versionBase: string;
}

const ORIGIN = fromCode("compose");

/**
 * Fills in `hydra.overrides`, `hydra.job` and `hydra.runtime`. Hydra does this after all overrides, so that overrides
 * such as `hydra.runtime.cwd=x` have no effect.
 *
 * @throws ConfigError `compose.invalid_config` for an `env_copy` of a variable that is not set.
 */
export function fillRuntime(root: MapNode, facts: RuntimeFacts, context: ResolveContext): MapNode {
  for (const path of FILLED) requireMap(root, path);
  const tree = editTree(root);
  addOverrides(tree, facts, context);
  addChoices(tree, facts, context);
  copyEnvironment(tree, context);
  describeRuntime(tree, facts);
  nameJob(tree, facts);
  describeJob(tree, facts, context);
  return tree.root;
}

/** The maps that are filled in: an override or an interpolation may have put something else there. */
const FILLED: readonly (readonly string[])[] = [
  ["hydra"],
  ["hydra", "overrides"],
  ["hydra", "job"],
  ["hydra", "runtime"],
];

function requireMap(root: MapNode, path: readonly string[]): void {
  const node = getAt(root, path);
  if (node?.kind === "map") return;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `'${path.join(".")}' must be a mapping: it describes the run`,
    key: path.join("."),
    origin: node?.origin ?? ORIGIN,
  });
}

/** Checks that a map or list to add to exists; interpolations are followed. */
function requireKind<Kind extends "map" | "list">(
  root: MapNode,
  path: readonly string[],
  kind: Kind,
  context: ResolveContext,
): Extract<ConfigNode, { kind: Kind }> {
  const key = path.join(".");
  const isWanted = (node: ConfigNode | undefined): node is Extract<ConfigNode, { kind: Kind }> =>
    node?.kind === kind;
  const written = getAt(root, path);
  if (isWanted(written)) return written;
  const node = selectNode(root, key, asDeclared(context), { throwOnMissing: true });
  if (isWanted(node)) return node;
  throw new ConfigError({
    code: "compose.invalid_config",
    message: `'${key}' must be a ${kind === "map" ? "mapping" : "list"}: hydraconf adds the choices to it`,
    key,
    origin: node?.origin ?? ORIGIN,
  });
}

/** `hydra.x=…`, `hydra[x]=…` and `hydra/group=…` configure Hydra itself, all others the task. */
export const isHydraOverride = ({ keyOrGroup }: Override): boolean =>
  /^hydra[./[]/.test(keyOrGroup);

/** The texts are values of the config, so interpolations in them must have valid syntax. */
function addOverrides(
  tree: TreeEditor,
  { overrides }: RuntimeFacts,
  context: ResolveContext,
): void {
  const add = (path: readonly string[], added: readonly Override[]): void => {
    if (added.length === 0) return;
    const items = added.map(({ origin }) =>
      checkTree({ kind: "scalar", value: origin.text, origin, type: STR } as const),
    );
    const recorded = requireKind(tree.root, path, "list", context);
    tree.set(path, { ...recorded, items: [...recorded.items, ...items] });
  };
  add(["hydra", "overrides", "hydra"], overrides.filter(isHydraOverride));
  add(
    ["hydra", "overrides", "task"],
    overrides.filter((override) => !isHydraOverride(override)),
  );
}

function addChoices(tree: TreeEditor, { choices }: RuntimeFacts, context: ResolveContext): void {
  const path = ["hydra", "runtime", "choices"];
  const recorded = requireKind(tree.root, path, "map", context);
  const entries = new Map(recorded.entries);
  for (const [key, name] of choices) entries.set(key, { key, value: value(name, ANY) });
  tree.set(path, { ...recorded, entries });
}

function copyEnvironment(tree: TreeEditor, context: ResolveContext): void {
  const path = ["hydra", "job", "env_copy"];
  for (const name of strings(tree.root, path, context)) {
    const found = context.env[name];
    if (found === undefined)
      throw new ConfigError({
        code: "compose.invalid_config",
        message: `'${name}'`,
        key: path.join("."),
        origin: tree.get(path)?.origin ?? ORIGIN,
        hint: `the environment variable ${name} is not set: set it, or remove it from hydra.job.env_copy`,
      });
    tree.set(["hydra", "job", "env_set", name], value(found, STR));
  }
}

function describeRuntime(tree: TreeEditor, facts: RuntimeFacts): void {
  const { cwd, sources, version, versionBase } = facts;
  const existing = tree.get(["hydra", "runtime", "config_sources"]);
  const entries: readonly (readonly [string, ConfigNode])[] = [
    ["version", value(version, STR)],
    ["version_base", value(versionBase, STR)],
    ["cwd", value(cwd, STR)],
    [
      "config_sources",
      { ...describeSources(sources), ...(existing?.type && { type: existing.type }) },
    ],
  ];
  for (const [key, node] of entries) tree.set(["hydra", "runtime", key], node);
}

const describeSources = (sources: readonly SourceInfo[]): ConfigNode =>
  list(
    sources.map(({ path, scheme, provider }) =>
      map(
        [
          ["path", value(path, STR)],
          ["schema", value(scheme, STR)],
          ["provider", value(provider, STR)],
        ],
        ORIGIN,
      ),
    ),
    ORIGIN,
  );

function nameJob(tree: TreeEditor, { jobName }: RuntimeFacts): void {
  const path = ["hydra", "job", "name"];
  const name = tree.get(path);
  if (name === undefined || isMissing(name)) tree.set(path, value(jobName, STR));
}

function describeJob(tree: TreeEditor, facts: RuntimeFacts, context: ResolveContext): void {
  tree.set(["hydra", "job", "config_name"], value(facts.configName, OPTIONAL_STR));
  if (context.dialect.resolvesDirname) return;
  const settings = ["hydra", "job", "config", "override_dirname"];
  const dirname = overrideDirname(
    facts.overrides.filter(
      (override) => !isHydraOverride(override) && !facts.hidden.has(override.origin.text),
    ),
    {
      keyValueSeparator: text(tree.root, [...settings, "kv_sep"], context),
      itemSeparator: text(tree.root, [...settings, "item_sep"], context),
      excludeKeys: strings(tree.root, [...settings, "exclude_keys"], context),
    },
  );
  tree.set(["hydra", "job", "override_dirname"], value(dirname, STR));
}

const OPTIONAL_STR: NodeType = { kind: "str", optional: true };

const value = (scalarValue: ScalarValue, type: NodeType): ConfigNode => ({
  kind: "scalar",
  value: scalarValue,
  origin: ORIGIN,
  type,
});

function text(root: MapNode, path: readonly string[], context: ResolveContext): string {
  const written = getAt(root, path);
  if (written?.kind === "scalar" && !isMissing(written) && !isInterpolationNode(written))
    return pyStr(written);
  const node = selectNode(root, path.join("."), asDeclared(context), { throwOnMissing: true });
  return node === undefined ? "" : pyStr(node);
}

function strings(root: MapNode, path: readonly string[], context: ResolveContext): string[] {
  const written = getAt(root, path);
  if (written?.kind === "list" && written.items.length === 0) return [];
  const options = { deep: true, throwOnMissing: true };
  const node = selectNode(root, path.join("."), asDeclared(context), options);
  return node?.kind === "list" ? node.items.map((item) => pyStr(item)) : [];
}

export interface DirnameOptions {
  readonly keyValueSeparator: string;
  readonly itemSeparator: string;
  /** Compared with the group or key of an override, without prefix and package. */
  readonly excludeKeys: readonly string[];
}

/**
 * `hydra.job.override_dirname`: the overrides as they were typed, sorted, joined, with every `=`
 * replaced.
 * @see https://hydra.cc/docs/1.3/configure_hydra/job/#hydrajoboverride_dirname
 */
export function overrideDirname(
  overrides: readonly Override[],
  { keyValueSeparator, itemSeparator, excludeKeys }: DirnameOptions,
): string {
  return overrides
    .filter((override) => !excludeKeys.includes(override.keyOrGroup))
    .map((override) => override.origin.text)
    .sort(byCodePoint)
    .join(itemSeparator)
    .replaceAll("=", () => keyValueSeparator);
}
