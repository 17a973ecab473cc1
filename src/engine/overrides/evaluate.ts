/** Evaluates the functions in an override, and makes a config node of its value. */
import { plural } from "../../foundation/text/plural.ts";
import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../values/dialect.ts";
import { ConfigError, nearest } from "../values/errors.ts";
import { type ConfigNode, type KeyId, keyId, list, map, writtenScalar } from "../values/node.ts";
import type { OverrideOrigin } from "../values/origin.ts";
import type {
  CallSyntax,
  ColumnSyntax,
  DictElement,
  DictEntry,
  DictSyntax,
  Override,
  OverrideValue,
  Span,
  ValueSyntax,
} from "./ast.ts";
import {
  type BoundArguments,
  type Call,
  describeValue,
  fail,
  type OverrideFunction,
  type Parameter,
  type Parameters,
} from "./functions/function.ts";
import { functionsOf } from "./functions/function-table.ts";
import { union } from "./functions/sweeps.ts";
import { type Advice, corrected, textHint } from "./hints.ts";
import { functionError, type OverrideSource, spanOrigin, syntaxError } from "./override-errors.ts";
import { overrideKeyElement } from "./print.ts";

/** What evaluating the functions of an override needs. */
export interface EvaluationOptions {
  /**
   * The available functions, by name. Default: those of the dialect.
   * @internal
   */
  readonly functions?: ReadonlyMap<string, OverrideFunction>;
  /** The version of Hydra whose override language is used. Default: 1.3. */
  readonly dialect?: Dialect;
  /** Numbers in [0, 1) for `shuffle([…])`, which shuffles while it is evaluated. */
  readonly random?: () => number;
}

/** The evaluation of one override: the options, and where its warnings go. */
export interface Evaluation extends EvaluationOptions {
  readonly onWarning: (message: string) => void;
}

/** Evaluates the functions in a value. Throws ConfigError `override.function`. */
export function evaluateValue(
  syntax: ValueSyntax,
  source: OverrideSource,
  options: Evaluation,
): OverrideValue {
  const evaluate = (value: ValueSyntax): OverrideValue => evaluateValue(value, source, options);
  switch (syntax.kind) {
    case "scalar":
      return syntax;
    case "list":
      return { kind: "list", items: syntax.items.map(evaluate), span: syntax.span };
    case "dict":
      return evaluateDict(syntax, evaluate);
    case "choices":
      return {
        kind: "choice",
        items: syntax.items.map(evaluate),
        simple: true,
        shuffle: false,
        tags: [],
        span: syntax.span,
      };
    case "union":
      return union(syntax.parts.map(evaluate), syntax.span, source);
    case "call":
      return evaluateCall(syntax, source, options, evaluate);
  }
}

function evaluateDict(
  { entries, span }: DictSyntax,
  evaluate: (value: ValueSyntax) => OverrideValue,
): DictElement {
  const out = new Map<KeyId, DictEntry>();
  for (const [key, value] of entries) {
    const id = keyId(key);
    out.set(id, { key: out.has(id) ? (out.get(id)?.key ?? null) : key, value: evaluate(value) });
  }
  return { kind: "dict", entries: out, span };
}

function evaluateCall(
  { name, arguments: args, columns = [], span }: CallSyntax,
  source: OverrideSource,
  options: Evaluation,
  evaluate: (value: ValueSyntax) => OverrideValue,
): OverrideValue {
  const positional: OverrideValue[] = [];
  const named = new Map<string, OverrideValue>();
  for (const argument of args) {
    if (argument.name !== undefined) named.set(argument.name, evaluate(argument.value));
    else if (named.size === 0) positional.push(evaluate(argument.value));
    else
      throw syntaxError(
        source,
        argument.value.span,
        "expected a named argument: positional argument follows keyword argument",
      );
  }
  const column = ({ key, span, type, value }: ColumnSyntax): Override => ({
    type,
    ...key,
    value: evaluate(value),
    origin: spanOrigin(source, span),
  });
  const written = { positional, named, columns: columns.map(column) };
  const { dialect = DEFAULT_DIALECT } = options;
  return callFunction(name, written, {
    source,
    span,
    random: options.random ?? Math.random,
    functions: options.functions ?? functionsOf(dialect),
    dialect,
    warn: options.onWarning,
  });
}

/** Calls a function by name. Throws ConfigError `override.function`. */
function callFunction(name: string, written: GivenArguments, call: Call): OverrideValue {
  const definition = call.functions.get(name);
  if (definition === undefined) throw unknownFunction(name, call);
  const args = bindArguments(definition.parameters, written, call);
  return definition.evaluate(args, call);
}

function unknownFunction(name: string, { source, span, functions }: Call) {
  const available = [...functions.keys()].sort();
  const similar = nearest(name.toLowerCase(), available);
  const other = Object.values(DIALECTS).find(({ addedFunctions }) => addedFunctions.includes(name));
  const asText = textHint(source.text, span);
  return functionError(source, span, `there is no function '${name}'`, {
    available,
    ...(other !== undefined
      ? { ...asText, hint: `${name} is a function of Hydra ${other.name}; ${asText.hint}` }
      : similar !== undefined
        ? { nearest: similar }
        : asText),
  });
}

