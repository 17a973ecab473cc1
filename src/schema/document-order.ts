import { getOrCreate } from "../system/get-or-create.ts";
import type { SchemaIssue } from "./issue.ts";
import type { JsonValue } from "./json-document.ts";
import { pointerTokens } from "./pointer.ts";

/** Issues as their keys stand in the document, so that a list of them reads like the file. */
export function inDocumentOrder(
  issues: readonly SchemaIssue[],
  document: JsonValue,
): readonly SchemaIssue[] {
  const childrenOf = rememberChildren();
  const rankOf = ({ pointer }: SchemaIssue): readonly number[] => {
    let value: JsonValue | undefined = document;
    return pointerTokens(pointer).map((token) => {
      if (typeof value !== "object" || value === null) return LAST;
      const child = childrenOf(value).get(token);
      value = child?.value;
      return child?.place ?? LAST;
    });
  };
  return issues
    .map((issue) => ({ issue, rank: rankOf(issue) }))
    .sort((a, b) => compareRanks(a.rank, b.rank))
    .map(({ issue }) => issue);
}

/** Behind all that is there. */
const LAST = Number.MAX_SAFE_INTEGER;

interface Child {
  readonly place: number;
  readonly value: JsonValue;
}

/** By key: a large object may have an issue with each of its keys. */
function rememberChildren(): (value: object) => ReadonlyMap<string, Child> {
  const known = new Map<object, ReadonlyMap<string, Child>>();
  return (parent) =>
    getOrCreate(
      known,
      parent,
      () => new Map(Object.entries(parent).map(([key, value], place) => [key, { place, value }])),
    );
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? -1) - (right[at] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}
