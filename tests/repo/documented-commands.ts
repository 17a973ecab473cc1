/** The command lines that documentation shows, as a shell would hand them over. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { listFiles } from "./files.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export interface DocumentedCommand {
  /** `docs/ci.md:35`. */
  readonly place: string;
  readonly text: string;
  /** The program, without what starts it (`npx`), and its arguments. */
  readonly words: readonly string[];
}

export const pages: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...["docs", "tests/manual"].flatMap((folder) =>
    listFiles(join(root, folder), ".md").map((file) => file.slice(root.length)),
  ),
];

const PROGRAMS = "deep-profile|hydraconf|prog|npm|validate-regions";
/** In a block, at the beginning of a line: behind a prompt, `npx` or the key of a workflow's step. */
const COMMAND = new RegExp(
  `^(?: {4}|.*?\\b(?:run|in): |\\s*)\\s*(?:\\$ )?(?:npx )?((?:${PROGRAMS})(?: [^─]*)?)$`,
);

/** Commands of this repository's programs in blocks of a page. */
export function commandsOf(page: string): readonly DocumentedCommand[] {
  const found: DocumentedCommand[] = [];
  let fence: string | undefined;
  let loop: RegExpExecArray | undefined;
  let pending: { readonly at: number; readonly text: string } | undefined;
  for (const [index, line] of readFileSync(join(root, page), "utf8").split("\n").entries()) {
    loop = /^ {4}for (\w+) in (\S+)/.exec(line) ?? loop;
    const mark = /^```(\w*)/.exec(line)?.[1];
    if (mark !== undefined) {
      fence = fence === undefined ? mark : undefined;
      continue;
    }
    const isBlock = fence === undefined ? line.startsWith("    ") : /^(|yaml)$/.test(fence);
    const more: string | undefined =
      pending === undefined ? COMMAND.exec(line)?.[1] : line.trimStart();
    if (!isBlock || more === undefined) continue;
    const { at, text } = { at: pending?.at ?? index + 1, text: (pending?.text ?? "") + more };
    pending = text.endsWith("\\") ? { at, text: text.slice(0, -1) } : undefined;
    if (pending === undefined)
      found.push({ place: `${page}:${at}`, text, words: wordsOf(inLoop(text, loop)) });
  }
  return found;
}

/** With the first value of the variable of the loop around it. */
const inLoop = (text: string, loop: RegExpExecArray | undefined): string =>
  loop === undefined ? text : text.replaceAll(`$${loop[1]}`, loop[2] ?? "");

/** What a shell makes of a line: quotes, comments, redirections; what it would put in is `x`. */
function wordsOf(text: string): readonly string[] {
  const line = text.replaceAll(
    // Within single quotes a shell replaces nothing.
    /('[^']*')|\$\([^)]*\)|\$\{[^}]*\}|\$\w+/g,
    (_, literal: string | undefined) => literal ?? "x",
  );
  const words: string[] = [];
  for (const [token] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+|\s+/g)) {
    // Columns of a table: behind the command it says what that does.
    if (/^\s{3,}$/.test(token) || /^(#|>>?|&&|\|)/.test(token)) break;
    if (token.trim() !== "") words.push(token.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
  }
  return words;
}