/** The arguments of a call as they are written. */
interface GivenArguments {
  readonly positional: readonly OverrideValue[];
  readonly named: ReadonlyMap<string, OverrideValue>;
  readonly columns: readonly Override[];
}

/** Binds arguments to parameters by Python's rules, and checks their types. */
function bindArguments(
  { columns: ofColumn, named: parameters, rest }: Parameters,
  { columns, named, positional }: GivenArguments,
  call: Call,
): BoundArguments {
  for (const column of columns) {
    const { value } = column;
    if (value === undefined || ofColumn?.accepts(value) !== false) continue;
    const problem = `'${overrideKeyElement(column)}' must be ${ofColumn.words}, not ${describeValue(value)}`;
    const remedy = ofColumn.remedy?.(value);
    fail(call, remedy === undefined ? problem : `${problem}: ${remedy}`);
  }
  const places = rest === undefined ? bindByPlace(parameters, positional, named, call) : [];
  const bound = new Map([...places, ...named]);
  // A missing argument is reported before a superfluous one, and both before one of a wrong type.
  for (const { name, required } of parameters)
    if (required && !bound.has(name)) fail(call, `the argument '${name}' is missing`);
  for (const name of named.keys())
    if (!parameters.some((parameter) => parameter.name === name))
      fail(call, `there is no argument '${name}'${listNames(parameters)}`);
  const items = rest === undefined ? [] : positional.map(withoutQuotes);
  for (const [index, item] of items.entries())
    if (rest?.accepts(item) === false)
      fail(call, `argument ${index + 1} must be ${rest.words}, not ${describeValue(item)}`);
  const checked = checkNamed(parameters, bound, call);
  return { rest: items, get: (name) => checked.get(name), columns };
}

function bindByPlace(
  parameters: readonly Parameter[],
  positional: readonly OverrideValue[],
  named: ReadonlyMap<string, OverrideValue>,
  call: Call,
): readonly (readonly [string, OverrideValue])[] {
  return positional.map((value, index) => {
    const parameter = parameters[index];
    if (parameter === undefined) fail(call, `more than ${plural(parameters.length, "argument")}`);
    if (named.has(parameter.name)) fail(call, `the argument '${parameter.name}' is given twice`);
    return [parameter.name, value];
  });
}

function checkNamed(
  parameters: readonly Parameter[],
  bound: ReadonlyMap<string, OverrideValue>,
  call: Call,
): ReadonlyMap<string, OverrideValue> {
  const checked = new Map<string, OverrideValue>();
  for (const { name, accepts } of parameters) {
    const argument = bound.get(name);
    if (argument === undefined) continue;
    const value = withoutQuotes(argument);
    if (!accepts.accepts(value))
      fail(call, `the argument '${name}' must be ${accepts.words}, not ${describeValue(value)}`);
    checked.set(name, value);
  }
  return checked;
}

function listNames(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return ": it takes no named arguments";
  return ` (there is ${parameters.map(({ name }) => name).join(", ")})`;
}

/** Removes quotes at the top level; strings in lists and dicts keep theirs. */
function withoutQuotes(value: OverrideValue): OverrideValue {
  if (value.kind !== "scalar" || value.quote === undefined) return value;
  return { kind: "scalar", value: value.value, span: value.span };
}

/**
 * The value that an override assigns, as a config node whose parts have their spans in the override as origins. Strings
 * lose their quotes. Null for `~key`.
 * @throws ConfigError `override.sweep_not_allowed` when the value is or contains a sweep
 */
export function overrideNode(
  { value, origin }: Override,
  dialect: Dialect = DEFAULT_DIALECT,
): ConfigNode | null {
  return value === undefined ? null : elementNode(value, origin, dialect);
}

/** For the only item of a list: `lr=[range(3)]`. */
function withoutBrackets(text: string, { start, end }: Span): Advice | undefined {
  const [head = ""] = /^[^=]*=/.exec(text) ?? [];
  const around = text.slice(head.length, start) + text.slice(end);
  return /^\s*\[\s*\]\s*$/.test(around)
    ? corrected("a sweep stands without brackets", head + text.slice(start, end))
    : undefined;
}

function elementNode(value: OverrideValue, override: OverrideOrigin, dialect: Dialect): ConfigNode {
  const { start, end } = value.span;
  const origin: OverrideOrigin = { ...override, start, end };
  const item = (inner: OverrideValue) => elementNode(inner, override, dialect);
  switch (value.kind) {
    case "scalar":
      return writtenScalar(value.value, origin, dialect);
    case "extension":
      return map([["values", list(value.values.map(item), origin)]], origin);
    case "list":
      return list(value.items.map(item), origin);
    case "dict":
      return map(
        [...value.entries.values()].map((entry) => [entry.key, item(entry.value)] as const),
        origin,
      );
    default:
      throw new ConfigError({
        code: "override.sweep_not_allowed",
        message: `In override '${override.text}': a ${value.kind} is a sweep and cannot be assigned`,
        origin,
        ...withoutBrackets(override.text, value.span),
      });
  }
}
