/** The defaults tree: each config with those that its defaults list includes, with every choice made. */
import { MISSING } from "../../values/node.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import {
  completeItems,
  type DefaultsItem,
  type GroupItem,
  isOptionList,
  type LoadedConfig,
  SELF,
} from "../sources/config-source.ts";
import { moveIntoGroup } from "../sources/load-config.ts";
import type { Repository } from "../sources/repository.ts";
import {
  fillChoices,
  isPositional,
  positionalNotice,
  resolveChoice,
  unresolvable,
} from "./choice-interpolation.ts";
import {
  type ChoiceTracker,
  createChoiceTracker,
  type GroupChoices,
  type TreeRecord,
} from "./choice-tracker.ts";
import * as refuse from "./defaults-errors.ts";
import {
  type CompositionWarning,
  hydraOverrideNotice,
  missingSelf,
  positionWarning,
  readingNotices,
} from "./deprecations.ts";
import {
  belowGroup,
  finalPackage,
  type ListPlace,
  nameOf,
  type PlacedConfig,
  placeItem,
  rootOfLists,
  startOfItem,
} from "./placement.ts";

/** One config of the defaults tree, with the configs that its defaults list includes. */
export interface DefaultsTreeNode {
  readonly kind: "config";
  readonly placed: PlacedConfig;
  /** The package of the content, from the root; empty for the root. */
  readonly package: string;
  readonly state: NodeState;
  readonly primary: boolean;
  /** The config itself; undefined if `state` says that there is none. */
  readonly loaded: LoadedConfig | undefined;
  /** In the order of composition; none if the config has no defaults list. */
  readonly children: readonly DefaultsTreeChild[];
}

/** The position of a config's own content among its children. */
export interface SelfMark {
  readonly kind: "self";
  /** Hydra's name for it: `_self_` below the group from which the config was named. */
  readonly path: string;
}

/** An item of a defaults list: a config, or the list's own content (`_self_`). */
export type DefaultsTreeChild = DefaultsTreeNode | SelfMark;

/**
 * `used`: contributes content. `none`: the group selects nothing. `deleted`: removed by `~group`. `absent`: optional,
 * and there is no such config. `missing`: `???`, left open for a sweep.
 */
export type NodeState = "used" | "none" | "deleted" | "absent" | "missing";

/**
 * The configs that the defaults lists include, as a tree (`--info defaults-tree`): the primary config, below it its
 * choices, and so on.
 */
export interface DefaultsTree extends TreeRecord {
  readonly roots: readonly DefaultsTreeNode[];
}

