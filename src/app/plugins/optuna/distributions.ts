/** The distributions of Optuna that the sweeps of a search stand for. */
import {
  type Element,
  elementToString,
  type IntervalSweep,
  isSweep,
  type Override,
  overrideKeyElement,
  type PythonNumber,
  type RangeSweep,
  rangeSequence,
  type Sweep,
} from "../../../engine/overrides/index.ts";
import type { Dialect } from "../../../engine/values/dialect.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import {
  type ConfigNode,
  child,
  type MapNode,
  type ScalarValue,
} from "../../../engine/values/node.ts";
import { keyText } from "../../../engine/values/python-text.ts";
import { fixedPoint } from "../../sweep/sweepers/dimensions.ts";
import { type Encoded, encodeNode, encodeScalar } from "../python/python-peer.ts";

/** The arguments of a distribution, as `distribution_of` of optuna_study.py takes them. */
type Distribution =
  | { readonly kind: "categorical"; readonly choices: readonly Encoded[] }
  | {
      readonly kind: "int" | "float";
      readonly low: Encoded;
      readonly high: Encoded;
      readonly step?: Encoded;
      readonly log?: boolean;
    };

/** What Hydra's optuna sweeper makes of overrides. */
export interface OptunaSpace {
  /** By the override's key with its prefix, in order: `+x`, `model`. */
  readonly distributions: ReadonlyMap<string, Distribution>;
  /** Texts of the values that are the same in all jobs. */
  readonly fixed: ReadonlyMap<string, string>;
  /** Deletions, which come after the others. */
  readonly added: readonly string[];
}

/**
 * Reads overrides as Hydra's optuna sweeper does: a later sweep of a key replaces an earlier one, and a fixed value
 * any sweep of its key, whichever is first.
 *
 * @throws ConfigError `override.sweep_not_allowed` for a sweep that no distribution stands for
 */
export function optunaSpace(overrides: readonly Override[], dialect: Dialect): OptunaSpace {
  const distributions = new Map<string, Distribution>();
  const fixed = new Map<string, string>();
  const added: string[] = [];
  for (const override of overrides) {
    const key = overrideKeyElement(override);
    if (isSweep(override)) distributions.set(key, distributionOf(override, dialect));
    else if (override.type === "delete" && dialect.newerPlugins) added.push(override.origin.text);
    else fixed.set(key, fixedPoint(override)[0]?.slice(key.length + 1) ?? "");
  }
  return { distributions, fixed, added };
}

type SweepOverride = Override & { readonly value: Sweep };

function distributionOf(override: SweepOverride, dialect: Dialect): Distribution {
  const { value } = override;
  switch (value.kind) {
    case "choice":
      return {
        kind: "categorical",
        choices: value.items.map((item) => choiceOf(item as Element)),
      };
    case "range":
      return value.shuffle
        ? { kind: "categorical", choices: valuesOf(value, override).map(encodeScalar) }
        : rangeOf(value, override, dialect);
    case "interval":
      return intervalOf(value);
    case "glob":
      return refuse(override, "name the options: choice(a,b)");
    case "union":
      return {
        kind: "categorical",
        choices: value.parts.flatMap((part) => choicesOf({ ...override, value: part }, dialect)),
      };
    case "zip":
      return refuse(override, "hydra/sweeper=random and tpe draw from it");
  }
}

/** A union of sweeps has the values of all of them, in no order. */
function choicesOf(part: SweepOverride, dialect: Dialect): readonly Encoded[] {
  if (part.value.kind === "range") return valuesOf(part.value, part).map(encodeScalar);
  const values = distributionOf(part, dialect);
  return values.kind === "categorical" ? values.choices : [];
}

function refuse({ keyOrGroup, origin }: Override, hint: string): never {
  throw new ConfigError({
    code: "override.sweep_not_allowed",
    message: `The sweep '${origin.text}' is not supported by Optuna sweeper.`,
    origin,
    key: keyOrGroup,
    hint,
  });
}

