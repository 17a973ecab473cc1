import type { Size } from "../values/budget.ts";
import { watchResolvers } from "../values/interpolation/context.ts";
import type { MapNode } from "../values/node.ts";
import { type Defaults, type DefaultsRequest, listDefaults } from "./list-defaults.ts";
import { mergeRows } from "./merge-rows.ts";
import type { Repository } from "./sources/repository.ts";
import { withEntry } from "./tree-edit.ts";
import type { CompositionWarning } from "./warning.ts";

/** A composition before the overrides of values: what files and chosen groups come to. */
export interface Base extends Defaults {
  /** In struct mode, `hydra` included. */
  readonly root: MapNode;
  /** What merging has put in where interpolations stood. */
  readonly expanded: Size;
  readonly warnings: readonly CompositionWarning[];
}

/**
 * The jobs of a sweep mostly differ in values, not in groups: the base of each choice of groups is
 * made once per snapshot. Being immutable, it can be shared by all of them. Not where a resolver had a
 * say, in a defaults list or in merging: it may say something else to the next job.
 */
export function composeBase(request: DefaultsRequest): Base {
  const { context, repository } = request;
  const known = KNOWN.get(repository) ?? new Map<string, Base>();
  KNOWN.set(repository, known);
  const id = identify(request);
  const before = known.get(id);
  if (before !== undefined) return before;
  const watched = watchResolvers(context);
  const base = makeBase({ ...request, context: watched.context });
  if (watched.wereCalled()) return base;
  const [oldest] = known.keys();
  if (known.size >= LIMIT && oldest !== undefined) known.delete(oldest);
  known.set(id, base);
  return base;
}

const KNOWN = new WeakMap<Repository, Map<string, Base>>();

/** A sweep over groups has as many bases as combinations: keep those in use, not all of them. */
const LIMIT = 64;

/** Overrides are told apart by text and position: origins in the result speak of both. */
function identify({ choices, configName, mode }: DefaultsRequest): string {
  const texts = choices.overrides.map(({ origin }) => [origin.index, origin.text]);
  return JSON.stringify([configName, mode, texts]);
}

function makeBase(request: DefaultsRequest): Base {
  const { context, onWarning, repository } = request;
  const { defaults, tree } = listDefaults(request);
  const merged = mergeRows(defaults, repository, context, onWarning);
  return {
    tree,
    defaults,
    root: asStruct(merged.root),
    expanded: merged.expanded,
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
