import type { Override, OverrideValue, Span } from "../ast.ts";
import type { OverrideSource } from "../errors.ts";
import { functionError } from "../errors.ts";
import type { Acceptance } from "./accept.ts";

/** A function of the override language. Each is a data object in its own file, see `index.ts`. */
export interface OverrideFunction {
  readonly name: string;
  readonly parameters: Parameters;
  /** Quoted strings given directly as arguments arrive without their quotes. */
  evaluate(args: BoundArguments, call: Call): OverrideValue;
}

export interface Parameters {
  /** What any number of positional arguments must be; absent when there is no such parameter. */
  readonly rest?: Acceptance;
  /** Parameters that may be given by place (unless there is `rest`) or by name. */
  readonly named: readonly Parameter[];
  /** What each value must be where the arguments are `key=value` for keys and groups of a config. */
  readonly columns?: Acceptance;
}

export interface Parameter {
  readonly name: string;
  readonly accepts: Acceptance;
  readonly required?: boolean;
}

export interface BoundArguments {
  readonly rest: readonly OverrideValue[];
  /** An argument by its parameter's name; undefined when it was not given. */
  get(name: string): OverrideValue | undefined;
  /** The `key=value` of a function that takes such; else none. */
  readonly columns: readonly Override[];
}

/** Where a call stands and what it may use of the outside. */
export interface Call {
  readonly source: OverrideSource;
  readonly span: Span;
  /** Numbers in [0, 1). */
  readonly random: () => number;
  readonly functions: ReadonlyMap<string, OverrideFunction>;
}

export function fail(call: Call, problem: string): never {
  throw functionError(call.source, call.span, problem);
}
