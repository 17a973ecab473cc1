/** Reports as JSON. */
import type { RegionReportBundle } from "../model/document.ts";

/**
 * The text of a bundle's file: indented, keys in the order of the contract, one final newline.
 *
 * @throws RangeError if the text is longer than the longest string (512 MB): use `jsonPieces` instead
 */
export const renderBundleJson = (bundle: RegionReportBundle): string =>
  [...jsonPieces(bundle)].join("");

/**
 * The same text in pieces, for reports with millions of kernel records, which exceed the longest string. Joined, the
 * pieces are `JSON.stringify(value, null, 2)` and a newline, except that an element of the longest lists takes one
 * line: with one line per member, kernel records would be twice as large.
 *
 * @param levels the depth of the longest lists, counting the value itself as 1: these lists are split into pieces, but
 * not their elements
 */
export function* jsonPieces(value: object, levels = BUNDLE_LEVELS): Generator<string> {
  yield* pieces(value, "", levels);
  yield "\n";
}

/** The depth of the lists of kernels: bundle, reports, report, regions, region, kernels. */
const BUNDLE_LEVELS = 6;
/** Number of elements of the innermost lists per piece. */
const ELEMENTS_PER_PIECE = 100;

function* pieces(value: unknown, indent: string, levels: number): Generator<string> {
  if (typeof value !== "object" || value === null) yield stringified(value, indent) ?? "null";
  else if (Array.isArray(value)) yield* arrayPieces(value, indent, levels);
  else if (levels === 1) yield stringified(value, indent) ?? "null";
  else yield* objectPieces(value, indent, levels);
}

function* arrayPieces(list: readonly unknown[], indent: string, levels: number): Generator<string> {
  const inner = `${indent}  `;
  if (levels > 1) {
    let lead = "[";
    for (const element of list) {
      yield `${lead}\n${inner}`;
      yield* pieces(element, inner, levels - 1);
      lead = ",";
    }
    yield list.length === 0 ? "[]" : `\n${indent}]`;
    return;
  }
  for (let first = 0; first < list.length; first += ELEMENTS_PER_PIECE) {
    const lines = list
      .slice(first, first + ELEMENTS_PER_PIECE)
      .map((element) => `\n${inner}${JSON.stringify(element) ?? "null"}`);
    yield `${first === 0 ? "[" : ","}${lines.join(",")}`;
  }
  yield list.length === 0 ? "[]" : `\n${indent}]`;
}

function* objectPieces(value: object, indent: string, levels: number): Generator<string> {
  const inner = `${indent}  `;
  let lead = "{";
  for (const [key, member] of Object.entries(value)) {
    // Like JSON.stringify, omits members without a JSON form.
    if (stringifiable(member)) {
      yield `${lead}\n${inner}${JSON.stringify(key)}: `;
      yield* pieces(member, inner, levels - 1);
      lead = ",";
    }
  }
  yield lead === "{" ? "{}" : `\n${indent}}`;
}

const stringifiable = (value: unknown): boolean =>
  value !== undefined && typeof value !== "function" && typeof value !== "symbol";

/** Every newline is between values, because those inside strings are escaped. */
const stringified = (value: unknown, indent: string): string | undefined =>
  JSON.stringify(value, null, 2)?.replaceAll("\n", `\n${indent}`);
