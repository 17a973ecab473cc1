import { type Limits, limitsOf } from "./limits.ts";
import type { ConfigNode, MapNode } from "./node.ts";
import { type Emission, emitNode, refuseLong } from "./writer/emit-node.ts";
import { breakLine } from "./writer/output.ts";
import { sortEntries } from "./writer/sort-keys.ts";

export interface WriteOptions {
  /** Sort the keys of every mapping, as Python's `sorted` would. Default: keep their order. */
  readonly sortKeys?: boolean;
  /** `characters` also for the text. Default: what the environment says. */
  readonly limits?: Limits;
  /** Told of every node once it is written, children first: its span in the text, in UTF-16 units. */
  readonly onWritten?: (node: ConfigNode, start: number, end: number) => void;
}

/**
 * `OmegaConf.to_yaml`: byte for byte what PyYAML's block style prints, 80 columns, Unicode as it
 * is. Interpolations are written unresolved: resolve the tree first for `resolve=True`.
 * @throws ConfigError `yaml.depth_limit` for a tree deeper than any that is read, `limit.characters`
 */
export function writeYaml(root: ConfigNode, options: WriteOptions = {}): string {
  const out: Emission = {
    text: "",
    column: 0,
    depth: 0,
    most: (options.limits ?? limitsOf(process.env)).characters,
    entriesOf: options.sortKeys === true ? sortedEntries : entriesInOrder,
    onWritten: options.onWritten,
  };
  emitNode(out, root, 0, "root");
  if (out.column > 0) breakLine(out);
  refuseLong(out, root);
  return out.text;
}

const entriesInOrder = ({ entries }: MapNode) => entries.values();

const sortedEntries = ({ entries }: MapNode) => sortEntries([...entries.values()]);
