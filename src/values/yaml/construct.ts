import type { Limits } from "../limits.ts";
import type { ConfigNode } from "../node.ts";
import type { SourceText } from "../origin.ts";
import { buildAs, buildScalar, type Construction } from "./construction.ts";
import { createMergeState, type MergeState } from "./merge-keys.ts";
import type { ParsedDocument } from "./parse-document.ts";
import { refusal } from "./refusal.ts";
import { type SyntaxNode, TAG } from "./syntax-node.ts";
import { TAG_CONSTRUCTORS } from "./tags/index.ts";

/** What a document says before OmegaConf's own rules are applied to it. */
export interface Constructed {
  readonly root: ConfigNode;
  /** Values of Python types that OmegaConf does not know, by their placeholder: the type's name. */
  readonly foreign: ReadonlyMap<ConfigNode, string>;
  /** Whether there is anything that OmegaConf could refuse; most files never need the check. */
  readonly suspicious: boolean;
}

/**
 * Turns a graph of syntax nodes into a config tree, level by level as PyYAML does: of two errors the
 * one nearer to the root is reported. Aliased nodes are built once and shared.
 */
export function construct(
  source: SourceText,
  document: ParsedDocument,
  limits: Limits,
): Constructed {
  const merges = createMergeState(source, limits);
  const construction = startConstruction(source, merges, document.hasAliases ? new Map() : null);
  const root = construction.build(document.root);
  fillCollections(construction);
  const { foreign, suspicious } = construction;
  return { root, foreign, suspicious };
}

function startConstruction(
  source: SourceText,
  merges: MergeState,
  built: Construction["built"],
): Construction {
  const construction: Construction = {
    source,
    merges,
    built,
    foreign: new Map(),
    pending: [],
    suspicious: false,
    build: (node) => build(node, construction),
  };
  return construction;
}

function build(node: SyntaxNode, construction: Construction): ConfigNode {
  const { built } = construction;
  if (built === null) return buildNew(node, construction);
  const known = built.get(node);
  if (known !== undefined) return known;
  const result = buildNew(node, construction);
  built.set(node, result);
  return result;
}

function buildNew(node: SyntaxNode, construction: Construction): ConfigNode {
  const name = construction.merges.tagOf(node);
  // By far the most nodes.
  if (node.kind === "scalar" && name === TAG.string)
    return buildScalar(node, node.value, construction);
  const tag = TAG_CONSTRUCTORS.get(name);
  if (tag === undefined) throw unsupportedTag(node, construction);
  return buildAs(tag, node, construction);
}

/** Filling a collection appends those inside it to the ones that wait. */
function fillCollections(construction: Construction): void {
  for (const work of construction.pending) {
    if (work.kind === "list") work.tag.fill(work.node, work.target, construction);
    else work.tag.fill(work.node, work.target, construction);
  }
}

const unsupportedTag = ({ tag, start, end }: SyntaxNode, { source }: Construction) =>
  refusal(source, {
    code: "yaml.unsupported_tag",
    problem: `could not determine a constructor for the tag '${tag}'`,
    start,
    end,
    ...((tag === TAG.value || tag === TAG.merge) && {
      hint: "quote it to make it a string",
    }),
  });
