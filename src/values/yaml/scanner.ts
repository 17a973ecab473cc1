import type { SourceText } from "../origin.ts";
import { fetchToken } from "./fetch-token.ts";
import { createScanState, type ScanState } from "./scan-state.ts";
import { headOf, removeHead } from "./token-queue.ts";
import type { Token } from "./tokens.ts";

/** Tokens on demand: no more of the text is scanned than the parser asks for. */
export interface Scanner {
  peek(): Token;
  next(): Token;
}

/** The scanner of one document: PyYAML's notion of YAML 1.1, token by token. */
export function createScanner(source: SourceText): Scanner {
  const state = createScanState(source);
  /** The token at the head, once it is final: the parser looks at most of them several times. */
  let settled: Token | undefined;
  return {
    peek() {
      settled ??= settle(state);
      return settled;
    },
    next() {
      const token = settled ?? settle(state);
      settled = undefined;
      removeHead(state.queue);
      return token;
    },
  };
}

/** Scans until the token at the head is final: until no key token can come in front of it any more. */
function settle(state: ScanState): Token {
  for (;;) {
    const token = headOf(state.queue);
    if (token !== undefined && (state.done || !mayBeKey(state))) return token;
    fetchToken(state);
  }
}

function mayBeKey({ keys, queue }: ScanState): boolean {
  keys.dropStale();
  return keys.has(queue.taken);
}
