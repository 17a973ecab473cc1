import type { Token } from "./tokens.ts";

/**
 * Tokens that were scanned and not taken yet. They are numbered from the first of the text, for one
 * that turns out to begin a key gets tokens put in front of it.
 */
export interface TokenQueue {
  /** Those that were taken lie in front of `head` until there are many of them. */
  readonly tokens: Token[];
  head: number;
  /** How many were taken: the number of the token at the head. */
  taken: number;
}

/** Tokens that were taken are removed so many at a time. */
const KEPT_TOKENS = 1024;

export const createTokenQueue = (): TokenQueue => ({ tokens: [], head: 0, taken: 0 });

export const headOf = ({ tokens, head }: TokenQueue): Token | undefined =>
  head < tokens.length ? tokens[head] : undefined;

export const nextNumber = ({ tokens, head, taken }: TokenQueue): number =>
  taken + tokens.length - head;

export function removeHead(queue: TokenQueue): void {
  queue.head++;
  queue.taken++;
  if (queue.head <= KEPT_TOKENS) return;
  queue.tokens.splice(0, queue.head);
  queue.head = 0;
}

/** Puts a token in front of the one with this number. */
export function insertToken({ tokens, head, taken }: TokenQueue, number: number, token: Token) {
  tokens.splice(head + number - taken, 0, token);
}
