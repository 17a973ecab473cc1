import type { ConfigError } from "../../src/engine/values/errors.ts";
import type { Origin } from "../../src/engine/values/origin.ts";
import type { ExpectedError } from "./judge.ts";

/**
 * "The message must name the same key, option or position": what Hydra's message is about is taken
 * out of it by the rules below, and each subject must be found in our error (message, key, hint,
 * available names, or the text its origin points at).
 */
interface SubjectRule {
  /** The first thing the message names that our error does not, or null. */
  missing(expected: ExpectedError, error: ConfigError): string | null;
}

const YAML_CLASSES: ReadonlySet<string> = new Set([
  "ReaderError",
  "ScannerError",
  "ParserError",
  "ComposerError",
  "ConstructorError",
]);

/** These messages name tokens of a generated parser; the place is checked by the rules above. */
const TOKEN_MESSAGES =
  /^(?:Error parsing override|Lexer|token recognition|mismatched|extraneous|missing|no viable)/;

/** PyYAML's marks: our error must point into one of the lines it names. */
const yamlPosition: SubjectRule = {
  missing({ error: name, message }, error) {
    const lines = [...message.matchAll(/\bline (\d+), column \d+/g)].map((mark) => Number(mark[1]));
    if (!YAML_CLASSES.has(name) || lines.length === 0) return null;
    const text = searchable(error);
    const found =
      lines.some((line) => lineOf(error.details.origin) === line) ||
      lines.some((line) => new RegExp(`\\bline ${line}\\b|:${line}:`).test(text));
    return found ? null : `line ${lines.join(" or line ")}`;
  },
};

/** OmegaConf's `full_key:` line. */
const fullKey: SubjectRule = {
  missing({ message }, error) {
    const key = /\n\s*full_key: ([^\n]+)/.exec(message)?.[1];
    if (key === undefined || mentions(error, key)) return null;
    return bareKey(key) === bareKey(error.details.key ?? "") ? null : `the key ${key}`;
  },
};

/**
 * A key without what separates its components: OmegaConf puts brackets around the brackets of a key
 * that is selected from a list, and forgets those of list items that were just set.
 */
const bareKey = (key: string): string => key.replaceAll(/[.[\]]/g, "");

/** `ValueError while evaluating 'int(a)': …`: the function call that failed. */
const functionCall: SubjectRule = {
  missing({ message }, error) {
    // What follows may quote values with a colon behind them; the call itself ends with a parenthesis.
    const call = /\b\w+ while evaluating '(.*?\))': /s.exec(message)?.[1];
    return call === undefined || mentions(error, call) ? null : `the call ${call}`;
  },
};

/** ANTLR's messages about a token of an interpolation: our span must start there. */
const interpolationPosition: SubjectRule = {
  missing({ error: name, message: expected }, { details }) {
    const token = misplacedToken(expected);
    if (name !== "GrammarParseError" || token === undefined) return null;
    const { origin, message } = details;
    // Values of a program, and scalars with escapes or folded lines, have no such place in a file:
    // then the message says it.
    const said = escaped(message).includes(token === "<EOF>" ? " at the end " : ` at '${token}`);
    if (said) return null;
    if (origin?.kind !== "file" && origin?.kind !== "override") return `the place of ${token}`;
    const text = origin.kind === "file" ? origin.source.text : origin.text;
    const start = origin.start ?? text.length;
    const here = token === "<EOF>" ? origin.end === start : startsWithToken(text, start, token);
    return here ? null : `the place of ${token}`;
  },
};

/** ANTLR's messages about a token, and the caret of a lexer error: our span must start there. */
const overridePosition: SubjectRule = {
  missing({ error: name, message }, error) {
    if (name === "GrammarParseError") return null;
    const origin = error.details.origin;
    const text = origin?.kind === "override" ? origin.text : null;
    const start = origin?.kind === "override" ? origin.start : undefined;
    const caret = /^LexerNoViableAltException: (.*)\n( *)\^/ms.exec(message);
    if (caret !== null) {
      // The caret counts from the start of the line, before the prefix was put there.
      const column = (caret[2] ?? "").length - "LexerNoViableAltException: ".length;
      // Python counts code points.
      const ours = text === null ? start : [...text.slice(0, start)].length;
      return ours === column ? null : `column ${column}`;
    }
    const at = misplacedToken(message);
    if (at !== undefined) {
      const here = text !== null && start !== undefined && startsWithToken(text, start, at);
      return here ? null : `the place of ${at}`;
    }
    const shown = /^no viable alternative at input '([^\n]*)'$/m.exec(message)?.[1];
    if (shown === undefined || error.code !== "override.syntax") return null;
    if (text === null || start === undefined) return `a place in ${shown}`;
    const inside = touches(escaped(text), escaped(text.slice(0, start)).length, shown);
    return inside ? null : `a place in ${shown}`;
  },
};

