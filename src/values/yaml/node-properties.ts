import type { SourceText } from "../origin.ts";
import { refusal } from "./refusal.ts";
import { plainTag } from "./resolve-plain.ts";
import type { Scanner } from "./scanner.ts";
import { type ScalarSyntax, TAG } from "./syntax-node.ts";
import type { ScalarToken, TagToken } from "./tokens.ts";

/** From handles as `!!` to the prefixes they stand for. */
export type TagHandles = ReadonlyMap<string, string>;

/** Anchor and tag in front of a node. */
export interface Properties {
  readonly anchor: string | null;
  /** Null or `!` leave the tag to the content. */
  readonly tag: string | null;
  /** Where the properties start; -1 without any. */
  readonly start: number;
}

export const NO_PROPERTIES: Properties = { anchor: null, tag: null, start: -1 };

/** Reads an anchor and a tag, in either order. */
export function readProperties(
  source: SourceText,
  { peek, next }: Scanner,
  handles: TagHandles,
): Properties {
  const { start } = peek();
  let anchor: string | null = null;
  let tag: TagToken | null = null;
  while (anchor === null || tag === null) {
    const token = peek();
    if (token.type === "<anchor>" && anchor === null) anchor = token.name;
    else if (token.type === "<tag>" && tag === null) tag = token;
    else break;
    next();
  }
  return { anchor, tag: tag === null ? null : fullTag(source, tag, handles), start };
}

function fullTag(source: SourceText, token: TagToken, handles: TagHandles): string {
  if (token.handle === null) return token.suffix;
  const prefix = handles.get(token.handle);
  if (prefix !== undefined) return prefix + token.suffix;
  throw refusal(source, {
    context: "while parsing a node",
    problem: `found undefined tag handle '${token.handle}'`,
    start: token.start,
    end: token.end,
  });
}

/** A scalar with its tag: written, implicit in a plain text, or a string. */
export function scalarNode(
  { tag }: Properties,
  { value, plain }: Pick<ScalarToken, "value" | "plain">,
  start: number,
  end: number,
): ScalarSyntax {
  if (tag !== null && tag !== "!") return { kind: "scalar", tag, value, start, end };
  // A lone `!` makes even a quoted scalar plain.
  const implicit = plain || tag === "!";
  const resolved = implicit ? plainTag(value, "omegaconf") : TAG.string;
  return { kind: "scalar", tag: resolved, value, start, end };
}

/** Where nothing stands, an empty plain scalar does. */
export const emptyScalar = (start: number): ScalarSyntax => ({
  kind: "scalar",
  tag: TAG.null,
  value: "",
  start,
  end: start,
});

/** The tag of a list or mapping. */
export const collectionTag = ({ tag }: Properties, implicit: string): string =>
  tag === null || tag === "!" ? implicit : tag;
