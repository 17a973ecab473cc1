/**
 * What a token is. The names follow the fields of the language: a colon or a bracket means the same
 * in a key and among arguments, although their lexical rules differ.
 */
export type TokenKind =
  | "literal"
  | "escaped-interpolation"
  | "escaped"
  | "backslashes"
  | "open"
  | "close"
  | "dot"
  | "key"
  | "id"
  | "colon"
  | "comma"
  | "list-open"
  | "list-close"
  | "dict-open"
  | "dict-close"
  | "quote-open"
  | "quote-close"
  | "null"
  | "bool"
  | "int"
  | "float"
  | "symbol"
  | "blank"
  /** Where no rule matches, or a closing brace has no opening one: nothing may follow. */
  | "invalid"
  | "end";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly start: number;
}

/**
 * The lexical contexts: free text, inside `${…}` before a colon, arguments (also inside `{…}`), and
 * quoted text. An opening token enters one, its closing token leaves it.
 */
export type LexerMode = "text" | "key" | "arguments" | "single-quoted" | "double-quoted";

interface Rule {
  readonly kind: TokenKind;
  readonly pattern: RegExp;
  readonly step?: Step;
}

type Step =
  | { readonly enter: LexerMode }
  | { readonly become: LexerMode }
  | { readonly leave: true };

const enter = (mode: LexerMode): Step => ({ enter: mode });
const LEAVE: Step = { leave: true };

const OPEN: Rule = { kind: "open", pattern: /\$\{[ \t]*/y, step: enter("key") };
const ID = /[a-zA-Z_][a-zA-Z0-9_-]*/y;
const DIGITS = "[0-9](?:_?[0-9])*";
const UNSIGNED = "(?:0|[1-9](?:_?[0-9])*)";
const POINT = `(?:(?:${UNSIGNED})?\\.${DIGITS}|${UNSIGNED}\\.)`;
const EXPONENT = `(?:${POINT}|${UNSIGNED})[eE][+-]?${DIGITS}`;

/**
 * Rules for text up to one of the stop characters. A run of backslashes counts only before `${`
 * or, in quotes, before the closing quote; elsewhere it is part of the literal. Literals end before
 * such a run, so that its length is seen whole.
 */
const textRules = (quote: string): readonly Rule[] => [
  OPEN,
  { kind: "literal", pattern: new RegExp(`[^${quote}$]*[^${quote}\\\\$]`, "y") },
  { kind: "escaped-interpolation", pattern: /(?:\\\\)*\\\$\{/y },
  ...(quote === ""
    ? []
    : [
        { kind: "escaped", pattern: new RegExp(`(?:\\\\\\\\)*\\\\${quote}`, "y") } as const,
        { kind: "quote-close", pattern: new RegExp(quote, "y"), step: LEAVE } as const,
      ]),
  { kind: "backslashes", pattern: /(?:\\\\)+/y },
  { kind: "literal", pattern: /\\+/y },
  { kind: "literal", pattern: /\$/y },
];

/** Per mode, in order of precedence between matches of the same length; the longest match wins. */
const RULES: Readonly<Record<LexerMode, readonly Rule[]>> = {
  text: textRules(""),
  "single-quoted": textRules("'"),
  "double-quoted": textRules('"'),
  key: [
    OPEN,
    { kind: "colon", pattern: /[ \t]*:[ \t]*/y, step: { become: "arguments" } },
    { kind: "close", pattern: /[ \t]*\}/y, step: LEAVE },
    { kind: "dot", pattern: /\./y },
    { kind: "list-open", pattern: /\[/y },
    { kind: "list-close", pattern: /\]/y },
    { kind: "id", pattern: ID },
    { kind: "key", pattern: /[^\\{}()[\]:. \t'"]+/y },
  ],
  arguments: [
    OPEN,
    { kind: "dict-open", pattern: /\{[ \t]*/y, step: enter("arguments") },
    { kind: "dict-close", pattern: /[ \t]*\}/y, step: LEAVE },
    { kind: "quote-open", pattern: /'/y, step: enter("single-quoted") },
    { kind: "quote-open", pattern: /"/y, step: enter("double-quoted") },
    { kind: "comma", pattern: /[ \t]*,[ \t]*/y },
    { kind: "list-open", pattern: /\[[ \t]*/y },
    { kind: "list-close", pattern: /[ \t]*\]/y },
    { kind: "colon", pattern: /[ \t]*:[ \t]*/y },
    // The alternatives of a float are ordered longest first: a regular expression takes the first.
    {
      kind: "float",
      pattern: new RegExp(`[+-]?(?:${EXPONENT}|${POINT}|[Ii][Nn][Ff]|[Nn][Aa][Nn])`, "y"),
    },
    { kind: "int", pattern: new RegExp(`[+-]?${UNSIGNED}`, "y") },
    { kind: "bool", pattern: /true|false/iy },
    { kind: "null", pattern: /null/iy },
    { kind: "symbol", pattern: /[/\-\\+.$%*@?|]/y },
    { kind: "id", pattern: ID },
    { kind: "escaped", pattern: /(?:\\[\\()[\]{}:=, \t])+/y },
    { kind: "blank", pattern: /[ \t]+/y },
  ],
};

/**
 * Splits a text into tokens, the last of which is `end`, or `invalid` at the first place that has
 * none. Whether that matters is for the parser to say: it may not get so far.
 */
export function tokenize(text: string, initial: LexerMode): readonly Token[] {
  const tokens: Token[] = [];
  const modes: LexerMode[] = [];
  let mode = initial;
  let at = 0;
  while (at < text.length) {
    const match = longestMatch(RULES[mode], text, at);
    if (match === null) return [...tokens, { kind: "invalid", text: "", start: at }];
    tokens.push({ kind: match.rule.kind, text: text.slice(at, match.end), start: at });
    const step = match.rule.step;
    if (step !== undefined && "enter" in step) {
      modes.push(mode);
      mode = step.enter;
    } else if (step !== undefined && "become" in step) mode = step.become;
    else if (step !== undefined) {
      const outer = modes.pop();
      if (outer === undefined) return [...tokens, { kind: "invalid", text: "", start: at }];
      mode = outer;
    }
    at = match.end;
  }
  tokens.push({ kind: "end", text: "", start: text.length });
  return tokens;
}

function longestMatch(
  rules: readonly Rule[],
  text: string,
  at: number,
): { readonly rule: Rule; readonly end: number } | null {
  let best: Rule | null = null;
  let end = at;
  for (const rule of rules) {
    rule.pattern.lastIndex = at;
    if (rule.pattern.test(text) && rule.pattern.lastIndex > end) {
      best = rule;
      end = rule.pattern.lastIndex;
    }
  }
  return best === null ? null : { rule: best, end };
}
