import type { Override } from "../../overrides/ast.ts";
import { ConfigError } from "../../values/errors.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import type { ConfigNode, MapNode, NodeType, ScalarValue } from "../../values/node.ts";
import { isMissing, list, map, scalar } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import { pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/select.ts";
import type { SourceInfo } from "../sources/config-source.ts";
import { appended, getAt, setAt } from "../tree-edit.ts";
import { overrideDirname } from "./override-dirname.ts";
import { ANY, STR } from "./typed.ts";

/** What is only known once a composition is under way. */
export interface RuntimeFacts {
  readonly overrides: readonly Override[];
  /** The options chosen, by override key. */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly configName: string | null;
  /** Used unless the config or an override names the job. */
  readonly jobName: string;
  readonly cwd: string;
  readonly sources: readonly SourceInfo[];
  /** The version of Hydra whose behaviour this is. */
  readonly version: string;
  readonly versionBase: string;
}

const ORIGIN = fromCode("compose");

/**
 * Fills in `hydra.overrides`, `hydra.job` and `hydra.runtime`. Hydra does this after all overrides,
 * so that some of them (`hydra.runtime.cwd=x`) have no effect.
 *
 * @throws ConfigError `compose.invalid_config` for an `env_copy` of a variable that is not set.
 */
export function fillRuntime(root: MapNode, facts: RuntimeFacts, context: ResolveContext): MapNode {
  for (const path of FILLED) requireMap(root, path);
  const edits = [
    addOverrides,
    addChoices,
    copyEnvironment,
    describeRuntime,
    nameJob,
    describeJob,
  ] as const;
  return edits.reduce((tree, edit) => edit(tree, facts, context), root);
}

/** Where values are put: an override or an interpolation may have put something else there. */
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

/** `hydra.x=…` and `hydra/group=…` configure Hydra itself, all others the task. */
export const isHydraOverride = ({ keyOrGroup }: Override): boolean =>
  keyOrGroup.startsWith("hydra.") || keyOrGroup.startsWith("hydra/");

function addOverrides(root: MapNode, { overrides }: RuntimeFacts): MapNode {
  const texts = (wanted: boolean): ConfigNode[] =>
    overrides
      .filter((override) => isHydraOverride(override) === wanted)
      .map(({ origin }) => ({ ...scalar(origin.text, origin), type: STR }));
  const add = (tree: MapNode, path: readonly string[], items: readonly ConfigNode[]): MapNode =>
    items.length === 0 ? tree : setAt(tree, path, appended(getAt(tree, path), items, ORIGIN));
  return add(
    add(root, ["hydra", "overrides", "hydra"], texts(true)),
    ["hydra", "overrides", "task"],
    texts(false),
  );
}

function addChoices(root: MapNode, { choices }: RuntimeFacts): MapNode {
  const path = ["hydra", "runtime", "choices"];
  const before = getAt(root, path);
  const entries = new Map(before?.kind === "map" ? before.entries : []);
  for (const [key, name] of choices) entries.set(key, { key, value: value(name, ANY) });
  return setAt(root, path, { ...(before?.kind === "map" ? before : map([], ORIGIN)), entries });
}

function copyEnvironment(root: MapNode, _: RuntimeFacts, context: ResolveContext): MapNode {
  const wanted = strings(root, "hydra.job.env_copy", context);
  return wanted.reduce((tree, name) => {
    const found = context.env[name];
    if (found === undefined)
      throw new ConfigError({
        code: "compose.invalid_config",
        message: `'${name}'`,
        key: "hydra.job.env_copy",
        origin: getAt(root, ["hydra", "job", "env_copy"])?.origin ?? ORIGIN,
        hint: `the environment variable ${name} is not set: set it, or take it out of hydra.job.env_copy`,
      });
    return setAt(tree, ["hydra", "job", "env_set", name], value(found, STR));
  }, root);
}

function describeRuntime(root: MapNode, facts: RuntimeFacts): MapNode {
  const { cwd, sources, version, versionBase } = facts;
  const infos = sources.map(({ path, scheme, provider }) =>
    map(
      [
        ["path", value(path, STR)],
        ["schema", value(scheme, STR)],
        ["provider", value(provider, STR)],
      ],
      ORIGIN,
    ),
  );
  const before = getAt(root, ["hydra", "runtime", "config_sources"]);
  const entries: readonly (readonly [string, ConfigNode])[] = [
    ["version", value(version, STR)],
    ["version_base", value(versionBase, STR)],
    ["cwd", value(cwd, STR)],
    ["config_sources", { ...list(infos, ORIGIN), ...(before?.type && { type: before.type }) }],
  ];
  return entries.reduce((tree, [key, node]) => setAt(tree, ["hydra", "runtime", key], node), root);
}

function nameJob(root: MapNode, { jobName }: RuntimeFacts): MapNode {
  const path = ["hydra", "job", "name"];
  const name = getAt(root, path);
  return name === undefined || isMissing(name) ? setAt(root, path, value(jobName, STR)) : root;
}

function describeJob(root: MapNode, facts: RuntimeFacts, context: ResolveContext): MapNode {
  const settings = "hydra.job.config.override_dirname";
  const dirname = overrideDirname(
    facts.overrides.filter((override) => !isHydraOverride(override)),
    {
      keyValueSeparator: text(root, `${settings}.kv_sep`, context),
      itemSeparator: text(root, `${settings}.item_sep`, context),
      excludeKeys: strings(root, `${settings}.exclude_keys`, context),
    },
  );
  const named = setAt(root, ["hydra", "job", "override_dirname"], value(dirname, STR));
  return setAt(
    named,
    ["hydra", "job", "config_name"],
    value(facts.configName, { kind: "str", optional: true }),
  );
}

const value = (of: ScalarValue, type: NodeType): ConfigNode => ({ ...scalar(of, ORIGIN), type });

function text(root: MapNode, key: string, context: ResolveContext): string {
  const node = selectNode(root, key, context, { throwOnMissing: true });
  return node === undefined ? "" : pyStr(node);
}

function strings(root: MapNode, key: string, context: ResolveContext): string[] {
  const node = selectNode(root, key, context);
  return node?.kind === "list" ? node.items.map((item) => pyStr(item)) : [];
}
