import type { ConfigNode, KeyId, MapEntry, ScalarValue } from "../node.ts";
import type { FileOrigin, SourceText } from "../origin.ts";
import type { MergeState } from "./merge-keys.ts";
import type { SyntaxNode } from "./syntax-node.ts";
import type { ListTag, MapTag, TagConstructor } from "./tags/tag-constructor.ts";

/** What the construction of one document knows so far; the functions of this folder pass it on. */
export interface Construction {
  readonly source: SourceText;
  readonly merges: MergeState;
  /** What nodes became, so that aliases share it; null for a document without aliases. */
  readonly built: Map<SyntaxNode, ConfigNode> | null;
  /** Values of types that only Python has, by their placeholder: the type's name. */
  readonly foreign: Map<ConfigNode, string>;
  /** Collections in the order in which they were made; filling one appends those inside it. */
  readonly pending: Pending[];
  /** Whether there is anything that OmegaConf could refuse. */
  suspicious: boolean;
  /** Makes a value of a node, as its tag says. */
  build(node: SyntaxNode): ConfigNode;
}

/** A collection that was made and is not filled yet. */
type Pending =
  | {
      readonly kind: "list";
      readonly tag: ListTag;
      readonly node: SyntaxNode;
      readonly target: ConfigNode[];
    }
  | {
      readonly kind: "map";
      readonly tag: MapTag;
      readonly node: SyntaxNode;
      readonly target: Map<KeyId, MapEntry>;
    };

/** Makes a value of a node as a tag would, be it the node's own or not. */
export function buildAs(
  tag: TagConstructor,
  node: SyntaxNode,
  construction: Construction,
): ConfigNode {
  if (tag.kind === "value") return tag.construct(node, construction);
  const origin = originOf(node, construction);
  if (tag.kind === "list") {
    const items: ConfigNode[] = [];
    construction.pending.push({ kind: "list", tag, node, target: items });
    return { kind: "list", items, origin };
  }
  const entries = new Map<KeyId, MapEntry>();
  construction.pending.push({ kind: "map", tag, node, target: entries });
  return { kind: "map", entries, origin };
}

export function buildScalar(
  node: SyntaxNode,
  value: ScalarValue,
  construction: Construction,
): ConfigNode {
  if (typeof value === "string" && value.includes("${")) construction.suspicious = true;
  return { kind: "scalar", value, origin: originOf(node, construction) };
}

/** The placeholder of a value of a type that only Python has. */
export function buildForeign(
  node: SyntaxNode,
  typeName: string,
  construction: Construction,
): ConfigNode {
  const placeholder = buildScalar(node, null, construction);
  construction.foreign.set(placeholder, typeName);
  construction.suspicious = true;
  return placeholder;
}

export const originOf = ({ start, end }: SyntaxNode, { source }: Construction): FileOrigin => ({
  kind: "file",
  source,
  start,
  end,
});
