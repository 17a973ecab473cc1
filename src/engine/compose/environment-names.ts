/** The environment variables that a value of a config is made of, for messages about the value. */
import { isConfigError } from "../values/errors.ts";
import type {
  Element,
  Interpolation,
  Sequence,
  TextPart,
} from "../values/interpolation/interpolation-ast.ts";
import {
  isInterpolationNode,
  parseInterpolation,
} from "../values/interpolation/interpolation-parser.ts";
import { type ConfigNode, child } from "../values/node.ts";
import { parsePythonInt } from "../values/python-text.ts";

/**
 * The names in `${oc.env:NAME}` of a value, in its order, also where the value refers to another key that has one. What is computed
 * (a relative reference, a name that is an interpolation) is not followed.
 */
export function environmentNames(root: ConfigNode, path: readonly string[]): readonly string[] {
  const names = new Set<string>();
  const seen = new Set<ConfigNode>();
  const ofKey = (components: readonly string[]): void => {
    const node = components.reduce<ConfigNode | undefined>(below, root);
    if (node === undefined || !isInterpolationNode(node) || seen.has(node)) return;
    seen.add(node);
    partsOf(node.value).forEach(ofPart);
  };
  const ofPart = (part: TextPart | Element): void => {
    if (part.kind === "text") part.parts.forEach(ofPart);
    else if (part.kind === "resolver") ofResolver(part);
    else if (part.kind === "reference" && part.parts === undefined && part.levels === 0)
      ofKey(part.components);
  };
  const ofResolver = ({ args, name }: Extract<Interpolation, { kind: "resolver" }>): void => {
    const variable = name.join(".") === "oc.env" ? nameIn(args) : undefined;
    if (variable !== undefined) names.add(variable);
    for (const { value } of args.args) ofPart(value);
  };
  ofKey(path);
  return [...names];
}

function partsOf(text: string): readonly TextPart[] {
  try {
    return parseInterpolation(text).parts;
  } catch (error) {
    if (isConfigError(error)) return [];
    throw error;
  }
}

function nameIn({ args: [first] }: Sequence): string | undefined {
  const value = first?.value;
  return value?.kind === "primitive" ? String(value.value) : undefined;
}

function below(node: ConfigNode | undefined, key: string): ConfigNode | undefined {
  const index = node?.kind === "list" ? parsePythonInt(key) : null;
  return node && child(node, index ?? key);
}
