/** The styles that a text allows, by PyYAML's analysis. Styles are chosen from this alone. */
export interface ScalarAnalysis {
  readonly empty: boolean;
  readonly multiline: boolean;
  readonly allowPlain: boolean;
  /** Plain style is possible inside brackets, too. */
  readonly allowFlowPlain: boolean;
  readonly allowSingleQuoted: boolean;
  readonly allowBlock: boolean;
  /** Length in code points, the unit of columns. */
  readonly length: number;
}

const EMPTY: ScalarAnalysis = {
  empty: true,
  multiline: false,
  allowPlain: true,
  allowFlowPlain: false,
  allowSingleQuoted: true,
  allowBlock: false,
  length: 0,
};

/** Characters that a plain scalar inside brackets cannot contain. */
const FLOW_INDICATORS = /[,?[\]{}:]/;

/** Characters that a plain scalar cannot begin with. */
const FIRST_INDICATORS = new Set("#,[]{}&*!|>'\"%@`");

/**
 * One pass over the text. Adjacent, leading and trailing blanks and breaks decide which styles are possible; indicators
 * matter only for plain style; unprintable characters need the escapes of double quotes. For libyaml, fewer characters
 * are printable.
 */
export function analyzeScalar(text: string, libyaml = false): ScalarAnalysis {
  const { length } = text;
  if (length === 0) return EMPTY;
  let indicators =
    text.startsWith("---") ||
    text.startsWith("...") ||
    FIRST_INDICATORS.has(text.charAt(0)) ||
    (/^[-?:]/.test(text) && (length === 1 || isSpaceOrEnd(text.charCodeAt(1))));
  let special = false;
  let multiline = false;
  let breakThenSpace = false;
  let spaceThenBreak = false;
  let astral = 0;
  let previous = 0;
  for (let index = 0; index < length; index++) {
    const c = text.charCodeAt(index);
    if (c === COLON) {
      if (index > 0 && (index + 1 === length || isSpaceOrEnd(text.charCodeAt(index + 1))))
        indicators = true;
    } else if (c === HASH) {
      if (index > 0 && isSpaceOrEnd(previous)) indicators = true;
    } else if (c === SPACE) {
      if (index > 0 && isLineBreak(previous)) breakThenSpace = true;
    } else if (isLineBreak(c)) {
      multiline = true;
      if (libyaml && c === 0x85) special = true;
      if (previous === SPACE) spaceThenBreak = true;
    } else if (isHighSurrogate(c) && isLowSurrogate(text.charCodeAt(index + 1))) {
      // PyYAML's range of printable characters excludes the very last one.
      if (libyaml || (c === 0xdbff && text.charCodeAt(index + 1) === 0xdfff)) special = true;
      astral++;
      index++;
    } else if (!isPrintable(c)) {
      special = true;
      // For libyaml it is a line break like the others.
      if (libyaml && c === 0x0d) multiline = true;
    }
    previous = c;
  }
  const first = text.charCodeAt(0);
  const last = text.charCodeAt(length - 1);
  const blankEnds = first === SPACE || last === SPACE || isLineBreak(first) || isLineBreak(last);
  const broken = spaceThenBreak || special;
  const allowPlain = !(indicators || blankEnds || breakThenSpace || broken || multiline);
  return {
    empty: false,
    multiline,
    allowPlain,
    allowFlowPlain: allowPlain && !FLOW_INDICATORS.test(text),
    allowSingleQuoted: !(breakThenSpace || broken),
    allowBlock: !(last === SPACE || broken),
    length: length - astral,
  };
}

const SPACE = 0x20;
const HASH = 0x23;
const COLON = 0x3a;

/** The line breaks that the writer uses; a carriage return is escaped instead. */
const isLineBreak = (c: number): boolean =>
  c === 0x0a || c === 0x85 || c === 0x2028 || c === 0x2029;

const isSpaceOrEnd = (c: number): boolean =>
  c === SPACE || c === 0 || c === 0x09 || c === 0x0d || isLineBreak(c);

const isPrintable = (c: number): boolean =>
  (c >= 0x20 && c <= 0x7e) ||
  (c >= 0xa0 && c <= 0xd7ff) ||
  (c >= 0xe000 && c <= 0xfffd && c !== 0xfeff);

const isHighSurrogate = (c: number): boolean => c >= 0xd800 && c <= 0xdbff;
const isLowSurrogate = (c: number): boolean => c >= 0xdc00 && c <= 0xdfff;
