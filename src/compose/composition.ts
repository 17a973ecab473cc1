import type { Override } from "../overrides/ast.ts";
import type { ConfigNode, MapNode } from "../values/node.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import type { DefaultsTree } from "./defaults/tree.ts";
import type { PlacedSchema } from "./schemas/placed-schema.ts";
import type { SecretPath } from "./secrets.ts";
import type { Repository } from "./sources/repository.ts";
import type { CompositionWarning } from "./warning.ts";

/** Everything a composition found out: the tree, and why it is what it is. All of it immutable. */
export interface Composition {
  /** The whole tree, with the `hydra` node, in struct mode. */
  readonly root: MapNode;
  /** The job's config: the tree without `hydra`. */
  readonly config: MapNode;
  readonly hydra: ConfigNode;
  readonly configName: string | null;
  /** The final defaults list, in the order of composition (`--info defaults`). */
  readonly defaults: readonly DefaultsRow[];
  /** The tree that the list comes from (`--info defaults-tree`). */
  readonly tree: DefaultsTree;
  /** The option of every group, by override key (`hydra.runtime.choices`). */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly overrides: readonly Override[];
  /** What was searched (`--info searchpath`). */
  readonly repository: Repository;
  /** The schemas that the composed tree fits, and that values must fit when they are resolved. */
  readonly schemas: readonly PlacedSchema[];
  /** The keys of the values that schemas mark secret. */
  readonly secrets: readonly SecretPath[];
  readonly warnings: readonly CompositionWarning[];
}
