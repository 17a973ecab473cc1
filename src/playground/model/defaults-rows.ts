/** The defaults tree as rows of a picture. */
import type { Composition } from "../../engine/compose/compose.ts";
import type { DefaultsTreeNode, NodeState } from "../../engine/compose/index.ts";

/** A config of the tree, one below the other. */
export interface DefaultsRow {
  readonly depth: number;
  /** `db: mysql`, `db` if nothing is chosen, or the path of a config outside groups. */
  readonly label: string;
  readonly package: string;
  readonly state: NodeState | "self";
  /** The file, below the directory of the tree; undefined for what is no file of it. */
  readonly path: string | undefined;
}

/** @param directory that the names of files begin with */
export function defaultsRows(
  { tree }: Composition,
  { directory, withHydra }: { readonly directory: string; readonly withHydra: boolean },
): readonly DefaultsRow[] {
  const rows: DefaultsRow[] = [];
  const visit = (node: DefaultsTreeNode, depth: number): void => {
    const { loaded, package: pkg, placed, state } = node;
    if (!withHydra && /^hydra(?:\/|$)/.test(placed.configPath)) return;
    const { configPath, name: option, overrideKey } = placed;
    const chosen = option === null ? overrideKey : `${overrideKey}: ${option}`;
    const label = overrideKey === null ? configPath : (chosen ?? configPath);
    const name = loaded?.origin.kind === "file" ? loaded.origin.source.name : "";
    const path = name.startsWith(`${directory}/`) ? name.slice(directory.length + 1) : undefined;
    rows.push({ depth, label, package: pkg, state, path });
    for (const child of node.children)
      if (child.kind === "config") visit(child, depth + 1);
      else if (node.children.length > 1)
        rows.push({ depth: depth + 1, label: "_self_", package: pkg, state: "self", path });
  };
  for (const root of tree.roots) visit(root, 0);
  return rows;
}
