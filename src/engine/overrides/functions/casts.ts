/** The functions that convert: `bool`, `float`, `int`, `str` and `json_str`. */
import { isBytes } from "../../../foundation/system/builtin-types.ts";
import type { Key } from "../../values/node.ts";
import { floatRepr, parsePythonFloat, parsePythonInt, pyRepr } from "../../values/python-text.ts";
import {
  type ElementScalar,
  type IntervalSweep,
  isSweepValue,
  type OverrideValue,
  type PythonNumber,
  type RangeSweep,
} from "../ast.ts";
import {
  ANY_BUT_GLOB,
  ANYTHING,
  type BoundArguments,
  type Call,
  describeValue,
  fail,
  type OverrideFunction,
} from "./function.ts";
import { toFloat } from "./python-arithmetic.ts";
import { simpleChoice } from "./sweeps.ts";

/** The part of a cast that depends on its type; containers and sweeps are handled the same way for all. */
interface Cast {
  readonly name: string;
  /** Converts one value. */
  scalar(value: Exclude<ElementScalar, null>, call: Call): ElementScalar;
  /** The value of a cast null; absent if null is refused. */
  readonly ofNull?: ElementScalar;
  /** Converts the bounds of a range or interval; absent if they cannot be cast to the type. */
  bound?(value: PythonNumber, call: Call): PythonNumber;
}

/** `int(x)`, `int(value=x)` or `int(a,b)`, which casts a sweep. */
const parameters: OverrideFunction["parameters"] = {
  rest: ANY_BUT_GLOB,
  named: [{ name: "value", accepts: ANY_BUT_GLOB }],
};

const evaluate = (cast: Cast, args: BoundArguments, call: Call): OverrideValue => ({
  ...castValue(input(args, call), cast, call),
  span: call.span,
});

function input({ rest, get }: BoundArguments, call: Call): OverrideValue {
  const named = get("value");
  const [first] = rest;
  if (named !== undefined && !(named.kind === "scalar" && named.value === null)) {
    if (first !== undefined) fail(call, "the value is given both by position and by name");
    return named;
  }
  if (first === undefined) fail(call, "there is nothing to cast");
  return rest.length === 1 ? first : simpleChoice(rest, call);
}

function castValue(value: OverrideValue, cast: Cast, call: Call): OverrideValue {
  const inner = (item: OverrideValue) => castValue(item, cast, call);
  switch (value.kind) {
    case "scalar":
      return { kind: "scalar", value: castScalar(value.value, cast, call), span: value.span };
    case "list":
      return { ...value, items: value.items.map(inner) };
    case "dict": {
      const entries = [...value.entries].map(
        ([id, { key, value: item }]) => [id, { key, value: inner(item) }] as const,
      );
      return { ...value, entries: new Map(entries) };
    }
    case "choice":
      if (value.items.some(isSweepValue)) fail(call, "a sweep inside a choice cannot be cast");
      return { ...value, items: value.items.map(inner), ...lostByCasts(call) };
    case "range":
      return castRange(value, cast, call);
    case "interval":
      return castInterval(value, cast, call);
    case "glob":
      return fail(call, "a glob cannot be cast");
    case "zip":
      return fail(call, "a zip cannot be cast: cast the values of its keys");
    case "union":
      return fail(call, "a union of sweeps cannot be cast: cast its parts");
    case "extension":
      return fail(call, "extend_list(...) cannot be cast");
  }
}

function castScalar(value: ElementScalar, cast: Cast, call: Call): ElementScalar {
  if (value !== null) return cast.scalar(value, call);
  return cast.ofNull ?? fail(call, `null cannot be cast to ${cast.name}`);
}

function castRange(range: RangeSweep, cast: Cast, call: Call): RangeSweep {
  const { bound, name } = cast;
  if (bound === undefined || (name !== "int" && name !== "float"))
    return fail(call, "a range can only be cast to int or float");
  if (call.dialect.castsEachValue) return { ...range, casts: [...(range.casts ?? []), name] };
  const [start, stop] = [bound(range.start, call), bound(range.stop, call)];
  return { ...range, start, stop, step: bound(range.step, call), tags: [], shuffle: false };
}

/** Before Hydra 1.4, a cast loses the tags and the shuffling of a sweep. */
const lostByCasts = ({ dialect }: Call): Partial<Pick<RangeSweep, "tags" | "shuffle">> =>
  dialect.castsEachValue ? {} : { tags: [], shuffle: false };

