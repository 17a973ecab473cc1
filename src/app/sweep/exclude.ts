import {
  isSweepValue,
  type Override,
  overrideKeyElement,
  parseOverride,
} from "../../overrides/index.ts";
import { getOrCreate } from "../../system/get-or-create.ts";
import { ConfigError, nearest } from "../../values/errors.ts";
import type { ConfigNode, MapNode, ScalarNode } from "../../values/node.ts";
import { keyText } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { selectNode } from "../../values/resolution/select.ts";
import { bareKey, keysOf } from "./dimensions.ts";
import {
  type Rule,
  type RuleValue,
  ruleIndex,
  ruleValue,
  type Wanted,
  wantedOf,
} from "./rule-index.ts";
import type { JobOverrides } from "./sweeper.ts";

const KEY = "hydra.sweeper.exclude";

/**
 * Whether a job is left out by `hydra.sweeper.exclude`: a list of partial assignments, as in the
 * matrices of CI systems. A job that agrees with all of one of them is left out. A value is a
 * scalar, a text with the wildcards of `glob`, or a list of such.
 *
 * @param overrides of the sweep: a rule may name what these set
 * @returns undefined where nothing is excluded
 * @throws ConfigError `value.wrong_type` for what is no such list, `key.not_found` for a key that
 * the sweep does not set: a misspelt rule would let expensive jobs through
 */
export function readExclusion(
  root: MapNode,
  context: ResolveContext,
  overrides: readonly Override[],
): ((job: JobOverrides) => boolean) | undefined {
  const node = selectNode(root, KEY, context, { deep: true });
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  if (node.kind !== "list") return refuse(node, "must be a list of maps");
  if (node.items.length === 0) return undefined;
  const keys = overrides.flatMap(keysOf);
  const agreesWithOne = ruleIndex(node.items.map((item) => readRule(item, keys)));
  const settingOf = cached((text: string) => {
    const override = parseOverride(text);
    const { value } = override;
    return {
      key: bareKey(overrideKeyElement(override)),
      value: value === undefined || isSweepValue(value) ? undefined : ruleValue(value),
    };
  });
  return (job) => {
    const values = new Map<string, RuleValue>();
    for (const { key, value } of job.map(settingOf))
      if (value !== undefined) values.set(key, value);
    return agreesWithOne(values);
  };
}

function readRule(item: ConfigNode, keys: readonly string[]): Rule {
  if (item.kind !== "map" || item.entries.size === 0)
    return refuse(item, "must be a list of maps, each from keys of the sweep to values");
  const rule = new Map<string, Wanted>();
  for (const { key, value } of item.entries.values()) {
    const name = keyText(key);
    if (!keys.includes(name)) {
      const near = nearest(name, keys);
      throw new ConfigError({
        code: "key.not_found",
        message: `${KEY} names '${name}', which this sweep does not set`,
        key: KEY,
        origin: value.origin,
        available: keys,
        nearest: near,
      });
    }
    rule.set(name, wantedOf(scalarsOf(value)));
  }
  return rule;
}

function scalarsOf(value: ConfigNode): readonly ScalarNode[] {
  if (value.kind === "scalar") return [value];
  if (value.kind === "list") return value.items.flatMap(scalarsOf);
  return refuse(value, "has a map as a value: write its keys with dots, as in {db.port: 1}");
}

function refuse(node: ConfigNode, problem: string): never {
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${KEY} ${problem}`,
    key: KEY,
    origin: node.origin,
  });
}

function cached<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => getOrCreate(known, text, () => compute(text));
}
