/**
 * Tokens of YAML 1.1, by the names that messages give them. Offsets are UTF-16 code units into the
 * source text, ends exclusive.
 */
export type Token =
  | StructureToken
  | ScalarToken
  | NameToken
  | TagToken
  | YamlDirectiveToken
  | TagDirectiveToken;

export type StructureType =
  | "<document start>"
  | "<document end>"
  | "<stream end>"
  | "<block sequence start>"
  | "<block mapping start>"
  | "<block end>"
  | "["
  | "]"
  | "{"
  | "}"
  | ","
  | "-"
  | "?"
  | ":";

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Punctuation, and the starts and ends of blocks that indentation implies. */
export interface StructureToken extends Span {
  readonly type: StructureType;
}

export interface ScalarToken extends Span {
  readonly type: "<scalar>";
  readonly value: string;
  /** Neither quoted nor a block: only such scalars can be anything but strings. */
  readonly plain: boolean;
}

export interface NameToken extends Span {
  readonly type: "<anchor>" | "<alias>";
  readonly name: string;
}

export interface TagToken extends Span {
  readonly type: "<tag>";
  /** `!`, `!!` or `!name!`; null where the suffix is the whole tag. */
  readonly handle: string | null;
  readonly suffix: string;
}

export interface YamlDirectiveToken extends Span {
  readonly type: "<directive>";
  readonly name: "YAML" | "unknown";
  readonly major: number;
}

export interface TagDirectiveToken extends Span {
  readonly type: "<directive>";
  readonly name: "TAG";
  readonly handle: string;
  readonly prefix: string;
}

export type TokenType = Token["type"];
