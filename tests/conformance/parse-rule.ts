import type { KeySyntax, OverrideValue, ValueSyntax } from "../../src/engine/overrides/ast.ts";
import { type EvaluationOptions, evaluateValue } from "../../src/engine/overrides/evaluate.ts";
import {
  type Cursor,
  createCursor,
  expect,
  type LexerMode,
  peek,
} from "../../src/engine/overrides/lexer.ts";
import type { OverrideSource } from "../../src/engine/overrides/override-errors.ts";
import {
  parseCall,
  parseDict,
  parseElement,
  parseKey,
  parseList,
  parsePackage,
  parsePackageOrGroup,
  parsePrimitive,
  parseValue,
} from "../../src/engine/overrides/parser.ts";

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
  simpleChoiceSweep: parseChoices,
  listContainer: parseList,
  dictContainer: parseDict,
  function: parseCall,
} as const;

/**
 * Parses the beginning of a text by one rule, as Hydra's `parse_rule` does: of what follows only the
 * next token is read, which must be one. The corpus has what Hydra makes of parts of overrides, too.
 */
export function parseRule(
  text: string,
  rule: ParserRule,
  options: EvaluationOptions = {},
): OverrideValue | KeySyntax | string {
  const { dialect } = options;
  const source = { text, index: 0, ...(dialect !== undefined && { dialect }) };
  if (isKeyRule(rule)) return readBeginning<KeySyntax | string>(source, "key", KEY_RULES[rule]);
  const syntax = readBeginning<ValueSyntax>(source, "value", VALUE_RULES[rule]);
  return evaluateValue(syntax, source, { onWarning: () => {}, ...options });
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

/** A value that must be several: what is only one lacks a comma. */
function parseChoices(cursor: Cursor): ValueSyntax {
  const value = parseValue(cursor);
  if (value.kind !== "choices") expect(cursor, "comma", "','");
  return value;
}

const isKeyRule = (rule: ParserRule): rule is keyof typeof KEY_RULES => rule in KEY_RULES;
