/**
 * The character classes of PyYAML's scanner, over UTF-16 code units. The scanner works on a text
 * with a NUL behind its end (a NUL inside was refused before), so `END` is the end of the text.
 */
export const END = 0;

export const TAB = 0x09;
export const SPACE = 0x20;

/** YAML 1.1's line breaks, which include NEL and the two Unicode separators. */
export const isBreak = (c: number): boolean =>
  c === 0x0a || c === 0x0d || c === 0x85 || c === 0x2028 || c === 0x2029;

export const isBreakOrEnd = (c: number): boolean => c === END || isBreak(c);

export const isSpaceBreakOrEnd = (c: number): boolean => c === SPACE || isBreakOrEnd(c);

/** What separates tokens: white space with tabs, line breaks, the end. */
export const isBlank = (c: number): boolean => c === SPACE || c === TAB || isBreakOrEnd(c);

export const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

export const isHexDigit = (c: number): boolean =>
  isDigit(c) || (c >= 0x41 && c <= 0x46) || (c >= 0x61 && c <= 0x66);

/** Letters of anchors, aliases, directives and tag handles: ASCII only. */
export const isWordCharacter = (c: number): boolean =>
  isDigit(c) || (c >= 0x41 && c <= 0x5a) || (c >= 0x61 && c <= 0x7a) || c === 0x2d || c === 0x5f;

/** `,` `[` `]` `{` `}` */
export const isFlowIndicator = (c: number): boolean =>
  c === 0x2c || c === 0x5b || c === 0x5d || c === 0x7b || c === 0x7d;