export interface TreeRequest {
  readonly repository: Repository;
  /** The configs at the roots, in the order of composition; at most one is the primary one. */
  readonly roots: readonly { readonly path: string; readonly primary: boolean }[];
  readonly choices: GroupChoices;
  /** Leaves groups that are still `???` open instead of refusing them (multirun). */
  readonly skipMissing: boolean;
  readonly resolvers: ResolveContext;
  /** Whether hints name flags of a command line, or options of `compose`. */
  readonly fromShell?: boolean;
  /** Called with each warning when it arises, even if the tree cannot be built. */
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/**
 * First pass: builds the tree of included configs from files, and makes every choice.
 *
 * A list is expanded from its last item to its first, and so are the roots. That order is part of the semantics: it
 * decides which `override` items are known when a group is reached, which choices an interpolation can see, and the
 * order of `hydra.runtime.choices`.
 *
 * @throws ConfigError `compose.missing_*`, `compose.invalid_defaults`, and errors of reading a config
 * @see https://hydra.cc/docs/1.3/advanced/defaults_list/
 */
export function buildDefaultsTree(request: TreeRequest): DefaultsTree {
  const tracker = createChoiceTracker(request.choices, request.onWarning);
  const deferred: DeferredChild[] = [];
  const roots = request.roots.toReversed().map(({ path, primary }) => {
    const item = { kind: "config", path, package: null, optional: false } as const;
    const placed = placeItem(
      { ...item, origin: { kind: "code", by: "compose" } },
      null,
      rootOfLists(request.resolvers.dialect),
    );
    const around = { request, tracker, parents: [], primary, interpolated: false, deferred };
    return expand(placed, around);
  });
  expandDeferredChoices(deferred.reverse(), tracker);
  return { roots: roots.reverse(), ...tracker.record() };
}

interface Surroundings {
  readonly request: TreeRequest;
  readonly tracker: ChoiceTracker;
  /** The ancestors, from the root to the parent. */
  readonly parents: readonly PlacedConfig[];
  readonly primary: boolean;
  /** Whether an ancestor was chosen by interpolation, below which overrides come too late. */
  readonly interpolated: boolean;
  /** Choices that wait for the rest of the tree are appended here, the last one in the tree first. */
  readonly deferred: DeferredChild[];
  /** Keys of the overrides that apply here; absent for all known ones. */
  readonly eligible?: ReadonlySet<string>;
}

/** A choice that is deferred until those of the whole tree are made. */
interface DeferredChild {
  readonly item: Exclude<DefaultsItem, { kind: "self" }>;
  readonly text: string;
  readonly place: ListPlace;
  readonly below: Surroundings;
  /** The list that it finally goes into, and its placeholder until then. */
  readonly list: ChildList;
  readonly mark: SelfMark;
}

/** The list of a config's children, which exists before all of them are expanded. */
interface ChildList {
  children: DefaultsTreeChild[];
}

/**
 * Makes the deferred choices in the order of the tree. The first one that can be made is always next, since another one
 * may depend on it.
 */
function expandDeferredChoices(deferred: DeferredChild[], tracker: ChoiceTracker): void {
  const next = (): number => {
    const choices = tracker.choices();
    return deferred.findIndex(({ item, text }) => fillChoices(item, text, choices) !== undefined);
  };
  for (let index = next(); index >= 0; index = next()) {
    const [child] = deferred.slice(index, index + 1);
    if (child === undefined) break;
    const further: DeferredChild[] = [];
    const node = expandDeferred(child, tracker.choices(), further);
    const { children } = child.list;
    children[children.indexOf(child.mark)] = node;
    deferred.splice(index, 1, ...further.reverse());
  }
  const [first] = deferred;
  if (first !== undefined)
    throw unresolvable(first.item, first.text, tracker.choices(), first.place);
}

function expandDeferred(
  { below, item, place, text }: DeferredChild,
  choices: ReadonlyMap<string, string | null>,
  deferred: DeferredChild[],
): DefaultsTreeNode {
  const name = fillChoices(item, text, choices) ?? text;
  const chosen =
    item.kind === "group"
      ? moveIntoGroup({ ...item, value: name }, place.dialect)
      : { ...item, path: item.path.startsWith("/") ? `/${name.replace(/^\/+/, "")}` : name };
  checkPaths(chosen, below);
  const option = chosen.kind === "group" && typeof chosen.value === "string" ? chosen.value : null;
  return expand(placeItem(chosen, option, place), { ...below, interpolated: true, deferred });
}

/** More levels than any real tree, and far from exhausting the stack. */
const DEPTH_LIMIT = 400;

function expand(placed: PlacedConfig, around: Surroundings): DefaultsTreeNode {
  const { tracker, parents, primary, request } = around;
  if (parents.length > DEPTH_LIMIT) throw refuse.cycle(placed, parents);

  // The config is read before any decision about it: even if it is then deleted, its errors count. Hydra also reads
  // `None.yaml` where nothing is chosen.
  const isOpen = lacksOption(placed, tracker);
  const loaded = placed.name === "???" && isOpen ? undefined : readConfig(placed, around);
  const node = (
    state: NodeState,
    children: readonly DefaultsTreeChild[] = [],
  ): DefaultsTreeNode => ({
    kind: "config",
    placed,
    package: finalPackage(placed, loaded?.package ?? null),
    state,
    primary,
    loaded,
    children,
  });

  if (primary && loaded === undefined) throw refuse.noPrimary(placed, request);
  if (tracker.takeDeletion(placed)) return node("deleted");
  const parent = parents.at(-1);
  tracker.noteChoice(placed, parent);
  if (placed.name === null) return node("none");
  if (isOpen) {
    if (request.skipMissing) return node("missing");
    throw refuse.nothingChosen(placed, parent, request.repository);
  }
  if (loaded === undefined) {
    if (placed.item.optional) return node("absent");
    throw refuse.notFoundBelow(placed, parents, request.repository);
  }
  return node("used", expandList(placed, loaded, around));
}

/** Whether a group is left open (`group: ???`): an option may be written `\???` to have that name. */
function lacksOption({ configPath, item, overrideKey }: PlacedConfig, tracker: ChoiceTracker) {
  if (!configPath.endsWith(MISSING)) return false;
  const isLiteral = item.kind === "group" && item.literal === true;
  return !isLiteral || (overrideKey !== null && tracker.overridden().has(overrideKey));
}

/** Checks the paths that a dialect refuses, both as written and as chosen. */
function checkPaths(item: DefaultsItem, { parents, request }: Surroundings): void {
  const parent = parents.at(-1);
  if (parent === undefined || !parent.dialect.checksPaths || item.kind === "self") return;
  const check = (kind: refuse.PathKind, path: string): void => {
    if (path.includes("\\") || path.split("/").includes(".."))
      throw refuse.forbiddenPath(parent.configPath, kind, path, item.origin, request.repository);
  };
  if (item.kind === "config") check("config", item.path);
  else {
    check("config group", item.group);
    for (const option of [item.value].flat()) if (option !== null) check("config option", option);
  }
}

/** Loads a config and records its warnings. The primary config was read before, to extend the search path. */
function readConfig(
  placed: PlacedConfig,
  { primary, request, tracker }: Surroundings,
): LoadedConfig | undefined {
  const { repository, resolvers } = request;
  const { configPath } = placed;
  const loaded = repository.load(configPath);
  const isFirst = tracker.isFirstReading(configPath);
  const { dialect } = resolvers;
  tracker.warn(...readingNotices(placed, loaded, { primary, isFirst }, repository, dialect));
  return loaded;
}

function expandList(
  placed: PlacedConfig,
  loaded: LoadedConfig,
  around: Surroundings,
): readonly DefaultsTreeChild[] {
  const { tracker, primary, request } = around;
  const { items, selfAdded, selfMissingAt } = completeItems({
    configPath: placed.configPath,
    loaded,
    primary,
    appended: primary ? request.choices.appended : [],
    resolvers: request.resolvers,
  });
  if (selfMissingAt && placed.dialect.warnsAboutMissingSelf)
    tracker.warn(missingSelf(placed.configPath, selfMissingAt));

  const place: ListPlace = {
    group: placed.group,
    package: finalPackage(placed, loaded.package),
    dialect: placed.dialect,
  };
  const below: Surroundings = {
    ...around,
    parents: [...around.parents, placed],
    primary: false,
  };
  for (const item of items) checkPaths(item, below);
  const complete = noteOverrides(items, placed, place, around);
  const self: SelfMark = { kind: "self", path: belowGroup(placed.parentGroup, SELF) };
  return expandItems(complete, { place, below, self, selfAdded });
}

/**
 * Registers the `override` items of a list, which must be at its end.
 *
 * @returns the items, with those marked that override without the keyword, which are allowed anywhere
 */
function noteOverrides(
  items: readonly DefaultsItem[],
  parent: PlacedConfig,
  place: ListPlace,
  { tracker, interpolated }: Surroundings,
): readonly DefaultsItem[] {
  let last: { readonly item: GroupItem; readonly placed: PlacedConfig } | undefined;
  let isAtEnd = false;
  return items.map((item) => {
    if (item.kind === "self") return item;
    const placed = placeItem(item, item.kind === "group" ? nameOf(item.value) : null, place);
    const isImplicit = item.kind === "group" && overridesImplicitly(item, place);
    if (item.kind === "config" || !(isImplicit || item.override)) {
      const isAppended = item.kind === "group" && item.appended;
      if (isAtEnd && last && !isAppended)
        throw refuse.overrideBefore(parent, last, { item, placed });
      return item;
    }
    if (isImplicit) tracker.warn(hydraOverrideNotice(parent, item.group, item.origin));
    else isAtEnd = true;
    if (interpolated) throw refuse.overrideBelowInterpolation(parent, placed);
    if (!place.dialect.lastOverrideWins) tracker.noteOverride(item, placed, parent);
    last = { item, placed };
    return { ...item, override: true };
  });
}

const overridesImplicitly = (item: GroupItem, { dialect }: ListPlace): boolean =>
  dialect.implicitHydraOverrides && !item.override && item.group.startsWith("hydra/");

interface ListContext {
  readonly place: ListPlace;
  readonly below: Surroundings;
  readonly self: SelfMark;
  readonly selfAdded: boolean;
}

/** A choice that is deferred until all others of its list are made. */
interface Deferred {
  readonly kind: "deferred";
  readonly item: Exclude<DefaultsItem, { kind: "self" }>;
  readonly text: string;
}

function expandItems(
  written: readonly DefaultsItem[],
  context: ListContext,
): readonly DefaultsTreeChild[] {
  const { below, place } = context;
  const items: DefaultsItem[] = [];
  const children: (DefaultsTreeChild | Deferred)[] = [];

  const parent = below.parents.at(-1);
  const list: ChildList = { children: [] };
  for (const item of written.toReversed()) {
    const chosen =
      item.kind === "group" && !item.override
        ? below.tracker.choose(item, place, below.eligible)
        : item;
    items.push(chosen);
    if (chosen.kind === "self") children.push(context.self);
    else if (chosen.kind === "group" && chosen.override) {
      const name = typeof chosen.value === "string" ? chosen.value : null;
      if (place.dialect.lastOverrideWins && parent)
        below.tracker.noteOverride(chosen, placeItem(chosen, name, place), parent);
    } else {
      checkPaths(chosen, below);
      for (const child of expandItem(chosen, context))
        children.push(
          child.kind === "deferred" && place.dialect.defersChoices
            ? deferToTree(child, list, context)
            : child,
        );
    }
  }

  list.children = resolveDeferred(children, items.reverse(), context).reverse();
  return list.children;
}

/** Defers a choice until those of the whole tree are made. Its placeholder is always replaced. */
function deferToTree(
  { item, text }: Deferred,
  list: ChildList,
  { below, place, self }: ListContext,
): SelfMark {
  const mark: SelfMark = { ...self };
  const { eligible = below.tracker.overridden() } = below;
  below.deferred.push({ item, text, place, below: { ...below, eligible }, list, mark });
  return mark;
}

/** Resolves interpolated choices last, because they may refer to any group of their list, before or after. */
function resolveDeferred(
  children: readonly (DefaultsTreeChild | Deferred)[],
  items: readonly DefaultsItem[],
  { below, place, selfAdded }: ListContext,
): DefaultsTreeChild[] {
  if (!children.some((child) => child.kind === "deferred"))
    return children.filter((child) => child.kind !== "deferred");
  const scope = { choices: below.tracker.choices(), items, selfAdded, place };
  return children.map((child) => {
    if (child.kind !== "deferred") return child;
    if (isPositional(child.item, child.text) && place.dialect.positionalInterpolation)
      below.tracker.warn(
        positionWarning(positionalNotice(child.item, child.text, place), child.item.origin),
      );
    const name = resolveChoice(child.item, child.text, scope, below.request.resolvers);
    const item = child.item.kind === "config" ? { ...child.item, path: name } : child.item;
    return expand(placeItem(item, name, place), { ...below, interpolated: true });
  });
}

function expandItem(
  item: Exclude<DefaultsItem, { kind: "self" }>,
  { place, below }: ListContext,
): readonly (DefaultsTreeChild | Deferred)[] {
  if (item.kind === "group" && isOptionList(item.value))
    return expandOptions(item, item.value, place, below);

  const text = item.kind === "group" ? item.value : placeItem(item, null, place).configPath;
  if (typeof text === "string" && text.includes("${")) {
    const isWritten = item.kind === "config" && place.dialect.defersChoices;
    return [{ kind: "deferred", item, text: isWritten ? item.path.replace(/^\//, "") : text }];
  }
  const name = item.kind === "group" && typeof item.value === "string" ? item.value : null;
  return [expand(placeItem(item, name, place), below)];
}

/** `group: [a, b]` includes the configs `group/a` and `group/b`, in this order. */
function expandOptions(
  item: GroupItem,
  options: readonly (string | null)[],
  place: ListPlace,
  below: Surroundings,
): readonly DefaultsTreeNode[] {
  const { explicitPackage } = placeItem(item, null, place);
  const listPlace = startOfItem(item, place);
  return options.toReversed().map((option) => {
    if (option === null) throw refuse.optionWithoutName(item);
    if (option.includes("${")) throw refuse.interpolationInOptions(item, below.parents.at(-1));
    return expand(
      placeItem(
        {
          kind: "config",
          path: `${item.group}/${option}`,
          package: explicitPackage,
          optional: item.optional,
          origin: item.origin,
        },
        null,
        listPlace,
      ),
      below,
    );
  });
}
