/** Shell-like patterns: `*` matches any text, `?` any one character, all others match themselves. */
export type GlobToken = LiteralToken | WildcardToken;

/** A character that matches itself. */
export interface LiteralToken {
  readonly type: "literal";
  readonly character: string;
}

/** `?` and `*`. */
export interface WildcardToken {
  readonly type: "one" | "many";
}

/** Every text is a valid pattern, and no character can be escaped. */
export const parseGlob = (pattern: string): readonly GlobToken[] => [...pattern].map(globToken);

export const globToken = (character: string): GlobToken =>
  character === "*"
    ? { type: "many" }
    : character === "?"
      ? { type: "one" }
      : { type: "literal", character };

/** Whether the pattern matches the whole text. */
export const matchesGlob = (tokens: readonly GlobToken[], text: string): boolean =>
  matchesTokens(tokens, text, (token, character) => token.character === character);

/**
 * The same for patterns with further tokens, each of which matches one character. On a mismatch only the
 * last `*` is retried, with one character more. That suffices for globs and bounds the time by the
 * length of the text times that of the pattern, however many stars there are.
 */
export function matchesTokens<Token extends { readonly type: string }>(
  tokens: readonly (Token | WildcardToken)[],
  text: string,
  takes: (token: Token, character: string) => boolean,
): boolean {
  const isWildcard = (token: Token | WildcardToken): token is WildcardToken =>
    token.type === "one" || token.type === "many";
  const characters = [...text];
  let token = 0;
  let star = { token: -1, position: 0 };
  let position = 0;
  for (let character = characters[0]; character !== undefined; character = characters[position]) {
    const current = tokens[token];
    if (current?.type === "many") {
      star = { token, position };
      token++;
    } else if (current !== undefined && (isWildcard(current) || takes(current, character))) {
      token++;
      position++;
    } else if (star.token >= 0) {
      star = { token: star.token, position: star.position + 1 };
      token = star.token + 1;
      position = star.position;
    } else return false;
  }
  return tokens.slice(token).every(({ type }) => type === "many");
}