/** The token that ANTLR did not expect, as it shows it. */
function misplacedToken(message: string): string | undefined {
  const match =
    /^(?:mismatched|extraneous) input '([^\n]*)' expecting |^missing \S+ at '([^\n]*)'$/m.exec(
      message,
    );
  return match?.[1] ?? match?.[2];
}

/** ANTLR shows line breaks and tabs as escapes. */
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (text: string): string =>
  text.replace(/[\n\r\t]/g, (char) => ESCAPES[char] ?? char);

/** Names that stand in quotes, and the few that Hydra leaves bare. */
const quotedNames: SubjectRule = {
  missing({ error: name, message }, error) {
    const line = message.split("\n", 1)[0] ?? "";
    if (YAML_CLASSES.has(name) || name === "GrammarParseError" || TOKEN_MESSAGES.test(line))
      return null;
    for (const subject of namesIn(line))
      if (!mentions(error, subject) && !mentions(error, fromRepr(subject))) return `'${subject}'`;
    return null;
  },
};

/** What stands where Python shows the text itself as `repr`, which the messages of some classes do. */
const fromRepr = (shown: string): string =>
  shown.replace(/\\(["'\\nrt])/g, (_, char: string) => UNESCAPED[char] ?? char);

const UNESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

const RULES: readonly SubjectRule[] = [
  yamlPosition,
  fullKey,
  functionCall,
  interpolationPosition,
  overridePosition,
  quotedNames,
];

/** What the expected message names and our error does not; null when it names everything. */
export function missingSubject(expected: ExpectedError, error: ConfigError): string | null {
  for (const rule of RULES) {
    const missing = rule.missing(expected, error);
    if (missing !== null) return missing;
  }
  return null;
}

const BARE_NAMES: readonly RegExp[] = [
  /^Missing mandatory value: (\S+)$/,
  /^(\S+) appears more than once/,
  /^Duplicate _self_ defined in (\S+)/,
  /^Error merging override (.+)$/,
];

/** Python's own vocabulary, which stands in quotes but names nothing of the user's. */
const PYTHON_WORDS =
  /^(?:<|>|_\w+_|NoneType|set|str|int|float|bool|dict|list|tuple|bytes|complex|[\w.]*(?:Config|Conf|Sweep|String|Exception|Error))$/;

export function namesIn(line: string): readonly string[] {
  const clean = line
    .replaceAll(/<class '[^']*'>/g, "")
    .replaceAll(/object has no attribute '[^']*'/g, "")
    .replaceAll(/supported between .*/g, "");
  const bare = BARE_NAMES.map((pattern) => pattern.exec(clean)?.[1]);
  const quoted = [...clean.matchAll(/'([^']*)'/g)].map((match) => match[1]);
  return [...bare, ...quoted].filter(
    (name): name is string =>
      name !== undefined && name !== "" && !PYTHON_WORDS.test(name) && !/<[A-Z]+>/.test(name),
  );
}

const mentions = (error: ConfigError, subject: string): boolean =>
  searchable(error).includes(subject);

function searchable({ details }: ConfigError): string {
  const { message, key, hint, available, nearest, origin } = details;
  const parts = [message, key, hint, nearest, ...(available ?? []), textAt(origin)];
  return parts.filter((part) => part !== undefined).join("\n");
}

/** The text that an origin points at: the span, or the lines it lies in for a file. */
function textAt(origin: Origin | undefined): string | undefined {
  if (origin?.kind === "override") return origin.text;
  if (origin?.kind !== "file") return undefined;
  const { text, name } = origin.source;
  const from = text.lastIndexOf("\n", origin.start - 1) + 1;
  const to = text.indexOf("\n", Math.max(origin.start, origin.end));
  return `${name}\n${text.slice(from, to < 0 ? undefined : to)}`;
}

function lineOf(origin: Origin | undefined): number | null {
  if (origin?.kind !== "file") return null;
  return origin.source.text.slice(0, origin.start).split(/\r\n|[\n\r\x85\u2028\u2029]/).length;
}

const startsWithToken = (text: string, start: number, token: string): boolean =>
  token === "<EOF>" ? start === text.length : escaped(text.slice(start)).startsWith(token);

/** Whether `start` lies in, or right behind, an occurrence of `part`. */
function touches(text: string, start: number, part: string): boolean {
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1))
    if (at <= start && start <= at + part.length) return true;
  return false;
}
