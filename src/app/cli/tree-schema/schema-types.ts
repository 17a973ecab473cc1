/** TypeScript types of a JSON Schema. The library that generates them is loaded only here. */
import { ConfigError } from "../../../engine/values/errors.ts";
import { requireDependency } from "../../../engine/values/package-info.ts";
import { messageOf } from "../../../foundation/system/builtin-types.ts";

export interface TypeOptions {
  /** The name of the root type, unless the schema has a `title`. */
  readonly name: string;
  /** Members and lists that cannot be changed, and lists of any length. */
  readonly isReadonly: boolean;
}

/** @throws ConfigError `schema.invalid` */
export async function typesOf(schema: object, { name, isReadonly }: TypeOptions): Promise<string> {
  const { compile } = requireDependency(
    "json-schema-to-typescript",
  ) as typeof import("json-schema-to-typescript");
  try {
    const code = await compile(prepared(schema, isReadonly) as object, name, {
      bannerComment: "// Made by `hydraconf schema --types`. Make it again instead of editing it.",
      additionalProperties: false,
      // Its formatter would be the largest part of the package.
      format: false,
      // References outside of the schema are not followed.
      $refOptions: { resolve: { external: false } },
    });
    return isReadonly ? withReadonly(indented(code)) : indented(code);
  } catch (cause) {
    throw new ConfigError({
      code: "schema.invalid",
      message: `Cannot make types from the schema: ${messageOf(cause)}`,
      cause,
    });
  }
}

/**
 * A schema inside a document, such as `components/schemas/X` of an OpenAPI contract, with those that it refers to as its
 * definitions: only these have names of their own.
 *
 * @throws ConfigError `schema.invalid`
 */
export function schemaAt(document: object, pointer: string): object {
  const definitions: Record<string, unknown> = {};
  const nameOf = (to: string): string => to.slice(to.lastIndexOf("/") + 1);
  const withReferences = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(withReferences);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        if (key !== "$ref" || typeof member !== "string" || !member.startsWith("#/"))
          return [key, withReferences(member)];
        const name = nameOf(member);
        if (!(name in definitions)) {
          // Before its own references are followed: it may refer to itself.
          definitions[name] = {};
          definitions[name] = withReferences(valueAt(document, member));
        }
        return [key, `#/$defs/${name}`];
      }),
    );
  };
  const root = withReferences(valueAt(document, pointer));
  return { title: nameOf(pointer), ...(root as object), $defs: definitions };
}

/** The value at a JSON Pointer, with or without the leading `#`. */
function valueAt(document: object, pointer: string): unknown {
  const keys = pointer.replace(/^#/, "").split("/").slice(1);
  const value = keys
    .map((key) => decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~"))
    .reduce<unknown>(
      (place, key) => (isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined),
      document,
    );
  if (isObject(value)) return value;
  throw new ConfigError({
    code: "schema.invalid",
    message: `Cannot make types from the schema: it has nothing at '${pointer}'`,
  });
}

type Plain = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Plain =>
  typeof value === "object" && value !== null && !Array.isArray(value);

// What the library does not read as it is meant.

/** Members that hold values and no schemas. */
const VALUES = new Set(["const", "default", "enum", "examples"]);

/** Members beside a reference that say nothing of the type. */
const WORDS = new Set(["$comment", "description", "deprecated", "default", "examples", "title"]);

function prepared(value: unknown, isReadonly: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => prepared(item, isReadonly));
  if (!isObject(value)) return value;
  const schema: Record<string, unknown> = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      VALUES.has(key) ? member : prepared(member, isReadonly),
    ]),
  );
  const { $ref, pattern } = schema;
  // Otherwise a description beside a reference makes a second type with the name and a number.
  if (
    typeof $ref === "string" &&
    Object.keys(schema).every((key) => key === "$ref" || WORDS.has(key))
  ) {
    if (Object.keys(schema).length === 1) return schema;
    delete schema["$ref"];
    schema["allOf"] = [{ $ref }];
  }
  const forms = typeof pattern === "string" ? templateOf(pattern) : null;
  const types = [schema["type"]].flat();
  if (forms !== null && types.every((type) => type === "string" || type === "null"))
    schema["tsType"] = types.includes("null") ? `${forms} | null` : forms;
  // The library makes a tuple of it, which no `map` gives.
  if (isReadonly && typeof schema["minItems"] === "number" && schema["maxItems"] === undefined)
    delete schema["minItems"];
  return withVariants(schema);
}

/** A pattern that lists forms: `^(all|rank:[0-9]+|device:.+)$`. */
const FORMS =
  /^\^\((?:\?:)?([\w:/@ -]+(?:\[0-9\]\+|\.\+)?(?:\|[\w:/@ -]+(?:\[0-9\]\+|\.\+)?)+)\)\$$/;

/** Template literals for a pattern that lists forms; null for any other pattern. */
function templateOf(pattern: string): string | null {
  const forms = FORMS.exec(pattern)?.[1]?.split("|");
  if (forms === undefined) return null;
  return forms
    .map((form) =>
      /[+]$/.test(form)
        ? `\`${form.replace("[0-9]+", "${number}").replace(".+", "${string}")}\``
        : JSON.stringify(form),
    )
    .join(" | ");
}

