/** The function calls of a Python source, with the arguments that can be evaluated without running it. */
import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, parse, resolve } from "node:path";
import {
  closing,
  type PythonToken,
  pythonTokens,
  type SyntaxProblem,
  splitAt,
  type Tokens,
} from "./python-lexer.ts";

/** The value of an expression; `unknown` if only Python can evaluate it. Paths are texts. */
export type PythonValue =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "none" }
  | { readonly kind: "flag"; readonly flag: boolean }
  | { readonly kind: "dict"; readonly entries: ReadonlyMap<string, PythonValue> }
  | { readonly kind: "unknown"; readonly source: string };

/** A call of an imported function: `hydra.main(config_path="conf")`. */
export interface PythonCall {
  /** The full name of the function, whatever its name in this module: `hydra.main`. */
  readonly callee: string;
  /** Whether it is a decorator: `@hydra.main(...)`; without parentheses there are no arguments. */
  readonly isDecorator: boolean;
  readonly isCalled: boolean;
  readonly positional: readonly PythonValue[];
  readonly named: ReadonlyMap<string, PythonValue>;
  readonly line: number;
}

export interface PythonPlace {
  /** The absolute path of the source. */
  readonly file: string;
  /** The working directory of the program. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What a Python source calls, up to its first problem. */
export interface PythonCalls {
  readonly calls: readonly PythonCall[];
  /** The first syntax error found. Python may find others: only what a reader of declarations needs is checked. */
  readonly problem?: SyntaxProblem;
}

/**
 * The calls of imported functions in a Python source, in order. Nothing is run: names resolve to what the module
 * assigns to them at its top level, and a few functions of `os.path` and `pathlib` are known.
 */
export function readPythonCalls(source: string, place: PythonPlace): PythonCalls {
  const scope: Scope = {
    place,
    source,
    imports: new Map(),
    variables: new Map(),
  };
  const calls: PythonCall[] = [];
  const { tokens, problem } = pythonTokens(source);
  const statements = [...statementsOf(tokens)];
  for (const statement of statements) {
    const [first] = statement;
    if (first?.text === "import" && first.kind === "name") readImport(statement, scope);
    else if (first?.text === "from" && first.kind === "name") readFromImport(statement, scope);
    else {
      calls.push(...callsIn(statement, scope));
      assign(statement, scope);
    }
  }
  const found = problemIn(problem === undefined ? statements : statements.slice(0, -1)) ?? problem;
  return { calls, ...(found !== undefined && { problem: found }) };
}

/** Statements that have a block after a colon. */
const COMPOUND = /^(async|class|def|elif|else|except|finally|for|if|try|while|with)$/;

/** A block without its colon, and a decorator of nothing. */
function problemIn(statements: readonly Tokens[]): SyntaxProblem | undefined {
  for (const [index, statement] of statements.entries()) {
    const [first] = statement;
    if (first === undefined) continue;
    const { kind, line, text } = first;
    if (kind === "name" && COMPOUND.test(text) && !hasColon(statement))
      return { line, message: `'${text}' lacks its ':'` };
    const next = statements[index + 1]?.[0]?.text;
    if (kind === "operator" && text === "@" && next !== undefined && !DECORATED.test(next))
      return { line, message: "a decorator stands before neither a function nor a class" };
  }
  return undefined;
}

/** Outside brackets, or at the end. */
const hasColon = (statement: Tokens): boolean =>
  statement.at(-1)?.text === ":" || splitAt(statement, ":").length > 1;

const DECORATED = /^(@|async|class|def)$/;

interface Scope {
  readonly place: PythonPlace;
  readonly source: string;
  /** Full names by local name. */
  readonly imports: Map<string, string>;
  /** The values of variables that the module assigns at its top level. */
  readonly variables: Map<string, PythonValue>;
}

function* statementsOf(tokens: Tokens): Generator<Tokens> {
  let start = 0;
  for (const [index, { kind }] of tokens.entries())
    if (kind === "end of line") {
      if (index > start) yield tokens.slice(start, index);
      start = index + 1;
    }
  if (start < tokens.length) yield tokens.slice(start);
}

/** `import hydra`, `import hydra as h`, `import os.path` */
function readImport(statement: Tokens, { imports }: Scope): void {
  for (const part of splitAt(statement.slice(1), ",")) {
    const [name, alias] = namePair(part);
    // `import a.b` binds the name `a`.
    if (alias !== undefined) imports.set(alias, name);
    else imports.set(name.split(".")[0] ?? name, name.split(".")[0] ?? name);
  }
}

/** `from hydra import main as hydra_main, compose` */
function readFromImport(statement: Tokens, { imports }: Scope): void {
  const index = statement.findIndex(({ kind, text }) => kind === "name" && text === "import");
  if (index < 0) return;
  const module = statement
    .slice(1, index)
    .map(({ text }) => text)
    .join("");
  const names = statement.slice(index + 1).filter(({ text }) => text !== "(" && text !== ")");
  for (const part of splitAt(names, ",")) {
    const [name, alias] = namePair(part);
    if (name !== "") imports.set(alias ?? name, `${module}.${name}`);
  }
}

function namePair(part: Tokens): readonly [name: string, alias: string | undefined] {
  const index = part.findIndex(({ kind, text }) => kind === "name" && text === "as");
  const words = (index < 0 ? part : part.slice(0, index)).map(({ text }) => text);
  return [words.join(""), index < 0 ? undefined : part[index + 1]?.text];
}

/** `NAME = value` and `NAME: type = value` at the top level. */
function assign(statement: Tokens, scope: Scope): void {
  const [name, next] = statement;
  if (name?.kind !== "name" || name.indent > 0) return;
  const equals =
    next?.text === "="
      ? 1
      : next?.text === ":"
        ? statement.findIndex(({ kind, text }) => kind === "operator" && text === "=")
        : -1;
  if (equals > 0) scope.variables.set(name.text, evaluate(statement.slice(equals + 1), scope));
}

/** Every call of an imported function in a statement, outer ones first; and decorators without parentheses. */
function callsIn(statement: Tokens, scope: Scope): readonly PythonCall[] {
  const isDecorator = statement[0]?.text === "@" && statement[0].kind === "operator";
  const calls: PythonCall[] = [];
  for (let index = 0; index < statement.length; index++) {
    const name = dottedName(statement, index);
    if (name === undefined) continue;
    const callee = fullName(name.text, scope);
    const opens = statement[name.end]?.text === "(";
    const isOfDecorator = isDecorator && index === 1;
    if (callee !== undefined && (opens || isOfDecorator)) {
      const close = opens ? closing(statement, name.end) : undefined;
      const args = close === undefined ? [] : statement.slice(name.end + 1, close);
      calls.push({
        callee,
        isDecorator: isOfDecorator,
        isCalled: opens,
        ...argumentsOf(args, scope),
        line: statement[index]?.line ?? 1,
      });
    }
    index = name.end - 1;
  }
  return calls;
}

/** A dotted name at an index. */
function dottedName(tokens: Tokens, from: number) {
  if (tokens[from]?.kind !== "name" || tokens[from - 1]?.text === ".") return undefined;
  let end = from + 1;
  while (tokens[end]?.text === "." && tokens[end + 1]?.kind === "name") end += 2;
  const text = tokens
    .slice(from, end)
    .map((token) => token.text)
    .join("");
  return { text, end };
}

/** Undefined for a name that was not imported. */
function fullName(dotted: string, { imports }: Scope): string | undefined {
  const [first = "", ...rest] = dotted.split(".");
  const module = imports.get(first);
  return module === undefined ? undefined : [module, ...rest].join(".");
}

function argumentsOf(tokens: Tokens, scope: Scope): Pick<PythonCall, "positional" | "named"> {
  const positional: PythonValue[] = [];
  const named = new Map<string, PythonValue>();
  for (const part of splitAt(tokens, ",")) {
    if (part.length === 0) continue;
    if (part[0]?.text === "**") {
      const value = evaluate(part.slice(1), scope);
      if (value.kind === "dict")
        for (const [name, element] of value.entries) named.set(name, element);
      else named.set("**", value);
    } else if (part[0]?.kind === "name" && part[1]?.text === "=")
      named.set(part[0].text, evaluate(part.slice(2), scope));
    else positional.push(evaluate(part, scope));
  }
  return { positional, named };
}

const text = (value: string): PythonValue => ({ kind: "text", text: value });

/** A value, and the index of the first token after it. */
interface Reading {
  readonly value: PythonValue;
  readonly end: number;
}

function evaluate(tokens: Tokens, scope: Scope): PythonValue {
  const sums = splitAt(tokens, "+");
  const unknown = (): PythonValue => ({ kind: "unknown", source: sourceOf(tokens, scope) });
  if (sums.length > 1) {
    const parts = sums.map((part) => evaluate(part, scope));
    return parts.every((part) => part.kind === "text")
      ? text(parts.map((part) => part.text).join(""))
      : unknown();
  }
  const steps = splitAt(tokens, "/");
  if (steps.length > 1) {
    const parts = steps.map((part) => evaluate(part, scope));
    return parts.every((part) => part.kind === "text")
      ? text(joined(parts.map((part) => part.text)))
      : unknown();
  }
  const read = readPrimary(tokens, scope);
  return read === undefined || read.end < tokens.length ? unknown() : read.value;
}

const joined = (parts: readonly string[]): string =>
  parts.reduce((path, part) => (isAbsolute(part) || path === "" ? part : join(path, part)), "");

function sourceOf(tokens: Tokens, { source }: Scope): string {
  const start = tokens[0]?.start ?? 0;
  const last = tokens.at(-1);
  const end = last === undefined ? start : last.start + Math.max(1, last.text.length);
  return source.slice(start, end).replaceAll(/\s+/g, " ");
}

/** An atom followed by attribute accesses and calls. */
function readPrimary(tokens: Tokens, scope: Scope): Reading | undefined {
  let read = readAtom(tokens, scope);
  while (read !== undefined && read.end < tokens.length) {
    const { end, value }: Reading = read;
    if (tokens[end]?.text !== "." || value.kind !== "text") return read;
    const member = tokens[end + 1]?.text ?? "";
    const opens = tokens[end + 2];
    const close = opens?.text === "(" || opens?.text === "[" ? closing(tokens, end + 2) : undefined;
    const inside = close === undefined ? [] : tokens.slice(end + 3, close);
    const after = close === undefined ? end + 2 : close + 1;
    if (member === "split" && opens?.text === "(")
      read = readItem(partsOf(value.text, argumentsOf(inside, scope)), tokens, after);
    else {
      const result = memberOf(value.text, member, opens?.text, inside, scope);
      read = result === undefined ? undefined : { value: text(result), end: after };
    }
  }
  return read;
}

/** `text.split(".")`; without a separator Python splits at spaces, which names of files hardly have. */
function partsOf(whole: string, { named, positional }: Arguments): readonly string[] {
  const [separator, ...others] = positional;
  if (separator?.kind !== "text" || separator.text === "" || others.length > 0 || named.size > 0)
    return [];
  return whole.split(separator.text);
}

/** The item of a list of texts that an index such as `[0]` or `[-1]` takes. */
function readItem(items: readonly string[], tokens: Tokens, from: number): Reading | undefined {
  const close = tokens[from]?.text === "[" ? closing(tokens, from) : undefined;
  if (close === undefined) return undefined;
  const index = tokens
    .slice(from + 1, close)
    .map((token) => token.text)
    .join("");
  const item = /^-?\d+$/.test(index) ? items.at(Number(index)) : undefined;
  return item === undefined ? undefined : { value: text(item), end: close + 1 };
}

/** Members of paths and texts: `.parent`, `.parents[1]`, `.stem`, `.resolve()`, `.joinpath("a")`, `.removesuffix(".py")`. */
function memberOf(
  path: string,
  member: string,
  opens: string | undefined,
  inside: Tokens,
  scope: Scope,
): string | undefined {
  const isCalled = opens === "(";
  switch (member) {
    case "parent":
      return isCalled ? undefined : dirname(path);
    case "name":
      return isCalled ? undefined : basename(path);
    case "stem":
      return isCalled ? undefined : parse(path).name;
    case "suffix":
      return isCalled ? undefined : parse(path).ext;
    case "with_name":
    case "with_stem":
    case "with_suffix":
    case "removesuffix":
    case "replace":
      return isCalled ? changed(path, member, argumentsOf(inside, scope)) : undefined;
    case "parents": {
      const levels = Number(inside[0]?.text);
      if (opens !== "[" || !Number.isSafeInteger(levels)) return undefined;
      return Array.from({ length: levels + 1 }).reduce<string>(
        (directory) => dirname(directory),
        path,
      );
    }
    case "resolve":
    case "absolute":
      return isCalled ? resolve(scope.place.cwd, path) : undefined;
    case "as_posix":
    case "expanduser":
    case "__str__":
      return isCalled ? path : undefined;
    case "joinpath": {
      const parts = argumentsOf(inside, scope).positional;
      return isCalled && parts.every((part) => part.kind === "text")
        ? joined([path, ...parts.map((part) => part.text)])
        : undefined;
    }
    default:
      return undefined;
  }
}

/** A path or text with another name, or without a part. */
function changed(
  path: string,
  member: string,
  { named, positional }: Arguments,
): string | undefined {
  const texts = positional.flatMap((value) => (value.kind === "text" ? [value.text] : []));
  const [first, second] = texts;
  const takes = member === "replace" ? 2 : 1;
  if (named.size > 0 || positional.length !== takes || first === undefined) return undefined;
  const { dir, ext, name } = parse(path);
  switch (member) {
    case "with_name":
      return join(dir, first);
    case "with_stem":
      return join(dir, first + ext);
    case "with_suffix":
      return join(dir, name + first);
    case "removesuffix":
      return first !== "" && path.endsWith(first) ? path.slice(0, -first.length) : path;
    default:
      return second === undefined || first === ""
        ? undefined
        : path.replaceAll(first, () => second);
  }
}

function readAtom(tokens: Tokens, scope: Scope): Reading | undefined {
  const [first] = tokens;
  if (first === undefined) return undefined;
  if (first.kind === "string") return readStrings(tokens, scope);
  if (first.text === "(") {
    const close = closing(tokens, 0);
    return close === undefined
      ? undefined
      : { value: evaluate(tokens.slice(1, close), scope), end: close + 1 };
  }
  if (first.text === "{") {
    const close = closing(tokens, 0);
    return close === undefined
      ? undefined
      : { value: readDict(tokens.slice(1, close), scope), end: close + 1 };
  }
  return first.kind === "name" ? readName(tokens, scope) : undefined;
}

/** Adjacent strings are concatenated. */
function readStrings(tokens: Tokens, scope: Scope): Reading | undefined {
  let end = 0;
  let all = "";
  for (; tokens[end]?.kind === "string"; end++) {
    const { prefix = "", text: content } = tokens[end] as PythonToken;
    if (/[bt]/.test(prefix)) return undefined;
    const part = prefix.includes("f") ? formatted(content, scope) : content;
    if (part === undefined) return undefined;
    all += part;
  }
  return { value: text(all), end };
}

/** An f-string whose placeholders are names of texts. */
function formatted(template: string, scope: Scope): string | undefined {
  let isKnown = true;
  const filled = template.replace(/\{\{|\}\}|\{([^{}]*)\}/g, (all, expression?: string) => {
    if (expression === undefined) return all.slice(1);
    const value = evaluate(
      pythonTokens(expression).tokens.filter(({ kind }) => kind !== "end of line"),
      scope,
    );
    if (value.kind === "text") return value.text;
    isKnown = false;
    return "";
  });
  return isKnown ? filled : undefined;
}

function readDict(tokens: Tokens, scope: Scope): PythonValue {
  const entries = new Map<string, PythonValue>();
  for (const part of splitAt(tokens, ",")) {
    const [key, ...rest] = splitAt(part, ":");
    const name = key === undefined ? undefined : evaluate(key, scope);
    const [value] = rest;
    if (name?.kind !== "text" || value === undefined || rest.length !== 1)
      return { kind: "unknown", source: sourceOf(tokens, scope) };
    entries.set(name.text, evaluate(value, scope));
  }
  return { kind: "dict", entries };
}

function readName(tokens: Tokens, scope: Scope): Reading | undefined {
  const [first] = tokens;
  const constant = CONSTANTS.get(first?.text ?? "");
  if (constant !== undefined) return { value: constant, end: 1 };
  if (first?.text === "__file__") return { value: text(scope.place.file), end: 1 };
  const name = dottedName(tokens, 0);
  if (name === undefined) return undefined;
  const variable = scope.variables.get(first?.text ?? "");
  if (variable !== undefined) return { value: variable, end: 1 };
  // A name that is not imported is a builtin: `str`, `dict`.
  const callee = fullName(name.text, scope) ?? name.text;
  const opens = tokens[name.end]?.text;
  const close = opens === "(" || opens === "[" ? closing(tokens, name.end) : undefined;
  if (close === undefined) return undefined;
  const args = argumentsOf(tokens.slice(name.end + 1, close), scope);
  if (callee === "os.path.splitext" && opens === "(") {
    const [path] = args.positional;
    if (path?.kind !== "text") return undefined;
    const { ext } = parse(path.text);
    const stem = path.text.slice(0, path.text.length - ext.length);
    return readItem([stem, ext], tokens, close + 1);
  }
  const value = opens === "[" ? subscript(callee, args, scope) : call(callee, args, scope);
  return value === undefined ? undefined : { value, end: close + 1 };
}

const CONSTANTS: ReadonlyMap<string, PythonValue> = new Map<string, PythonValue>([
  ["None", { kind: "none" }],
  ["True", { kind: "flag", flag: true }],
  ["False", { kind: "flag", flag: false }],
]);

type Arguments = Pick<PythonCall, "positional" | "named">;

const subscript = (
  callee: string,
  { positional: [key] }: Arguments,
  { place }: Scope,
): PythonValue | undefined => {
  const set = callee === "os.environ" && key?.kind === "text" ? place.env[key.text] : undefined;
  return set === undefined ? undefined : text(set);
};

/** Functions that commonly build config paths. */
function call(callee: string, args: Arguments, { place }: Scope): PythonValue | undefined {
  const { named, positional } = args;
  if (callee === "dict") return { kind: "dict", entries: named };
  const texts = positional.flatMap((value) => (value.kind === "text" ? [value.text] : []));
  if (texts.length < positional.length && callee !== "os.environ.get" && callee !== "os.getenv")
    return undefined;
  const [first = ""] = texts;
  switch (callee) {
    case "str":
    case "os.fspath":
    case "os.path.expanduser":
      return text(first);
    case "pathlib.Path":
    case "pathlib.PurePath":
    case "os.path.join":
      return text(joined(texts));
    case "os.path.dirname":
      return text(dirname(first));
    case "os.path.basename":
      return text(basename(first));
    case "os.path.abspath":
    case "os.path.realpath":
    case "os.path.normpath":
      return text(resolve(place.cwd, first));
    case "os.getcwd":
    case "pathlib.Path.cwd":
      return text(place.cwd);
    case "os.environ.get":
    case "os.getenv": {
      const set = place.env[first];
      return set === undefined ? (positional[1] ?? { kind: "none" }) : text(set);
    }
    default:
      return isRootFinder(callee) ? rootOf(args, place) : undefined;
  }
}

/** rootutils (formerly pyrootutils) finds the project's root by a marker file. */
export const isRootFinder = (callee: string): boolean =>
  /^(py)?rootutils\.(setup_root|find_root)$/.test(callee);

const ROOT_MARKS = [".project-root", "setup.cfg", "setup.py", ".git", "pyproject.toml"];

export function rootOf(
  { named, positional }: Arguments,
  { file }: PythonPlace,
): PythonValue | undefined {
  const start = positional[0]?.kind === "text" ? positional[0].text : dirname(file);
  const indicator = named.get("indicator") ?? positional[1];
  if (indicator !== undefined && indicator.kind !== "text") return undefined;
  const marks = indicator === undefined ? ROOT_MARKS : [indicator.text];
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (marks.some((mark) => existsSync(join(directory, mark)))) return text(directory);
    if (directory === dirname(directory)) return undefined;
  }
}
