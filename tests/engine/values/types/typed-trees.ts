import { mergeNodes } from "../../../../src/engine/values/edit/merge.ts";
import {
  type ConfigNode,
  type ContainerNode,
  map,
  type NodeType,
} from "../../../../src/engine/values/node.ts";
import { withFlags } from "../../../../src/engine/values/place.ts";
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

const port: ConfigNode = { ...value(80n), type: INT };
const host: ConfigNode = { ...value("h"), type: STR };
/** A class with defaults. */
export const SERVER = {
  kind: "object",
  name: "Server",
  fields: new Map<string, NodeType>([
    ["host", STR],
    ["port", INT],
  ]),
  defaults: new Map([
    ["host", host],
    ["port", port],
  ]),
} satisfies NodeType;

/** An object with a field `f` of a type and with a value, and `x` of any. */
export const withField = (
  type: NodeType,
  text: string,
  x: ConfigNode = value(null),
): ContainerNode => ({
  ...map(
    [
      ["f", { ...value(text), type }],
      ["x", x],
    ],
    ORIGIN,
  ),
  type: {
    kind: "object",
    name: "C",
    fields: new Map<string, NodeType>([
      ["f", type],
      ["x", { kind: "any" }],
    ]),
  },
});

/** What stands at `f`, as text. */
export const onlyField = (node: ConfigNode): string => show(node).replace(/^x:.*/ms, "");