/** Conditions on one member that name its values (`if` that is a constant, `then` those) as a union. */
function withVariants(schema: Plain): Plain {
  const { allOf, properties, required } = schema;
  if (!Array.isArray(allOf) || !isObject(properties)) return schema;
  const conditions: readonly unknown[] = allOf;
  const variants = conditions.map(variantOf).filter((variant) => variant !== null);
  if (variants.length < 2 || variants.length !== allOf.length) return schema;
  const names = new Set(variants.flatMap((variant) => Object.keys(variant)));
  const needed: readonly string[] = Array.isArray(required) ? required : [];
  const { allOf: _, ...rest } = schema;
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !names.has(name))),
    required: needed.filter((name) => !names.has(name)),
    oneOf: variants.map((variant) => ({
      type: "object",
      additionalProperties: false,
      required: needed.filter((name) => name in variant),
      properties: variant,
    })),
  };
}

function variantOf(condition: unknown): Plain | null {
  if (!isObject(condition) || !isObject(condition["if"]) || !isObject(condition["then"]))
    return null;
  const { properties: when } = condition["if"];
  const { properties: then } = condition["then"];
  if (!isObject(when) || !isObject(then)) return null;
  const [named, ...others] = Object.values(when);
  const isConstant = others.length === 0 && isObject(named) && "const" in named;
  return isConstant ? { ...when, ...then } : null;
}

// The form of the generated code, which has a line for each member but is not formatted.

/** A member whose type has superfluous parentheses: `a?: ("x" | "y")`. */
const IN_PARENTHESES =
  /^((?:"(?:[^"\\]|\\.)*"|[^\s"(]+)\??: |export type [\w$]+ = )\(((?:[^()"]|"(?:[^"\\]|\\.)*")*)\)$/;

function indented(code: string): string {
  let depth = 0;
  let isComment = false;
  let isType = false;
  const lines = code.split("\n").map((written) => {
    const line = written.trim();
    if (isComment || line.startsWith("/*")) {
      const margin = `${"  ".repeat(depth)}${isComment ? " " : ""}`;
      isComment = !line.endsWith("*/");
      return `${margin}${line}`;
    }
    if (depth === 0) isType = line.startsWith("export type");
    if (line.startsWith("}")) depth -= 1;
    const margin = "  ".repeat(depth);
    if (line.endsWith("{")) depth += 1;
    const isWhole = line === "" || /[{,;]$|^\/\//.test(line) || (depth === 0 && !isType);
    return line === ""
      ? ""
      : `${margin}${line.replace(IN_PARENTHESES, "$1$2")}${isWhole ? "" : ";"}`;
  });
  return `${lines.join("\n").trimEnd()}\n`;
}

const TOKEN = /\/\*[\s\S]*?\*\/|\/\/[^\n]*|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|[\w$]+|\S/g;

/** A type before `[]`: where it begins, and whether `readonly` already stands there. */
interface Element {
  readonly start: number;
  readonly isList: boolean;
}

/** `readonly` before each member, index signature, list and tuple. */
function withReadonly(code: string): string {
  const inserted: { readonly place: number; readonly text: string }[] = [];
  const insert = (place: number, text: string) => inserted.push({ place, text });
  const open: { readonly token: string; readonly start: number; readonly isKey: boolean }[] = [];
  let element: Element = { start: 0, isList: false };
  for (const { 0: token, index } of code.matchAll(TOKEN)) {
    if (/^\/[*/]/.test(token)) continue;
    const isFirst = code.slice(code.lastIndexOf("\n", index) + 1, index).trim() === "";
    const isKey = isFirst && open.at(-1)?.token === "{" && /^["\w$[]/.test(token);
    if (isKey) insert(index, "readonly ");
    if (token === "[" && !isKey && code[index + 1] === "]") {
      insert(element.start, element.isList ? "readonly (" : "readonly ");
      if (element.isList) insert(index, ")");
      element = { ...element, isList: true };
      open.push({ token: "[]", start: element.start, isKey });
    } else if (/^[[({]$/.test(token)) open.push({ token, start: index, isKey });
    else if (/^[\])}]$/.test(token)) {
      const opened = open.pop();
      if (opened === undefined || opened.token === "[]") continue;
      const isTuple = token === "]" && !opened.isKey;
      if (isTuple) insert(opened.start, "readonly ");
      element = { start: opened.start, isList: isTuple };
    } else if (/^["`\w$]/.test(token)) element = { start: index, isList: false };
  }
  // Of two at one place the outer type's, which was found later, is first.
  const ordered = inserted
    .map((each, order) => ({ ...each, order }))
    .sort((x, y) => x.place - y.place || y.order - x.order);
  let [text, from] = ["", 0];
  for (const each of ordered) {
    text += code.slice(from, each.place) + each.text;
    from = each.place;
  }
  return text + code.slice(from);
}
