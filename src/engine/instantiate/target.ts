/** How a function or a class is called as the target of a config. */
import { plural } from "../../foundation/text/plural.ts";
import {
  checkOptions,
  fn,
  listOf,
  type OptionChecks,
  oneOf,
  optional,
  text,
} from "../values/check-options.ts";

/** A function as a target. */
export type TargetFunction = (...args: never[]) => unknown;
/** A class as a target. */
export type TargetClass = new (...args: never[]) => unknown;

/** A target with a declaration of how it is called. */
export interface DeclaredTarget<Result = unknown> {
  readonly kind: "target";
  readonly callable: TargetFunction | TargetClass;
  readonly style: CallStyle;
  /** Names of the positional parameters, in order; absent: named arguments come as one object. */
  readonly parameters?: readonly string[];
  /** Exists only in the type. */
  readonly result?: Result;
}

/** `new`: as a class; `call`: as a function. */
export type CallStyle = "new" | "call";

/** The type of a target's result. */
export type ResultOf<Target> =
  Target extends DeclaredTarget<infer Result>
    ? Result
    : Target extends new (
          ...args: never[]
        ) => infer Result
      ? Result
      : Target extends (...args: never[]) => infer Result
        ? Result
        : unknown;

/** How a target is called. */
export interface TargetDeclaration {
  /** Default: `new` for classes, `call` for anything else. */
  readonly style?: CallStyle;
  /**
   * Names of the positional parameters, in order. The named arguments of a config are then passed by position, as in
   * Python, and an unknown name is refused.
   */
  readonly parameters?: readonly string[];
}

/**
 * Declares how a target is called, where that cannot be inferred: a function with positional arguments, or an old-style
 * constructor function.
 * @throws ConfigError `value.wrong_type` for arguments that the types do not allow
 */
export function target<const Callable extends TargetFunction | TargetClass>(
  callable: Callable,
  declaration: TargetDeclaration = {},
): DeclaredTarget<ResultOf<Callable>> {
  fn("target", "the target", callable);
  checkOptions("target", declaration, DECLARATION);
  const { style = styleOf(callable), parameters } = declaration;
  return { kind: "target", callable, style, ...(parameters && { parameters }) };
}

const DECLARATION: OptionChecks<TargetDeclaration> = {
  style: optional(oneOf("new", "call")),
  parameters: optional(listOf("strings", text, '["size", "rate"]')),
};

export const isDeclared = (value: unknown): value is DeclaredTarget =>
  typeof value === "object" && value !== null && (value as { kind?: unknown }).kind === "target";

/** A target that was found and can be called. */
export interface ResolvedTarget {
  /** Its name in messages. */
  readonly name: string;
  /** The function or class itself. */
  readonly callable: TargetFunction | TargetClass;
  /**
   * Calls it.
   *
   * Positional arguments come first, then all named ones as one object, which is omitted if there are none. If the
   * target declares its parameters, named arguments are passed by position.
   */
  invoke(args: readonly unknown[], named: NamedArguments): unknown;
}

/** Python's keyword arguments. */
export type NamedArguments = Readonly<Record<string, unknown>>;

/** @param self the object that a method is called on */
export function resolvedTarget(
  name: string,
  value: DeclaredTarget | TargetFunction | TargetClass,
  self?: unknown,
): ResolvedTarget {
  const { callable, style, parameters } = isDeclared(value) ? value : target(value);
  // The stacks of errors thrown by targets are cut at the frame of this name, which bundlers keep of declarations alone.
  function invokeTarget(args: readonly unknown[], named: NamedArguments): unknown {
    const all = parameters === undefined ? appended(args, named) : bound(args, named, parameters);
    return style === "new"
      ? Reflect.construct(callable, all)
      : Reflect.apply(callable as TargetFunction, self, all);
  }
  return { name, callable, invoke: invokeTarget };
}

function appended(args: readonly unknown[], named: NamedArguments): unknown[] {
  return Object.keys(named).length === 0 ? [...args] : [...args, named];
}

/** Binds arguments to parameters as Python does, without defaults: an omitted argument is undefined. */
function bound(
  args: readonly unknown[],
  named: NamedArguments,
  parameters: readonly string[],
): unknown[] {
  if (args.length > parameters.length)
    throw new TypeError(
      `takes ${plural(parameters.length, "positional argument")} but ${plural(args.length, "was", "were")} given`,
    );
  const all = [...args];
  for (const [name, value] of Object.entries(named)) {
    const index = parameters.indexOf(name);
    if (index < 0)
      throw new TypeError(
        `got an unexpected keyword argument '${name}' (parameters: ${parameters.join(", ")})`,
      );
    if (index < args.length) throw new TypeError(`got multiple values for argument '${name}'`);
    all[index] = value;
  }
  return Array.from(all);
}

/** Built-in constructors that convert a value when they are called without `new`. */
const CONVERSIONS: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Symbol]);

function styleOf(callable: TargetFunction | TargetClass): CallStyle {
  if (isClass(callable)) return "new";
  const isBuiltIn = /\{\s*\[native code\]\s*\}$/.test(Function.prototype.toString.call(callable));
  const isConstructor = isBuiltIn && Object.hasOwn(callable, "prototype");
  return isConstructor && !CONVERSIONS.has(callable) ? "new" : "call";
}

/** Whether a value is a class defined by a program. */
export const isClass = (value: unknown): value is TargetClass =>
  typeof value === "function" && /^class\b/.test(Function.prototype.toString.call(value));
