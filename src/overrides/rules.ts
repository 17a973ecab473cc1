import type { OverrideValue } from "./ast.ts";
import type { Cursor } from "./cursor.ts";
import { createCursor, peek } from "./cursor.ts";
import type { OverrideSource } from "./errors.ts";
import type { EvaluationOptions } from "./evaluate.ts";
import { evaluateValue } from "./evaluate.ts";
import type { LexerMode } from "./lexer.ts";
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
 * Parses the beginning of a text by one rule, as Hydra's `parse_rule` does: of what follows only the
 * next token is read, which must be one. For tools that read parts of an override, such as completion.
 */
export function parseRule(
  text: string,
  rule: ParserRule,
  options: EvaluationOptions = {},
): OverrideValue | KeySyntax | string {
  const source = { text, index: 0 };
  if (isKeyRule(rule)) return readBeginning<KeySyntax | string>(source, "key", KEY_RULES[rule]);
  const syntax = readBeginning<ValueSyntax>(source, "value", VALUE_RULES[rule]);
  return evaluateValue(syntax, source, options);
}

function readBeginning<Syntax>(
  source: OverrideSource,
  mode: LexerMode,
  parse: (cursor: Cursor) => Syntax,
): Syntax {
  const cursor = createCursor(source, mode);
  const syntax = parse(cursor);
  peek(cursor);
  return syntax;
}

const isKeyRule = (rule: ParserRule): rule is keyof typeof KEY_RULES => rule in KEY_RULES;