/** Texts, numbers and bools keep their types; everything else is the text of the job's override. */
function choiceOf(item: Element): Encoded {
  const isPrimitive = item.kind === "scalar" && item.quote === undefined && item.value !== null;
  return isPrimitive ? encodeScalar(item.value) : elementToString(item);
}

const isFloat = (value: PythonNumber): value is number => typeof value === "number";

const intervalOf = ({ end, start, tags }: IntervalSweep): Distribution => ({
  ...(isFloat(start) || isFloat(end)
    ? { kind: "float", low: floatOf(start), high: floatOf(end) }
    : { kind: "int", low: intOf(start), high: intOf(end) }),
  ...(tags.includes("log") && { log: true }),
});

/** Before Hydra 1.4 the stop of a range is one of its values, where the steps meet it. */
function rangeOf(range: RangeSweep, override: Override, { newerPlugins }: Dialect): Distribution {
  const bounds = [range.start, range.stop, range.step].map((bound) => cast(bound, range.casts));
  const [start = 0n, stop = 0n, step = 1n] = bounds;
  const last = newerPlugins ? (valuesOf(range, override).at(-1) ?? stop) : stop;
  return bounds.some(isFloat)
    ? { kind: "float", low: floatOf(start), high: floatOf(last), step: floatOf(step) }
    : { kind: "int", low: intOf(start), high: intOf(last), step: intOf(step) };
}

/** More values than Optuna handles. */
const MOST_VALUES = 1_000_000n;

function valuesOf(range: RangeSweep, override: Override): readonly (bigint | number)[] {
  const values = rangeSequence(range);
  if (values === undefined || values.count > MOST_VALUES || values.count === 0n)
    return refuse(override, "give a range with fewer values, and at least one, or an interval");
  return Array.from({ length: Number(values.count) }, (_, index) => values.at(BigInt(index)));
}

/** Casts of each value, in Hydra 1.4, are here casts of the bounds. */
const cast = (bound: PythonNumber, casts: RangeSweep["casts"] = []): PythonNumber =>
  casts.reduce<PythonNumber>(
    (value, name) => (name === "int" ? BigInt(Math.trunc(Number(value))) : Number(value)),
    bound,
  );

const floatOf = (value: PythonNumber): Encoded => encodeScalar(Number(value));
const intOf = (value: PythonNumber): Encoded => encodeScalar(BigInt(value));

/**
 * The distributions of `hydra.sweeper.search_space`, the older form of `hydra.sweeper.params`.
 *
 * @param space resolved: `{x: {type: float, low: 0, high: 1, step: null, log: false}}`
 * @param refuseEntry refuses one of its entries
 */
export const olderDistributions = (
  space: MapNode,
  refuseEntry: (name: string, problem: string) => never,
): ReadonlyMap<string, Distribution> =>
  new Map(
    [...space.entries.values()].map(({ key, value }) => {
      const name = keyText(key);
      return [name, olderDistribution(value) ?? refuseEntry(name, OLDER)] as const;
    }),
  );

const OLDER = "must have a type of categorical (choices), int or float (low, high)";

function olderDistribution(entry: ConfigNode): Distribution | undefined {
  const setting = (name: string): ScalarValue | undefined => {
    const node = child(entry, name);
    return node?.kind === "scalar" ? node.value : undefined;
  };
  const [type, low, high, step] = ["type", "low", "high", "step"].map(setting);
  const choices = child(entry, "choices");
  if (type === "categorical" && choices?.kind === "list")
    return { kind: "categorical", choices: choices.items.map(encodeNode) };
  if (!isNumber(low) || !isNumber(high) || (type !== "int" && type !== "float")) return undefined;
  const made = (value: bigint | number) =>
    type === "int" ? intOf(BigInt(Math.trunc(Number(value)))) : floatOf(value);
  const bounds = { kind: type, low: made(low), high: made(high) } as const;
  if (setting("log") === true) return { ...bounds, log: true };
  return isNumber(step) ? { ...bounds, step: made(step) } : bounds;
}

const isNumber = (value: ScalarValue | undefined): value is bigint | number =>
  typeof value === "bigint" || typeof value === "number";