function castInterval(interval: IntervalSweep, cast: Cast, call: Call): IntervalSweep {
  const { bound } = cast;
  if (bound === undefined) return fail(call, `an interval cannot be cast to ${cast.name}`);
  return { ...interval, start: bound(interval.start, call), end: bound(interval.end, call) };
}

/** Python's truth value of numbers and null (nan is true); only the strings `true` and `false` are accepted. */
export const bool: OverrideFunction = {
  name: "bool",
  parameters,
  evaluate: (args, call) => evaluate(BOOL, args, call),
};

const BOOL: Cast = {
  name: "bool",
  ofNull: false,
  scalar(value, call) {
    if (typeof value !== "string") return Number.isNaN(value) || Boolean(value);
    const word = value.toLowerCase();
    if (word === "true" || word === "false") return word === "true";
    return fail(call, `'${value}' is neither true nor false`);
  },
};

/** Python's `float()`: strings may contain blanks, underscores, `inf` and `nan`. */
export const float: OverrideFunction = {
  name: "float",
  parameters,
  evaluate: (args, call) => evaluate(FLOAT, args, call),
};

const FLOAT: Cast = {
  name: "float",
  scalar(value, call) {
    if (typeof value !== "string") return toFloat(value, call);
    return parsePythonFloat(value) ?? fail(call, `${pyRepr(value)} is not a float`);
  },
  bound: toFloat,
};

/** Python's `int()`: floats are truncated, strings parsed with blanks and underscores. */
export const int: OverrideFunction = {
  name: "int",
  parameters,
  evaluate: (args, call) => evaluate(INT, args, call),
};

const INT: Cast = {
  name: "int",
  scalar(value, call) {
    if (typeof value !== "string") return toInt(value, call);
    return parsePythonInt(value) ?? fail(call, `${pyRepr(value)} is not an int`);
  },
  bound: toInt,
};

function toInt(value: PythonNumber, call: Call): bigint {
  if (typeof value === "number" && !Number.isFinite(value))
    fail(call, Number.isNaN(value) ? "nan is not an int" : "infinity is not an int");
  return BigInt(typeof value === "number" ? Math.trunc(value) : value);
}

/** Python's `str()`, except that bools are in lower case. */
export const str: OverrideFunction = {
  name: "str",
  parameters,
  evaluate: (args, call) => evaluate(STR, args, call),
};

const STR: Cast = {
  name: "str",
  scalar: (value) => (typeof value === "number" ? floatRepr(value) : String(value)),
};

/** The JSON text of a value, as Python's `json.dumps` writes it; a choice becomes a choice of such texts. */
export const jsonStr: OverrideFunction = {
  name: "json_str",
  // In Hydra the parameter `value` cannot be given by name either.
  parameters: { rest: ANYTHING, named: [] },
  evaluate(args, call) {
    const { span } = call;
    call.warn(JSON_STR_WARNING);
    const value = input(args, call);
    const text = (item: OverrideValue): OverrideValue => ({
      kind: "scalar",
      value: jsonText(item, call),
      span: item.span,
    });
    if (value.kind !== "choice") return { ...text(value), span };
    if (value.items.some((item) => item.kind === "scalar" && item.value === null))
      fail(call, "null in a choice has no JSON text");
    return { ...value, items: value.items.map(text), ...lostByCasts(call), span };
  },
};

const JSON_STR_WARNING =
  "json_str(...) is deprecated and will be removed in Hydra 1.5. " +
  "See https://github.com/hydra-ecosystem/hydra/pull/2930#issuecomment-5018616929";

function jsonText(value: OverrideValue, call: Call): string {
  switch (value.kind) {
    case "scalar":
      return typeof value.value === "string" ? jsonString(value.value) : jsonWord(value.value);
    case "list":
      return `[${value.items.map((item) => jsonText(item, call)).join(", ")}]`;
    case "dict": {
      const entries = [...value.entries.values()].map(
        (entry) => `${jsonKey(entry.key)}: ${jsonText(entry.value, call)}`,
      );
      return `{${entries.join(", ")}}`;
    }
    default:
      return fail(call, `${describeValue(value)} has no JSON text`);
  }
}

const jsonKey = (key: Key): string =>
  jsonString(typeof key === "string" ? key : isBytes(key) ? "" : jsonWord(key));

function jsonWord(value: null | boolean | bigint | number): string {
  if (typeof value !== "number") return String(value);
  // Python and JavaScript write the numbers that JSON lacks in the same way.
  return Number.isFinite(value) ? floatRepr(value) : String(value);
}

/** ASCII only, as Python writes it. */
const jsonString = (text: string): string =>
  JSON.stringify(text).replaceAll(
    /[\u007f-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
