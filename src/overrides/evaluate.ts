import type { KeyId } from "../values/node.ts";
import { keyId } from "../values/node.ts";
import type { DictElement, DictEntry, Override, OverrideValue } from "./ast.ts";
import type { OverrideSource } from "./errors.ts";
import { spanOrigin, syntaxError } from "./errors.ts";
import { callFunction } from "./functions/call.ts";
import type { OverrideFunction } from "./functions/function.ts";
import { FUNCTIONS } from "./functions/index.ts";
import type { CallSyntax, ColumnSyntax, DictSyntax, ValueSyntax } from "./syntax.ts";

/** What the functions in an override may use. */
export interface EvaluationOptions {
  /**
   * The functions there are, by name; those of Hydra 1.3.5 unless another dialect is wanted.
   * @internal
   */
  readonly functions?: ReadonlyMap<string, OverrideFunction>;
  /** Numbers in [0, 1) for `shuffle([…])`, which shuffles while it is evaluated. */
  readonly random?: () => number;
}

/** Evaluates the functions in a value. Throws ConfigError `override.function`. */
export function evaluateValue(
  syntax: ValueSyntax,
  source: OverrideSource,
  options: EvaluationOptions,
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
  options: EvaluationOptions,
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
  const column = ({ key, span: at, type, value }: ColumnSyntax): Override => ({
    type,
    ...key,
    value: evaluate(value),
    origin: spanOrigin(source, at),
  });
  const given = { positional, named, columns: columns.map(column) };
  return callFunction(name, given, {
    source,
    span,
    random: options.random ?? Math.random,
    functions: options.functions ?? FUNCTIONS,
  });
}
