/** `--help KEY`: what a key or a group is. */
import pc from "picocolors";
import { type Cause, type Composition, explain } from "../../engine/compose/index.ts";
import {
  describeKey,
  type JsonSchema,
  type KeyDescription,
  showValue,
} from "../../engine/schema/index.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { nearestKey, splitKey } from "../../engine/values/key-path.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import { describeOrigin, type FileOrigin } from "../../engine/values/origin.ts";
import { describeType } from "../../engine/values/types/type-errors.ts";
import { oneLine } from "./show-explanation.ts";

export interface KeyHelpRequest {
  readonly key: string;
  readonly composition: Composition;
  readonly schema?: JsonSchema;
  readonly color: boolean;
}

type Row = readonly [label: string, text: string | readonly string[]];

/**
 * The output of `--help KEY`: the value of a key and its origin, and from the schema, if any, its type, the allowed
 * values and its meaning; for a config group, its options.
 *
 * @throws ConfigError `key.not_found` for a name that is neither a key nor a group
 */
export function keyHelp(request: KeyHelpRequest): string {
  const { color, key } = request;
  const rows = rowsOf(request);
  const width = Math.max(...rows.map(([label]) => label.length));
  const { bold, dim } = pc.createColors(color);
  const lines = rows.map(
    ([label, text]) =>
      `  ${dim(label.padEnd(width))}  ${typeof text === "string" ? text : text.join(", ")}`,
  );
  return `${[bold(key), ...lines].join("\n")}\n`;
}

/**
 * The same as data: `key`, then an entry for each label of `keyHelp`, with `_` for blanks. Several lines of a label, and
 * options, choices and keys, are lists.
 *
 * @throws ConfigError as `keyHelp`
 */
export function keyFacts(
  request: KeyHelpRequest,
): Readonly<Record<string, string | readonly string[]>> {
  const facts = new Map<string, string | readonly string[]>([["key", request.key]]);
  let latest = "key";
  for (const [label, text] of rowsOf(request)) {
    const name = label === "" ? latest : label.replaceAll(" ", "_");
    const earlier = facts.get(name);
    const isList = LISTS.has(name) || earlier !== undefined;
    facts.set(name, isList ? [earlier ?? [], text].flat() : text);
    latest = name;
  }
  return Object.fromEntries(facts);
}

const LISTS: ReadonlySet<string> = new Set(["options", "chosen", "keys"]);

function rowsOf(request: KeyHelpRequest): readonly Row[] {
  const { composition, key } = request;
  const rows = [...groupRows(request), ...valueRows(request)];
  if (rows.length === 0)
    throw new ConfigError({
      code: "key.not_found",
      message: `Key '${key}' not found in config`,
      key,
      ...nearestKey(composition.root, splitKey(key, composition.dialect)),
    });
  return rows;
}

/** A group may be given with slashes or dots. Its options may also be chosen at another package. */
function groupRows({ composition, key }: KeyHelpRequest): readonly Row[] {
  const { choices, repository } = composition;
  const group = key.replaceAll(".", "/");
  const options = repository.list(group, "config");
  if (options.length === 0) return [];
  const chosen = [...choices].filter(([name]) => name.split("@", 1)[0] === group);
  return [
    ["group", `choose with ${chosen[0]?.[0] ?? `+${group}`}=OPTION`],
    ["options", options],
    ...chosen.map(([name, option]): Row => ["chosen", `${name}=${option ?? "null"}`]),
  ];
}

function valueRows(request: KeyHelpRequest): readonly Row[] {
  const { composition, key, schema } = request;
  const explanation = explain(composition, key);
  const path = splitKey(key, composition.dialect);
  const described =
    schema === undefined || path[0] === "hydra"
      ? undefined
      : describeKey(schema, path, composition.config);
  if (explanation === undefined && (described === undefined || saysNothing(described))) return [];
  const value = explanation?.value;
  const type = described?.type ?? typeOf(value);
  return [
    ...(explanation === undefined ? [] : settingRows(explanation)),
    ...row("type", type),
    ...row("allowed", described?.allowed.join("; ") || membersOf(value)),
    ...(described?.default === undefined
      ? []
      : row("schema default", JSON.stringify(described.default))),
    ...row("examples", described?.examples.join(", ")),
    ...row("description", described?.description),
    ...(explanation === undefined ? [] : row("comment", commentOn(explanation))),
    ...keyRows(described, value),
  ];
}

