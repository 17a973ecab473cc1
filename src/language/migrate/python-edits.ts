/** Edits of the arguments with which Python programs name their configs. */
import { closing, type PythonToken, pythonTokens, splitAt } from "../../python/python-lexer.ts";
import type { Edit } from "./text-edits.ts";

/** An argument of a declaration, with its position where it has no name. */
export type NamedArgument = readonly [name: string, position: number];

/** The arguments of `@hydra.main`, with their positions where they have no names; of others only `version_base` is set. */
export const MAIN_ARGUMENTS = {
  configPath: ["config_path", 0],
  configName: ["config_name", 1],
  versionBase: ["version_base", 2],
} as const satisfies Readonly<Record<string, NamedArgument>>;

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

/** An argument by its name, or by its position. */
interface Argument {
  readonly name: string | undefined;
  readonly start: number;
  /** The start of its value, behind the name. */
  readonly valueStart: number;
  readonly end: number;
}

const argumentsOf = ({ close, open, tokens }: Declaration): readonly Argument[] =>
  splitAt(tokens.slice(open + 1, close), ",").flatMap((part): readonly Argument[] => {
    const [first, equals] = part;
    const isUnpacked = first?.text === "*" || first?.text === "**";
    const name = equals?.text === "=" || isUnpacked ? first?.text : undefined;
    const value = name === undefined ? first : isUnpacked ? equals : part[2];
    const last = part.at(-1);
    return first === undefined || value === undefined || last === undefined
      ? []
      : [{ name, start: first.start, valueStart: value.start, end: last.end }];
  });

/** A declaration of a program, where its source says it. */
export interface DeclarationPlace {
  readonly file: string;
  readonly source: string;
  /** From 1. */
  readonly line: number;
}

/** The argument of a name, or else that of a position before all names. */
function argumentNamed(
  all: readonly Argument[],
  name: string,
  position: number,
): Argument | undefined {
  const first = all.findIndex((argument) => argument.name !== undefined);
  const byPosition = first >= 0 && first <= position ? undefined : all[position];
  return all.find((argument) => argument.name === name) ?? byPosition;
}

/**
 * The edit that gives a program's declaration an argument, or changes the one that it has. Undefined if the declaration
 * is not found.
 *
 * @param value the argument as Python writes it
 */
export function argumentEdit(
  { file, line, source }: DeclarationPlace,
  [name, position]: NamedArgument,
  value: string,
): Edit | undefined {
  const declaration = declarationAt(source, line);
  if (declaration === undefined) return undefined;
  const all = argumentsOf(declaration);
  const present = argumentNamed(all, name, position);
  if (present !== undefined)
    return { file, start: present.valueStart, end: present.end, text: value };
  const insertion = (offset: number, text: string): Edit => ({
    file,
    start: offset,
    end: offset,
    text,
    isUnordered: true,
  });
  const firstName = all.find((argument) => argument.name !== undefined);
  if (firstName !== undefined) return insertion(firstName.start, `${name}=${value}, `);
  // Arguments by position must stay in front.
  const last = all.at(-1);
  if (last !== undefined) return insertion(last.end, `, ${name}=${value}`);
  const start = declaration.tokens[declaration.open]?.end ?? 0;
  return { ...insertion(start, `${name}=${value}`), separator: ", " };
}

/** The edit that removes an argument of a program's declaration, which must not be its only one; undefined if it is not there by its name. */
export function withoutArgument(
  { file, line, source }: DeclarationPlace,
  name: string,
): Edit | undefined {
  const declaration = declarationAt(source, line);
  const all = declaration === undefined ? [] : argumentsOf(declaration);
  const index = all.findIndex((argument) => argument.name === name);
  const [before, argument, after] = [all[index - 1], all[index], all[index + 1]];
  if (argument === undefined) return undefined;
  if (before !== undefined) return { file, start: before.end, end: argument.end, text: "" };
  return after && { file, start: argument.start, end: after.start, text: "" };
}

/** What is written for an argument of a program's declaration. */
export function argumentText(
  { line, source }: Omit<DeclarationPlace, "file">,
  [name, position]: NamedArgument,
): string | undefined {
  const declaration = declarationAt(source, line);
  const found = declaration && argumentNamed(argumentsOf(declaration), name, position);
  return found && source.slice(found.valueStart, found.end);
}

/** Whether a program's declaration has an argument, by its name or its position. */
export const hasArgument = (
  place: Omit<DeclarationPlace, "file">,
  argument: NamedArgument,
): boolean => argumentText(place, argument) !== undefined;
