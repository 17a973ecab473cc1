import { pointerTo as pointerToTokens } from "../../schema/json-document.ts";

/** One way in which a document breaks the contract. */
export interface ReportIssue {
  /** JSON pointer (RFC 6901) to the place; empty for the document itself. */
  readonly pointer: string;
  readonly message: string;
  /** What would be right, to be read after "expected". */
  readonly expected: string;
  /** 1-based, where the text of the document is known. */
  readonly line?: number;
  readonly column?: number;
}

/** A pointer to something below a pointer. */
export const pointerTo = (pointer: string, ...tokens: readonly (string | number)[]): string =>
  pointer + pointerToTokens(tokens);
