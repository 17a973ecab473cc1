/** The functions whose values are sweeps: `choice`, `range`, `logrange`, `interval`, `glob` and others. */
import {
  type ChoiceSweep,
  columnsOf,
  type ElementScalar,
  isSweepValue,
  type Override,
  type OverrideValue,
  type Span,
  type UnionPart,
  type UnionSweep,
} from "../ast.ts";
import { functionError, type OverrideSource } from "../override-errors.ts";
import { overrideKeyElement } from "../print.ts";
import {
  type Acceptance,
  ANYTHING,
  type BoundArguments,
  type Call,
  describeValue,
  ELEMENT_OR_CHOICE,
  fail,
  NUMBER,
  NUMBER_OR_NULL,
  type OverrideFunction,
  STRING_LIST_OR_NULL,
  STRING_OR_LIST,
  STRING_OR_SWEEP,
  SWEEP_OR_NULL,
} from "./function.ts";
import { numberOf, toFloat } from "./python-arithmetic.ts";

/** `choice(a,b)`: a sweep over its arguments. */
export const choice: OverrideFunction = {
  name: "choice",
  parameters: { rest: ELEMENT_OR_CHOICE, named: [] },
  evaluate({ rest: items }, call) {
    const [first] = items;
    if (first === undefined) fail(call, "a choice needs at least one value");
    if (items.length > 1 || first.kind !== "choice")
      return { kind: "choice", items, simple: false, shuffle: false, tags: [], span: call.span };
    // The result of sort, shuffle or a cast of several arguments becomes the choice, with its tags.
    if (!first.simple) fail(call, "a choice cannot be made of a choice");
    return { ...first, simple: false, span: call.span };
  },
};

/** The sweep `a,b` for `sort(a,b)`, `shuffle(a,b)` and `int(a,b)`, whose items cannot be sweeps. */
export function simpleChoice(items: readonly OverrideValue[], call: Call): ChoiceSweep {
  if (items.some(isSweepValue)) fail(call, "several arguments must be values, not sweeps");
  return { kind: "choice", items, simple: true, shuffle: false, tags: [], span: call.span };
}

/** `range(stop)`, `range(start,stop)` and `range(start,stop,step)`; the stop is excluded. */
export const range: OverrideFunction = {
  name: "range",
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "stop", accepts: NUMBER_OR_NULL },
      { name: "step", accepts: NUMBER },
    ],
  },
  evaluate(args, { dialect, span }) {
    const start = numberOf(args.get("start")) ?? 0n;
    const stop = numberOf(args.get("stop"));
    const step = numberOf(args.get("step")) ?? 1n;
    const bounds = stop === null ? { start: 0n, stop: start } : { start, stop };
    const decimals = dialect.rangeDecimals;
    return { kind: "range", ...bounds, step, decimals, shuffle: false, tags: [], span };
  },
};

/** A limit, because all values are created at once. */
const MAX_VALUES = 100_000;

/** Significant digits of a value, so that 0.001 is not 0.0010000000000000002. */
const DIGITS = 12;

/**
 * `logrange(start,stop,num)`: a choice of `num` numbers with equal ratios from start to stop, both
 * included. `logrange(start,stop,steps=1,base=10)`: from start, `steps` numbers per factor of
 * `base`, up to and including stop; ints if start, stop and base are ints and steps is 1.
 */
export const logrange: OverrideFunction = {
  name: "logrange",
  isOurs: true,
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "stop", accepts: NUMBER, required: true },
      { name: "num", accepts: NUMBER },
      { name: "steps", accepts: NUMBER },
      { name: "base", accepts: NUMBER },
    ],
  },
  evaluate(args, call) {
    const values = args.get("num") === undefined ? byBase(args, call) : byCount(args, call);
    const items = values.map(
      (value): OverrideValue => ({ kind: "scalar", value, span: call.span }),
    );
    return { kind: "choice", items, simple: false, shuffle: false, tags: [], span: call.span };
  },
};

