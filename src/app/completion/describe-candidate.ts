import { pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/resolution/select.ts";
import { type Candidate, candidate } from "./candidate.ts";
import type { ComposedTree } from "./tree.ts";
import type { SchemaKnowledge } from "./values.ts";

/** What the schema says of a key, or else its value; the options of a group. */
export function described(
  each: Candidate,
  tree: ComposedTree,
  schema: SchemaKnowledge | undefined,
): Candidate {
  if (each.description !== undefined) return each;
  const match = /^(?:\+\+|[+~])?([\w./@[\]-]+?)([.=/]?)$/.exec(each.text);
  if (match === null) return each;
  const [, name = "", ending = ""] = match;
  const text =
    ending === "." || !isGroupName(tree, name)
      ? keyText(name, tree, schema)
      : groupText(name, tree);
  return candidate(each.text, text);
}

const isGroupName = (tree: ComposedTree, name: string): boolean =>
  tree.groups().groupExists(name.replace(/@.*/, ""));

const groupText = (name: string, tree: ComposedTree): string =>
  tree.groups().list(name.replace(/@.*/, ""), "config").join(", ");

function keyText(
  key: string,
  tree: ComposedTree,
  schema: SchemaKnowledge | undefined,
): string | undefined {
  try {
    const own = key.startsWith("hydra.") ? undefined : schema?.description(key);
    if (own !== undefined) return own;
    const node = selectNode(tree.config(), key, tree.context, { throwOnResolutionFailure: false });
    return node?.kind === "scalar" ? pyStr(node) : undefined;
  } catch {
    // A description is never worth an error.
    return undefined;
  }
}
