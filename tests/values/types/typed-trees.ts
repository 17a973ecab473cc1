import { withFlags } from "../../../src/values/flags.ts";
import { mergeNodes } from "../../../src/values/merge.ts";
import type { ConfigNode, NodeType } from "../../../src/values/node.ts";
import { map } from "../../../src/values/node.ts";
import { ORIGIN, show, value, yaml } from "../trees.ts";

export const COLOR: NodeType = {
  kind: "enum",
  name: "Color",
  members: ["RED", "GREEN"],
  values: [1n, 2n],
};
export const INT: NodeType = { kind: "int" };
export const STR: NodeType = { kind: "str" };

/** An object with one missing field of a type. */
export function typed(type: NodeType): ConfigNode {
  const fields = new Map([["f", type]]);
  const field = { ...value("???"), type } as ConfigNode;
  return { ...map([["f", field]], ORIGIN), type: { kind: "object", name: "C", fields } };
}

/** The tree, which takes other keys, too. */
export const unlocked = (node: ConfigNode): ConfigNode => withFlags(node, { struct: false });

export const assign = (type: NodeType, text: string): string =>
  show(mergeNodes([typed(type), yaml(`f: ${text}`)])).trimEnd();

export const OBJECT = {
  kind: "object",
  name: "D",
  fields: new Map([["v", INT]]),
} satisfies NodeType;
