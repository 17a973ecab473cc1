import { plural } from "../../text/plural.ts";
import type { Override, OverrideValue } from "../ast.ts";
import { overrideKeyElement } from "../print.ts";
import { describeValue } from "./accept.ts";
import type { BoundArguments, Call, Parameter, Parameters } from "./function.ts";
import { fail } from "./function.ts";

/** The arguments of a call as they stand there. */
export interface GivenArguments {
  readonly positional: readonly OverrideValue[];
  readonly named: ReadonlyMap<string, OverrideValue>;
  readonly columns: readonly Override[];
}

/** Gives each argument to its parameter, by Python's rules, and checks what it is. */
export function bindArguments(
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
  // What is missing is told before what is too much, and both before what is of a wrong kind.
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
    const given = bound.get(name);
    if (given === undefined) continue;
    const value = withoutQuotes(given);
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

/** Inside lists and dicts the quotes stay. */
function withoutQuotes(value: OverrideValue): OverrideValue {
  if (value.kind !== "scalar" || value.quote === undefined) return value;
  return { kind: "scalar", value: value.value, span: value.span };
}
