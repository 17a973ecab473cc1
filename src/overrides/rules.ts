import type { OverrideValue } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { createCursor, peek } from "./cursor.ts";
import type { EvaluationOptions } from "./evaluate.ts";
import { evaluateValue } from "./evaluate.ts";
import {
  parseCall,
  parseDict,
  parseElement,
  parseKey,
  parseList,
  parsePackage,
  parsePackageOrGroup,
  parseSimpleChoice,
  parseValue,
} from "./parser.ts";
import { parsePrimitive } from "./primitive.ts";
import type { KeySyntax, ValueSyntax } from "./syntax.ts";

/** The rules of the grammar that can be parsed on their own; names as in Hydra's grammar. */
export type ParserRule = keyof typeof KEY_RULES | keyof typeof VALUE_RULES;

const KEY_RULES = {
  key: parseKey,
  package: parsePackage,
  packageOrGroup: parsePackageOrGroup,
} as const;

const VALUE_RULES = {
  value: parseValue,
  element: parseElement,
  primitive: parsePrimitive,
  simpleChoiceSweep: parseSimpleChoice,
  listContainer: parseList,
  dictContainer: parseDict,
  function: parseCall,
} as const;

/**
 * Parses the beginning of a text by one rule, as Hydra's `parse_rule` does: what follows is not
 * looked at. For tools that read parts of an override, such as completion.
 */
export function parseRule(
  text: string,
  rule: ParserRule,
  options: EvaluationOptions = {},
): OverrideValue | KeySyntax | string {
  const source = { text, index: 0 };
  if (isKeyRule(rule)) {
    const cursor = createCursor(source, "key");
    const key = KEY_RULES[rule](cursor);
    // Where a key ends shows in what follows: that must be a token.
    peek(cursor);
    return key;
  }
  const parse: (cursor: Cursor) => ValueSyntax = VALUE_RULES[rule];
  return evaluateValue(parse(createCursor(source, "value")), source, options);
}

const isKeyRule = (rule: ParserRule): rule is keyof typeof KEY_RULES => rule in KEY_RULES;