function byCount(args: BoundArguments, call: Call): readonly number[] {
  if (args.get("steps") !== undefined || args.get("base") !== undefined)
    fail(call, "num sets the number of values: give it without steps and base");
  const start = positive("start", args, call);
  const stop = positive("stop", args, call);
  const num = wholeNumber("num", 2, args, call);
  const last = num - 1;
  const ratio = Math.log(stop / start) / last;
  return Array.from({ length: num }, (_, index) => {
    if (index === 0) return start;
    return index === last ? stop : tidy(start * Math.exp(ratio * index));
  });
}

function byBase(args: BoundArguments, call: Call): readonly ElementScalar[] {
  const start = positive("start", args, call);
  const stop = positive("stop", args, call);
  const steps = args.get("steps") === undefined ? 1 : wholeNumber("steps", 1, args, call);
  const base = args.get("base") === undefined ? 10 : positive("base", args, call);
  if (base <= 1) fail(call, "the argument 'base' must be greater than 1");
  const direction = stop < start ? -1 : 1;
  const distance = (Math.abs(Math.log(stop / start)) / Math.log(base)) * steps;
  const count = Math.floor(distance + 1e-9) + 1;
  if (count > MAX_VALUES) fail(call, `it has ${count} values, more than ${MAX_VALUES}`);
  const values = Array.from({ length: count }, (_, index) =>
    index === 0 ? start : tidy(start * base ** ((direction * index) / steps)),
  );
  const areInts = ["start", "stop", "base"].every((name) => isInt(name, args));
  return areInts && steps === 1 && values.every(Number.isSafeInteger) ? values.map(BigInt) : values;
}

const tidy = (value: number): number =>
  Number.isSafeInteger(value) ? value : Number(value.toPrecision(DIGITS));

/** An absent argument counts as an int, since the default base is one. */
function isInt(name: string, args: BoundArguments): boolean {
  const value = args.get(name);
  return value === undefined || typeof numberOf(value) === "bigint";
}

function positive(name: string, args: BoundArguments, call: Call): number {
  const value = toFloat(numberOf(args.get(name)) ?? 0n, call);
  if (!(value > 0 && value < Infinity))
    fail(call, `the argument '${name}' must be a number greater than 0`);
  return value;
}

function wholeNumber(name: string, least: number, args: BoundArguments, call: Call): number {
  const value = numberOf(args.get(name));
  const number = typeof value === "bigint" ? Number(value) : Number.NaN;
  if (!(number >= least && number <= MAX_VALUES))
    fail(call, `the argument '${name}' must be an int from ${least} to ${MAX_VALUES}`);
  return number;
}

/** `interval(start,end)`: the floats from start up to, but not including, end. */
export const interval: OverrideFunction = {
  name: "interval",
  parameters: {
    named: [
      { name: "start", accepts: NUMBER, required: true },
      { name: "end", accepts: NUMBER, required: true },
    ],
  },
  evaluate(args, call) {
    const start = toFloat(numberOf(args.get("start")) ?? 0n, call);
    const end = toFloat(numberOf(args.get("end")) ?? 0n, call);
    return { kind: "interval", start, end, tags: [], span: call.span };
  },
};

/** `glob(include,exclude)`: a sweep over the options of the override's config group. */
export const glob: OverrideFunction = {
  name: "glob",
  parameters: {
    named: [
      { name: "include", accepts: STRING_OR_LIST, required: true },
      { name: "exclude", accepts: STRING_LIST_OR_NULL },
    ],
  },
  evaluate: (args, { span }) => ({
    kind: "glob",
    include: asList(args.get("include")),
    exclude: asList(args.get("exclude")),
    span,
  }),
};

function asList(value: OverrideValue | undefined): readonly OverrideValue[] {
  if (value === undefined || (value.kind === "scalar" && value.value === null)) return [];
  return value.kind === "list" ? value.items : [value];
}

