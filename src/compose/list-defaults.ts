import type { ResolveContext } from "../values/interpolation/context.ts";
import type { GroupChoices } from "./defaults/group-choices.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import { flattenTree } from "./defaults/list.ts";
import type { DefaultsTree } from "./defaults/tree.ts";
import { buildDefaultsTree } from "./defaults/tree.ts";
import { checkUsage } from "./defaults/usage.ts";
import { EMPTY_CONFIG, HYDRA_CONFIG } from "./hydra/schema.ts";
import type { Repository } from "./sources/repository.ts";
import type { RunMode } from "./sweep-legality.ts";
import type { CompositionWarning } from "./warning.ts";

export interface DefaultsRequest {
  readonly repository: Repository;
  readonly configName: string | null;
  readonly mode: RunMode;
  readonly choices: GroupChoices;
  readonly context: ResolveContext;
  /** Is told what there is to warn about, whether or not there is a list in the end. */
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/** The configs that take part, with the tree that they come from. */
export interface Defaults {
  readonly tree: DefaultsTree;
  readonly defaults: readonly DefaultsRow[];
}

/**
 * What takes part in a composition, Hydra's own configs first; no value is looked at.
 *
 * @throws ConfigError `compose.*`, and `yaml.*` for bad files
 */
export function listDefaults(request: DefaultsRequest): Defaults {
  const { choices, configName, context, mode, onWarning, repository } = request;
  const tree = buildDefaultsTree({
    repository,
    roots: [
      { path: HYDRA_CONFIG, primary: false },
      { path: configName ?? EMPTY_CONFIG, primary: true },
    ],
    choices,
    skipMissing: mode === "multirun",
    resolvers: context,
    ...(onWarning && { onWarning }),
  });
  const defaults = flattenTree(tree, { rootName: "<root>" });
  checkUsage(tree, repository);
  return { tree, defaults };
}
