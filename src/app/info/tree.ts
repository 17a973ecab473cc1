import type { DefaultsTree, DefaultsTreeChild, DefaultsTreeNode } from "../../compose/index.ts";

/** The defaults tree, two blanks per level, as `--info defaults-tree` draws it. */
export const treeLines = ({ roots }: DefaultsTree): readonly string[] => [
  "<root>:",
  ...roots.flatMap((root) => drawNode(root, 1)),
];

function drawNode(node: DefaultsTreeChild, depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  if (node.kind === "self") return [`${indent}${node.path}`];
  const below = node.children.flatMap((child) => drawNode(child, depth + 1));
  return [`${indent}${label(node)}${below.length > 0 ? ":" : ""}`, ...below];
}

function label({ placed }: DefaultsTreeNode): string {
  return placed.overrideKey === null
    ? placed.configPath
    : `${placed.overrideKey}: ${placed.name ?? "null"}`;
}
