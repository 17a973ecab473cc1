/** Edits of the arguments with which Python programs name their configs. */
import { closing, type PythonToken, pythonTokens, splitAt } from "../../python/python-lexer.ts";
import type { Edit } from "./edits.ts";

/** The call that declares a program: `@hydra.main(...)`, `initialize(...)`. */
interface Declaration {
  readonly source: string;
  readonly tokens: readonly PythonToken[];
  /** The indices of its brackets. */
  readonly open: number;
  readonly close: number;
}

const DECLARING = /^(main|initialize|initialize_config_dir|initialize_config_module)$/;

function declarationAt(source: string, line: number): Declaration | undefined {
  const { tokens } = pythonTokens(source);
  const open = tokens.findIndex(
    ({ text }, index) =>
      text === "(" &&
      (tokens[index - 1]?.line ?? 0) >= line &&
      DECLARING.test(tokens[index - 1]?.text ?? ""),
  );
  // Under another name, `from hydra import main as hydra_main`, it is the first call of the line.
  const found =
    open >= 0 && (tokens[open]?.line ?? 0) <= line + 3
      ? open
      : tokens.findIndex((token) => token.text === "(" && token.line >= line);
  const close = found < 0 ? undefined : closing(tokens, found);
  return close === undefined ? undefined : { source, tokens, open: found, close };
}

/**
 * The edit that gives a program's declaration an argument, or changes the one that it has. Undefined if the declaration
 * is not found, or the argument is given by its position.
 *
 * @param line the line of the declaration, from 1
 * @param value the argument as Python writes it
 */
export function argumentEdit(
  place: { readonly file: string; readonly source: string; readonly line: number },
  name: string,
  value: string,
): Edit | undefined {
  const { file, line, source } = place;
  const declaration = declarationAt(source, line);
  if (declaration === undefined) return undefined;
  const { close, open, tokens } = declaration;
  const inside = tokens.slice(open + 1, close);
  const named = inside.findIndex(
    (token, index) => token.text === name && inside[index + 1]?.text === "=",
  );
  const end = tokens[close]?.start ?? source.length;
  if (named >= 0) {
    const from = inside[named + 2];
    if (from === undefined) return undefined;
    const next = inside.slice(named + 3).find(({ text }) => text === ",");
    const until = next?.start ?? end;
    const written = source.slice(from.start, until).trimEnd();
    return { file, start: from.start, end: from.start + written.length, text: value };
  }
  const last = inside.at(-1);
  // A comma may end the arguments already; text between the last one and the bracket stays behind what is added.
  const start = (tokens[open]?.start ?? 0) + 1;
  const text = `${name}=${value}${last === undefined ? "" : ", "}`;
  // Arguments by position must stay in front.
  const positional = last !== undefined && !hasNames(inside);
  if (positional) {
    const at = source.slice(0, end).trimEnd().length;
    return { file, start: at, end: at, text: `${last.text === "," ? " " : ", "}${name}=${value}` };
  }
  const firstName = inside.find((_, index) => inside[index + 1]?.text === "=");
  const at = firstName?.start ?? start;
  return { file, start: at, end: at, text };
}

const hasNames = (inside: readonly PythonToken[]): boolean =>
  inside.some(({ kind }, index) => kind === "name" && inside[index + 1]?.text === "=");

/** Whether a program's declaration has an argument, by its name or its position. */
export function hasArgument(
  { line, source }: { readonly source: string; readonly line: number },
  name: string,
  position: number,
): boolean {
  const declaration = declarationAt(source, line);
  if (declaration === undefined) return false;
  const inside = declaration.tokens.slice(declaration.open + 1, declaration.close);
  const parts = splitAt(inside, ",").filter(({ length }) => length > 0);
  const isNamed = (part: readonly PythonToken[]): boolean => part[1]?.text === "=";
  return (
    parts.some((part) => part[0]?.text === name && isNamed(part)) ||
    parts.findIndex(isNamed) > position ||
    (parts.length > position && !parts.some(isNamed))
  );
}