/** The value; if an override set it, also the value without the override. */
function settingRows({ value, cause, replaced }: NonNullable<ReturnType<typeof explain>>) {
  const shown = (node: ConfigNode, { origin }: Cause): string =>
    `${isMissing(node) ? "none; it must be set" : showValue(node)}  (${oneLine(describeOrigin(origin))})`;
  if (cause.origin.kind !== "override") return row("default", shown(value, cause));
  const defaultValue = replaced.find((earlier) => earlier.cause.origin.kind !== "override");
  return [
    ...row("value", shown(value, cause)),
    ...(defaultValue === undefined
      ? []
      : row("default", shown(defaultValue.value, defaultValue.cause))),
  ];
}

/**
 * The comment above a key, or behind its value, in the file that sets it; if that has none, in a file whose value it replaces.
 *
 * @see https://github.com/facebookresearch/hydra/issues/633
 */
function commentOn({ value, replaced }: NonNullable<ReturnType<typeof explain>>) {
  const nodes = [value, ...replaced.map((earlier) => earlier.value)];
  return nodes.map(({ origin }) => (origin.kind === "file" ? commentAt(origin) : "")).find(Boolean);
}

function commentAt({ source: { text }, start, end }: FileOrigin): string {
  const lines = text.slice(0, start).split("\n");
  // The value of `key:` may begin in a line below.
  const last = lines.findLastIndex((line) => /\S/.test(line) && !COMMENT.test(line));
  // Keys in braces share their line.
  if (/[{[]/.test(lines[last] ?? "")) return "";
  const indent = /^[\s-]*/.exec(lines[last] ?? "")?.[0].length ?? 0;
  const above: string[] = [];
  for (let index = last - 1; index >= 0; index--) {
    const [, blanks = "", comment] = COMMENT.exec(lines[index] ?? "") ?? [];
    if (comment === undefined || blanks.length !== indent || /^@package\b/.test(comment)) break;
    above.unshift(comment);
  }
  const [, behind] = /^[ \t]+#\s?(.*)/.exec(text.slice(end)) ?? [];
  return [...above, ...(behind === undefined ? [] : [behind])].join(" ").trim();
}

/** A line with nothing but a comment. */
const COMMENT = /^(\s*)#+\s?(.*?)\s*$/;

/** `???`: a mandatory value that is not set. */
const isMissing = (node: ConfigNode): boolean => node.kind === "scalar" && node.value === "???";

function keyRows(described: KeyDescription | undefined, value: ConfigNode | undefined) {
  const describedKeys = described?.keys ?? [];
  if (describedKeys.length > 0)
    return describedKeys.flatMap(({ description, name }, index) =>
      row(index === 0 ? "keys" : "", description === undefined ? name : `${name}: ${description}`),
    );
  if (value?.kind !== "map" || value.entries.size === 0) return [];
  return [["keys", [...value.entries.values()].map(({ key }) => String(key))] satisfies Row];
}

const membersOf = (node: ConfigNode | undefined): string | undefined =>
  node?.type?.kind === "enum" ? node.type.members.join(", ") : undefined;

/** The type without a schema: that of a typed node, else that of the value. */
function typeOf(node: ConfigNode | undefined): string | undefined {
  if (node === undefined) return undefined;
  if (node.type !== undefined && node.type.kind !== "any") return describeType(node.type);
  if (node.kind !== "scalar") return node.kind === "map" ? "a mapping" : "a list";
  switch (typeof node.value) {
    case "bigint":
      return "an integer";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "string":
      return node.value === "???" || node.value.includes("${") ? undefined : "a string";
    default:
      return undefined;
  }
}

const row = (label: string, text: string | undefined): readonly Row[] =>
  text === undefined || text === "" ? [] : [[label, text]];

const saysNothing = ({ allowed, description, keys, type }: KeyDescription): boolean =>
  allowed.length === 0 && description === undefined && keys.length === 0 && type === undefined;