/** `tag(t1,t2,sweep)`: the sweep with these tags in place of its own. */
export const tag: OverrideFunction = {
  name: "tag",
  parameters: { rest: STRING_OR_SWEEP, named: [{ name: "sweep", accepts: SWEEP_OR_NULL }] },
  evaluate({ rest, get }, call) {
    if (rest.length === 0) fail(call, "the sweep to tag is missing");
    const named = get("sweep");
    const all = named === undefined || isNull(named) ? rest : [...rest, named];
    const sweep = all.at(-1);
    if (sweep?.kind !== "choice" && sweep?.kind !== "range" && sweep?.kind !== "interval")
      fail(call, "the last argument must be a choice, a range or an interval");
    const tags = new Set<string>();
    for (const item of all.slice(0, -1)) {
      if (item.kind !== "scalar" || typeof item.value !== "string")
        fail(call, "a tag must be a string");
      tags.add(item.value);
    }
    return { ...sweep, tags: [...tags].sort(), span: call.span };
  },
};

const isNull = (value: OverrideValue): boolean => value.kind === "scalar" && value.value === null;

const ENUMERABLE: Acceptance = {
  words: "a choice, a range, a logrange or a glob",
  accepts: (value) =>
    value.kind === "choice" ||
    value.kind === "range" ||
    value.kind === "glob" ||
    (value.kind === "union" && columnsOf(value).length === 0),
  remedy({ kind }) {
    if (kind === "zip" || kind === "union")
      return "put the keys of the inner zip into the outer one";
    if (kind === "list") return "use choice(...) to take its items one by one";
    return kind === "interval"
      ? "an interval has no values to pair"
      : "write a value that is the same in all jobs as a separate override";
  },
};

/**
 * `zip(lr=choice(0.1,0.01),model=choice(a,b))`: a sweep that gives its keys their first values
 * together, then their second values, and so on.
 */
export const zip: OverrideFunction = {
  name: "zip",
  isOurs: true,
  parameters: { named: [], columns: ENUMERABLE },
  evaluate({ columns }, call) {
    if (columns.length === 0) fail(call, "zip needs keys with a sweep each: zip(a=choice(1,2))");
    const keys = columns.map(bareKey);
    const twice = keys.find((key, index) => keys.indexOf(key) !== index);
    if (twice !== undefined) fail(call, `the key '${twice}' is given twice`);
    return { kind: "zip", columns, span: call.span };
  },
};

/** `+db@backup` and `db@backup` assign to the same place, and so do `db` and `db:`. */
const bareKey = (column: Override): string => overrideKeyElement(column).replace(/^\++|:$/g, "");

/**
 * `choice(a,b)+range(3)`: a sweep over the values of one part after the other.
 *
 * @throws ConfigError `override.function` for parts that cannot be joined
 * @see https://github.com/facebookresearch/hydra/issues/2851
 */
export function union(
  values: readonly OverrideValue[],
  span: Span,
  source: OverrideSource,
): UnionSweep {
  const refuse = (overrideValue: OverrideValue, problem: string, hint?: string): never => {
    throw functionError(source, overrideValue.span, problem, hint === undefined ? {} : { hint });
  };
  const parts = values.map((value): UnionPart => {
    if (value.kind === "interval")
      return refuse(value, "an interval has no values that '+' could join");
    if (!isSweepValue(value) || value.kind === "union") {
      const written = source.text.slice(value.span.start, value.span.end);
      return refuse(
        value,
        `'+' joins sweeps, and this is ${describeValue(value)}`,
        `write choice(${written})`,
      );
    }
    return value;
  });
  const keysOf = (part: UnionPart) => columnsOf(part).map(bareKey).sort().join(", ");
  const [first] = parts;
  const other = parts.find((part) => first !== undefined && keysOf(part) !== keysOf(first));
  if (first !== undefined && other !== undefined)
    refuse(
      other,
      first.kind === "zip" && other.kind === "zip"
        ? `zips that '+' joins need the same keys, but the first has ${keysOf(first)}`
        : "'+' joins a zip only with other zips",
    );
  return { kind: "union", parts, span };
}

/** `key=extend_list(a,b)`: appends to the existing list. Inside another value it is a dict. */
export const extendList: OverrideFunction = {
  name: "extend_list",
  parameters: { rest: ANYTHING, named: [] },
  evaluate: ({ rest }, { span }) => ({ kind: "extension", values: rest, span }),
};
