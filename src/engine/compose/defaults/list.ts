/** The defaults list of a request: its overrides split, the tree built and flattened. */

import {
  columnsOf,
  type Element,
  isSweepValue,
  type Override,
  type OverrideValue,
} from "../../overrides/ast.ts";
import { type Advice, chooseBy, saying, use, useAnyOf } from "../../overrides/hints.ts";
import { sweepOverrides } from "../../overrides/sweep.ts";
import type { Dialect } from "../../values/dialect.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { nearestKey, splitKey } from "../../values/key-path.ts";
import { type ConfigNode, getAt } from "../../values/node.ts";
import type { Origin } from "../../values/origin.ts";
import { pyTypeName } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { EMPTY_CONFIG, HYDRA_CONFIG } from "../hydra/hydra-schema.ts";
import { isHydraOverride } from "../hydra/runtime-node.ts";
import type { GroupItem, GroupValue, LoadedConfig } from "../sources/config-source.ts";
import type { Repository } from "../sources/repository.ts";
import { checkUsage, type Deletion, type GroupChoices, type Selection } from "./choice-tracker.ts";
import type { CompositionWarning } from "./deprecations.ts";
import { buildDefaultsTree, type DefaultsTree, type DefaultsTreeNode } from "./tree.ts";

export interface DefaultsRequest {
  readonly repository: Repository;
  readonly configName: string | null;
  readonly mode: RunMode;
  /** Whether hints name flags of a command line. */
  readonly fromShell?: boolean;
  readonly choices: GroupChoices;
  readonly context: ResolveContext;
  /** Called with each warning when it arises, even if there is no list in the end. */
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/** The configs of a composition, with the tree that they come from. */
export interface Defaults {
  readonly tree: DefaultsTree;
  readonly defaults: readonly DefaultsRow[];
}

/**
 * The defaults list of a composition, Hydra's own configs first; values are not evaluated.
 *
 * @throws ConfigError `compose.*`, and `yaml.*` for bad files
 */
export function listDefaults(request: DefaultsRequest): Defaults {
  const { choices, configName, context, fromShell, mode, onWarning, repository } = request;
  const tree = buildDefaultsTree({
    repository,
    roots: [
      { path: HYDRA_CONFIG, primary: false },
      { path: configName ?? EMPTY_CONFIG, primary: true },
    ],
    choices,
    skipMissing: mode === "multirun",
    resolvers: context,
    ...(fromShell !== undefined && { fromShell }),
    ...(onWarning && { onWarning }),
  });
  const defaults = flattenTree(tree, { rootName: "<root>" });
  checkUsage(tree, repository, context.dialect);
  return { tree, defaults };
}

/** `hydra.mode`: a single job, or a sweep. */
export type RunMode = "run" | "multirun";

export interface SweepLegality {
  readonly mode: RunMode;
  /** Whether the overrides were typed in a shell, where quotes must be escaped. */
  readonly fromShell: boolean;
  /** The config without the sweeps, for the hint. */
  readonly root?: () => ConfigNode | undefined;
  /** Composes with overrides in place of a sweep: for the hint, whether its first job would be refused. */
  readonly tryJob?: (sweep: Override, job: readonly string[]) => unknown;
}

/**
 * A single run accepts no sweeps, and a sweep cannot vary Hydra's own configuration.
 *
 * @throws ConfigError `override.sweep_not_allowed`, at the override.
 */
export function checkSweeps(overrides: readonly Override[], legality: SweepLegality) {
  const { mode, fromShell } = legality;
  for (const override of overrides) {
    const { value, origin } = override;
    if (value === undefined || !isSweepValue(value)) continue;
    const keys = [override, ...columnsOf(value)];
    if (mode === "multirun" && !keys.some(isHydraOverride)) continue;
    const simple = value.kind === "choice" && value.simple;
    throw new ConfigError(
      {
        code: "override.sweep_not_allowed",
        message:
          mode === "multirun"
            ? `Sweeping over Hydra's configuration is not supported : '${origin.text}'`
            : simple
              ? ambiguous(origin.text, fromShell)
              : `Sweep parameters '${origin.text}' requires --multirun`,
        origin,
        key: override.keyOrGroup,
      },
      () => remedy(override, legality, simple ? listMeant(override, legality) : undefined),
    );
  }
}

/** The items of a list without its brackets, where the config has a list, also by a similar name. */
function listMeant(
  { keyOrGroup, origin: { text } }: Override,
  legality: SweepLegality,
): Advice | undefined {
  const root = legality.root?.();
  if (root === undefined) return undefined;
  const isList = (key = "") => getAt(root, splitKey(key))?.kind === "list";
  const key = [keyOrGroup, nearestKey(root, keyOrGroup).nearest].find(isList);
  if (key === undefined) return undefined;
  const value = text.indexOf("=") + 1;
  const head = text.slice(0, value).replace(keyOrGroup, () => key);
  const override = `${head}[${text.slice(value)}]`;
  return useAnyOf([{ override, purpose: "for the list" }]);
}

/** A hint must not suggest what would be refused next. */
function remedy(override: Override, legality: SweepLegality, list: Advice | undefined): Advice {
  const { fromShell, mode } = legality;
  if (isHydraOverride(override))
    return (
      list ??
      saying(
        mode === "multirun"
          ? "set Hydra's own configuration to one value per sweep"
          : "set Hydra's own configuration to one value: it cannot be swept over, even with --multirun",
      )
    );
  const each = howToSweep(override, fromShell);
  if (list !== undefined) return { ...list, hint: `${list.hint}, or ${each}` };
  const refused = refusalOfJob(override, legality);
  return refused === undefined
    ? saying(each)
    : { ...refused, hint: `${refused.hint}, and ${each}` };
}

/** What a sweep needs besides its override. */
export const howToSweep = ({ value }: Pick<Override, "value">, fromShell = false): string =>
  fromShell
    ? value?.kind === "interval"
      ? "an interval is for a sweeper that searches in it: add --multirun hydra/sweeper=random"
      : "add --multirun to run one job for each value"
    : "compose once for each value, or use the mode multirun, which ignores sweeps";

/** What is proposed in place of a sweep whose jobs would be refused. */
function refusalOfJob(override: Override, { tryJob }: SweepLegality): Advice | undefined {
  let job: readonly string[] = [];
  try {
    [job = []] = sweepOverrides(override);
    if (job.length > 0) tryJob?.(override, job);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    const { hint, origin, proposals } = error.details;
    const isOfJob = origin?.kind === "override" && job.includes(origin.text);
    if (isOfJob && hint !== undefined && proposals !== undefined) return { hint, proposals };
  }
  return undefined;
}

function ambiguous(text: string, fromShell: boolean): string {
  const quoted = fromShell ? "key=\\'value1,value2\\'" : "key='value1,value2'";
  return [
    `Ambiguous value for argument '${text}'`,
    "1. To use it as a list, use key=[value1,value2]",
    `2. To use it as string, quote the value: ${quoted}`,
    "3. To sweep over it, add --multirun to your command line",
  ].join("\n");
}

/** One row of the final defaults list: a config, or a config's own content (`isSelf`). */
export interface DefaultsRow {
  readonly configPath: string;
  readonly package: string;
  /** Path of the config whose list includes this one; `<root>` above, null without a root. */
  readonly parent: string | null;
  readonly isSelf: boolean;
  readonly primary: boolean;
  /** The key by which the choice can be overridden; null for configs outside groups. */
  readonly overrideKey: string | null;
  readonly loaded: LoadedConfig;
  /** The item of the parent's list, or the override, that includes it. */
  readonly origin: Origin;
}

export interface ListOptions {
  /** The `parent` of the roots: `<root>` if Hydra's own config is a root beside the primary. */
  readonly rootName: string | null;
}

/**
 * Second pass: the tree from left to right, each config at the place of its `_self_`.
 *
 * @throws ConfigError `compose.invalid_defaults` for a group that appears twice.
 */
export function flattenTree(
  tree: Pick<DefaultsTree, "roots">,
  { rootName }: ListOptions,
): readonly DefaultsRow[] {
  const rows = tree.roots.flatMap((root) => rowsOf(root, rootName));
  refuseDuplicates(rows);
  return rows;
}

function rowsOf(node: DefaultsTreeNode, parent: string | null): DefaultsRow[] {
  const { loaded } = node;
  if (node.state !== "used" || loaded === undefined) return [];
  const rows = contentRows(node, loaded, parent);
  // The placeholder for an absent primary config gets no row.
  return rows.filter(({ configPath }) => configPath !== EMPTY_CONFIG);
}

function contentRows(
  node: DefaultsTreeNode,
  loaded: LoadedConfig,
  parent: string | null,
): DefaultsRow[] {
  const { placed } = node;
  const row: DefaultsRow = {
    configPath: placed.configPath,
    package: node.package,
    parent,
    isSelf: false,
    primary: node.primary,
    overrideKey: placed.overrideKey,
    loaded,
    origin: placed.item.origin,
  };
  if (node.children.length === 0) return [row];
  const self: DefaultsRow = { ...row, isSelf: true, overrideKey: null };
  return node.children.flatMap((child) =>
    child.kind === "self" ? [self] : rowsOf(child, placed.configPath),
  );
}

/** Configs of Hydra itself and of its plugins. */
const OF_HYDRA = "hydra/";

function refuseDuplicates(rows: readonly DefaultsRow[]): void {
  const seen = new Map<string, DefaultsRow>();
  for (const row of rows) {
    const { overrideKey, configPath, origin } = row;
    if (overrideKey === null) continue;
    const [group = overrideKey] = overrideKey.split("@", 1);
    const first = seen.get(overrideKey);
    if (first !== undefined)
      throw new ConfigError({
        code: "compose.invalid_defaults",
        message: `${overrideKey} appears more than once in the final defaults list`,
        origin,
        key: overrideKey,
        hint:
          first.parent !== row.parent && first.parent?.startsWith(OF_HYDRA)
            ? `Hydra's own list has one: write \`override ${overrideKey}: ${configPath.slice(group.length + 1)}\` at the end of the list`
            : `keep only one of the two, or put one into another package (${group}@PACKAGE)`,
      });
    seen.set(overrideKey, row);
  }
}

/**
 * Separates overrides of config groups from overrides of config values: an override concerns a group if a group of that
 * name exists in any source, except that a dict is always a value. Sweeps are ignored.
 *
 * @throws ConfigError `compose.override_failed` for an invalid group override, and `override.wrong_value` for one whose
 *   value is no option name.
 */
export function splitOverrides(
  overrides: readonly Override[],
  repository: Pick<Repository, "groupExists" | "configExists">,
  dialect: Dialect,
): GroupChoices {
  const selected = new Map<string, Selection>();
  const deleted = new Map<string, Deletion>();
  const appended: GroupItem[] = [];
  const values: Override[] = [];
  const about: Override[] = [];

  for (const override of overrides) {
    const { value, origin, type } = override;
    if (value !== undefined && isSweepValue(value)) continue;
    const isGroup = repository.groupExists(override.keyOrGroup);
    if (type === "delete" && dialect.deletesConfigs) {
      if (!isGroup && !repository.configExists(override.keyOrGroup)) values.push(override);
      else {
        about.push(override);
        const name = isGroup ? deletedName(override, value) : deletedConfig(override, value);
        deleted.set(overrideKeyOf(override), { name, origin });
      }
      continue;
    }
    if (type === "replace") requireReplaceable(override, isGroup);
    if (value?.kind === "dict" || !isGroup) {
      values.push(override);
      continue;
    }
    about.push(override);
    if (type === "force_add")
      throw refused(
        "compose.override_failed",
        override,
        `force-add of config groups is not supported: '${origin.text}'`,
        saying(
          `write ${origin.text.slice(2)}, or ${origin.text.slice(1)} if the defaults list does not have the config group`,
        ),
      );
    else if (type === "delete")
      deleted.set(overrideKeyOf(override), { name: deletedName(override, value), origin });
    else if (type === "add") appended.push(appendedItem(override, groupValue(override, value)));
    else selected.set(overrideKeyOf(override), { value: groupValue(override, value), origin });
  }
  return { selected, deleted, appended, overrides: about, values };
}

/** A group has options to choose, and Hydra's own configuration decides before values are replaced. */
function requireReplaceable(override: Override, isGroup: boolean): void {
  const { keyOrGroup, origin, value } = override;
  const plain = origin.text.replace(/:\s*=/, "=");
  if (/^hydra(?:[./]|$)/.test(keyOrGroup))
    throw refused(
      "compose.override_failed",
      override,
      `':=' replaces values of the program's config, not of Hydra's own: '${origin.text}'`,
      use(plain),
    );
  if (isGroup && value?.kind !== "dict")
    throw refused(
      "compose.override_failed",
      override,
      `'${keyOrGroup}' is a config group, whose option ':=' cannot choose: '${origin.text}'`,
      chooseBy(plain),
    );
}

/** `group` or `group@package`, as typed. */
export const overrideKeyOf = (override: Override): string =>
  override.package === undefined
    ? override.keyOrGroup
    : `${override.keyOrGroup}@${override.package}`;

function deletedName(override: Override, value: Element | undefined): string | null {
  if (value === undefined) return null;
  if (value.kind === "scalar" && (value.value === null || typeof value.value === "string"))
    return value.value;
  throw refused(
    "override.wrong_value",
    override,
    `Config group override deletion value must be a string : ${override.origin.text}`,
    useAnyOf(
      [{ override: `~${overrideKeyOf(override)}` }],
      "to delete the group whatever its option, use",
    ),
  );
}

/** A deletion applies whatever the config contains. */
function deletedConfig(override: Override, value: Element | undefined): null {
  if (value === undefined || (value.kind === "scalar" && value.value === null)) return null;
  throw refused(
    "override.wrong_value",
    override,
    `Config path deletion does not support a value : ${override.origin.text}`,
    use(`~${overrideKeyOf(override)}`),
  );
}

function groupValue(override: Override, value: Element | undefined): GroupValue {
  if (value?.kind === "list") return value.items.map(nameOf);
  if (value?.kind === "scalar" && typeof value.value === "string") return value.value;
  const got = value?.kind === "scalar" ? pyTypeName(value.value) : "NoneType";
  throw refused(
    "override.wrong_value",
    override,
    `Config group override must be a string or a list. Got ${got}`,
    override.keyOrGroup === ""
      ? saying("nothing precedes the '=': write KEY=VALUE or GROUP=OPTION")
      : got === "NoneType"
        ? useAnyOf([{ override: `~${overrideKeyOf(override)}` }], "to remove the config group, use")
        : saying(
            `quote the name of the option: ${overrideKeyOf(override)}="'${override.origin.text.split("=", 2)[1] ?? ""}'"`,
          ),
  );
}

const nameOf = (item: OverrideValue): string | null =>
  item.kind === "scalar" && typeof item.value === "string" ? item.value : null;

const appendedItem = (override: Override, value: GroupValue): GroupItem => ({
  kind: "group",
  group: override.keyOrGroup,
  value,
  package: override.package === "_here_" ? "" : (override.package ?? null),
  optional: false,
  override: false,
  appended: true,
  origin: override.origin,
});

function refused(
  code: "compose.override_failed" | "override.wrong_value",
  override: Override,
  message: string,
  advice?: Advice,
): ConfigError {
  return new ConfigError({
    code,
    message,
    origin: override.origin,
    key: overrideKeyOf(override),
    ...advice,
  });
}
