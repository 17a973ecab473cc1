import type { ResolveContext } from "../values/interpolation/context.ts";
import type { MapNode } from "../values/node.ts";
import type { GroupChoices } from "./defaults/group-choices.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import { flattenTree } from "./defaults/list.ts";
import type { DefaultsTree } from "./defaults/tree.ts";
import { buildDefaultsTree } from "./defaults/tree.ts";
import { checkUsage } from "./defaults/usage.ts";
import { EMPTY_CONFIG, HYDRA_CONFIG } from "./hydra/schema.ts";
import { mergeRows } from "./merge-rows.ts";
import type { Repository } from "./sources/repository.ts";
import type { RunMode } from "./sweep-legality.ts";
import { withEntry } from "./tree-edit.ts";
import type { CompositionWarning } from "./warning.ts";

/** A composition before the overrides of values: what files and chosen groups come to. */
export interface Base {
  readonly tree: DefaultsTree;
  readonly defaults: readonly DefaultsRow[];
  /** In struct mode, `hydra` included. */
  readonly root: MapNode;
  readonly warnings: readonly CompositionWarning[];
}

export interface BaseRequest {
  readonly repository: Repository;
  readonly configName: string | null;
  readonly mode: RunMode;
  readonly choices: GroupChoices;
  readonly context: ResolveContext;
}

/**
 * The jobs of a sweep mostly differ in values, not in groups: the base of each choice of groups is
 * made once per snapshot. Being immutable, it can be shared by all of them.
 */
export function composeBase(request: BaseRequest): Base {
  const { context, repository } = request;
  const known = KNOWN.get(repository) ?? new Map<string, KnownBase>();
  KNOWN.set(repository, known);
  const id = identify(request);
  const before = known.get(id);
  if (before?.resolvers === context.resolvers && before.env === context.env) return before.base;
  const base = makeBase(request);
  const [oldest] = known.keys();
  if (known.size >= LIMIT && oldest !== undefined) known.delete(oldest);
  known.set(id, { base, resolvers: context.resolvers, env: context.env });
  return base;
}

interface KnownBase {
  readonly base: Base;
  /** Interpolations take part in defaults lists and in merging. */
  readonly resolvers: ResolveContext["resolvers"];
  readonly env: ResolveContext["env"];
}

const KNOWN = new WeakMap<Repository, Map<string, KnownBase>>();

/** A sweep over groups has as many bases as combinations: keep those in use, not all of them. */
const LIMIT = 64;

/** Overrides are told apart by text and position: origins in the result speak of both. */
function identify({ choices, configName, mode }: BaseRequest): string {
  const texts = choices.overrides.map(({ origin }) => [origin.index, origin.text]);
  return JSON.stringify([configName, mode, texts]);
}

function makeBase({ choices, configName, context, mode, repository }: BaseRequest): Base {
  const tree = buildDefaultsTree({
    repository,
    roots: [
      { path: HYDRA_CONFIG, primary: false },
      { path: configName ?? EMPTY_CONFIG, primary: true },
    ],
    choices,
    skipMissing: mode === "multirun",
    resolvers: context,
  });
  const defaults = flattenTree(tree, { rootName: "<root>" });
  checkUsage(tree);
  const merged = mergeRows(defaults, repository, context);
  return {
    tree,
    defaults,
    root: asStruct(merged.root),
    warnings: [...tree.warnings, ...merged.warnings],
  };
}

/** From here on keys are only added on purpose; the `hydra` node stays writable in any case. */
function asStruct(root: MapNode): MapNode {
  const hydra = root.entries.get("hydra")?.value;
  const writable =
    hydra === undefined
      ? root
      : withEntry(root, "hydra", { ...hydra, flags: { ...hydra.flags, readonly: false } });
  return { ...writable, flags: { ...writable.flags, struct: true } };
}
