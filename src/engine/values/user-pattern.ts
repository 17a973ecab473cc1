/**
 * Regular expressions that users write, in JavaScript's syntax and with its meaning, in a time that is bounded by the
 * length of the text: a backtracking engine can need exponential time, `(a+)+$` for instance.
 *
 * A pattern is compiled by RE2 (re2js), whose time is linear. JavaScript's own engine is several times faster, so it
 * tests those texts for which the pattern provably takes few steps. A replacement is a search for each of its matches.
 */

import type { AST, RegExpParser } from "@eslint-community/regexpp";
import type { RE2JS } from "re2js";
import { isErrorNamed, messageOf } from "../../foundation/system/builtin-types.ts";
import { getOrCreate } from "../../foundation/system/get-or-create.ts";
import { requireDependency } from "./package-info.ts";

/** A compiled pattern that is searched for in texts. */
export interface UserPattern {
  readonly test: (text: string) => boolean;
}

/** A compiled pattern whose matches can be replaced. */
export interface ReplacingPattern extends UserPattern {
  /**
   * As `text.replace(pattern, replacement)` with the flag `g`, with `$1`, `$&` and the like in the replacement; null
   * without a match.
   */
  readonly replaceAll: (text: string, replacement: string) => string | null;
}

/** Why a pattern cannot be used. */
export interface PatternProblem {
  /** `syntax`: not a regular expression of JavaScript; `unbounded`: one whose time has no bound. */
  readonly kind: "syntax" | "unbounded";
  /** Continues a sentence about the pattern: `unterminated group`, `it has a lookahead, ...`. */
  readonly reason: string;
  readonly hint?: string;
}

/** The problem as a message and its remedy. */
export const describeProblem = (
  source: string,
  { hint, kind, reason }: PatternProblem,
): { readonly message: string; readonly hint: string | undefined } =>
  kind === "syntax"
    ? { message: `'${source}' is not a JavaScript regular expression: ${reason}`, hint: ESCAPE }
    : { message: `'${source}' cannot be matched in a bounded time: ${reason}`, hint };

const ESCAPE =
  "put a backslash before special characters that are meant literally: \\( \\[ \\+ \\?";

export type Compiled<Pattern> =
  | { readonly pattern: Pattern; readonly problem?: never }
  | { readonly pattern?: never; readonly problem: PatternProblem };

/**
 * Compiles a pattern that is only searched for, without flags.
 *
 * @param quickSteps texts for which JavaScript's engine provably takes no more steps are left to it
 */
export function compilePattern(source: string, quickSteps = QUICK_STEPS): Compiled<UserPattern> {
  const compiled = compile(source, { flags: "", capturing: false, quickSteps });
  if (compiled.problem !== undefined) return compiled;
  const { isQuick, linear, native } = compiled.pattern;
  return {
    pattern: {
      test: (text) => (isQuick(text) ? native.test(text) : linear.test(withoutSurrogates(text))),
    },
  };
}

/** Compiles a pattern whose matches are replaced, with the flags `gsu`. @param quickSteps as of `compilePattern` */
export function compileReplacing(
  source: string,
  quickSteps = QUICK_STEPS,
): Compiled<ReplacingPattern> {
  const compiled = compile(source, { flags: "su", capturing: true, quickSteps });
  if (compiled.problem !== undefined) return compiled;
  const { isQuick, linear, native, names } = compiled.pattern;
  const everywhere = new RegExp(native, "gsu");
  return {
    pattern: {
      test: (text) => (isQuick(text) ? native.test(text) : linear.test(text)),
      replaceAll(text, replacement) {
        if (!isQuick(text)) return replaceMatches(linear, names, text, replacement);
        return native.test(text) ? text.replace(everywhere, replacement) : null;
      },
    },
  };
}

interface Engines {
  readonly native: RegExp;
  readonly linear: RE2JS;
  /** Whether JavaScript's own engine provably takes few steps for the text. */
  readonly isQuick: (text: string) => boolean;
  readonly names: GroupNames;
}

type GroupNames = ReadonlyMap<string, readonly number[]>;

interface CompileOptions {
  /** `""` as in `new RegExp(source)`; `su` with Unicode, where `.` matches line breaks, too. */
  readonly flags: "" | "su";
  /** Whether groups are kept. */
  readonly capturing: boolean;
  readonly quickSteps: number;
}

function compile(
  source: string,
  { capturing, flags, quickSteps }: CompileOptions,
): Compiled<Engines> {
  let native: RegExp;
  try {
    native = new RegExp(source, flags);
  } catch (error) {
    const said = messageOf(error);
    return {
      problem: { kind: "syntax", reason: said.slice(said.lastIndexOf(": ") + 2).toLowerCase() },
    };
  }
  try {
    const tree = parse(source, flags);
    const { text, names } = translate(tree, { unicode: flags === "su", capturing });
    return {
      pattern: { native, linear: linearEngine(text), names, isQuick: quickness(tree, quickSteps) },
    };
  } catch (error) {
    if (error instanceof Unbounded) return { problem: error.problem };
    // Groups that are nested thousands of times.
    if (isErrorNamed("RangeError", error))
      return { problem: { kind: "unbounded", reason: TOO_DEEP } };
    throw error;
  }
}

/** Ends the translation of a pattern that RE2 cannot match as JavaScript does. */
class Unbounded extends Error {
  readonly problem: PatternProblem;
  constructor(problem: PatternProblem) {
    super(problem.reason);
    this.problem = problem;
  }
}

const unbounded = (reason: string, hint?: string): Unbounded =>
  new Unbounded({ kind: "unbounded", reason, ...(hint !== undefined && { hint }) });

function parse(source: string, flags: CompileOptions["flags"]): AST.Pattern {
  const { RegExpParser: Parser } = requireDependency("@eslint-community/regexpp") as {
    readonly RegExpParser: typeof RegExpParser;
  };
  return new Parser().parsePattern(source, 0, source.length, { unicode: flags === "su" });
}

/** RE2 refuses repetitions that would make its program too large, nested ones included. */
function linearEngine(text: string): RE2JS {
  const { RE2JS: Engine } = requireDependency("re2js") as { readonly RE2JS: typeof RE2JS };
  try {
    return Engine.compile(text);
  } catch {
    throw unbounded(TOO_LARGE, FEWER);
  }
}

/** Nodes of a pattern whose counted repetitions are written out: RE2's time is this times the length of the text. */
const MOST_NODES = 20_000;
const TOO_LARGE = "its counted repetitions make it too large";
const TOO_DEEP = "its groups are nested too deeply";
const FEWER = "use + or * for repetitions of more than a thousand";

// Translation into RE2's syntax. All characters are written by their numbers, so that both mean the same.

interface Translation {
  readonly unicode: boolean;
  /** Whether groups are kept. */
  readonly capturing: boolean;
}

function translate(
  tree: AST.Pattern,
  options: Translation,
): { readonly text: string; readonly names: GroupNames } {
  const names = new Map<string, number[]>();
  let groups = 0;

  const alternatives = (list: readonly AST.Alternative[], within: Repetition): string =>
    list.map(({ elements }) => elements.map((part) => element(part, within)).join("")).join("|");

  const element = (node: AST.Element, within: Repetition): string => {
    switch (node.type) {
      case "Assertion":
        if (node.kind === "start") return "\\A";
        if (node.kind === "end") return "\\z";
        if (node.kind === "word") return node.negate ? "\\B" : "\\b";
        throw unbounded(`it has a ${node.kind}, ${node.raw}`, NO_LOOK);
      case "Backreference":
        throw unbounded(`it has a back reference, ${node.raw}`, NO_REFERENCE);
      case "Character":
      case "CharacterSet":
      case "CharacterClass":
        return classText(charactersOf(node, options), options);
      case "ExpressionCharacterClass":
        throw unbounded(`it has a class with operators, ${node.raw}`);
      case "Group": {
        if (node.modifiers !== null) throw unbounded(`it has flags inside, ${node.raw}`);
        return `(?:${alternatives(node.alternatives, inside(within, node))})`;
      }
      case "CapturingGroup": {
        groups++;
        if (node.name !== null) names.set(node.name, [...(names.get(node.name) ?? []), groups]);
        // JavaScript forgets groups at each repetition, RE2 does not.
        if (options.capturing && within === "optional in repeated")
          throw unbounded(`it repeats a group that may be left out, ${node.raw}`, NO_CAPTURE);
        const text = alternatives(node.alternatives, inside(within, node));
        return options.capturing ? `(${text})` : `(?:${text})`;
      }
      case "Quantifier": {
        const { element: repeated, greedy, max, min } = node;
        // JavaScript refuses a repetition that consumes nothing, where RE2 ends the loop.
        if (max > min && isNullable(repeated))
          throw unbounded(`it repeats a part that can match nothing, ${node.raw}`, NOT_EMPTY);
        const text = element(repeated, repeating(within, min, max));
        const most = max === Number.POSITIVE_INFINITY ? "" : String(max);
        return `(?:${text}){${min},${most}}${greedy ? "" : "?"}`;
      }
    }
  };
  const text = alternatives(tree.alternatives, "once");
  if (sizeOf(tree) > MOST_NODES) throw unbounded(TOO_LARGE, FEWER);
  return { text, names };
}

const NO_LOOK =
  "match what is around it, too, in groups that the replacement repeats: $1; or write the letters that may follow";
const NO_REFERENCE = "write the alternatives out";
const NO_CAPTURE = "write (?:...) for a group that the replacement does not use";
const NOT_EMPTY =
  "let the repeated part match at least one character: (?:a+,?)* instead of (?:a*,?)*";

/** Where a part stands: whether it may be repeated, and left out in a repetition. */
type Repetition = "once" | "repeated" | "optional in repeated";

const inside = (
  within: Repetition,
  { alternatives }: { readonly alternatives: readonly unknown[] },
): Repetition =>
  within === "repeated" && alternatives.length > 1 ? "optional in repeated" : within;

function repeating(within: Repetition, min: number, max: number): Repetition {
  if (within !== "once") return min === 0 ? "optional in repeated" : within;
  return max > 1 ? "repeated" : "once";
}

function isNullable(node: AST.Element): boolean {
  switch (node.type) {
    case "Assertion":
    case "Backreference":
      return true;
    case "Group":
    case "CapturingGroup":
      return node.alternatives.some(({ elements }) => elements.every(isNullable));
    case "Quantifier":
      return node.min === 0 || isNullable(node.element);
    default:
      return false;
  }
}

type CharacterNode = AST.Character | AST.CharacterSet | AST.CharacterClass;

/** Code points, or code units without Unicode: inclusive ranges in ascending order, apart from each other. */
type Ranges = readonly (readonly [first: number, last: number])[];

function charactersOf(node: CharacterNode | AST.CharacterClassRange, options: Translation): Ranges {
  const last = options.unicode ? 0x10ffff : 0xffff;
  switch (node.type) {
    case "Character":
      return [[node.value, node.value]];
    case "CharacterClassRange":
      return [[node.min.value, node.max.value]];
    case "CharacterClass": {
      const ranges = node.elements.flatMap((element) => {
        if (
          element.type === "Character" ||
          element.type === "CharacterSet" ||
          element.type === "CharacterClassRange"
        )
          return charactersOf(element, options);
        throw unbounded(`it has a class with operators, ${node.raw}`);
      });
      return node.negate ? complement(ranges, last) : ranges;
    }
    case "CharacterSet": {
      // With Unicode, `.` matches line breaks: its flags are `su`.
      if (node.kind === "any") return options.unicode ? [[0, last]] : complement(LINE_BREAKS, last);
      const ranges = node.kind === "property" ? charactersWith(node.raw) : SETS[node.kind];
      return node.negate && node.kind !== "property" ? complement(ranges, last) : ranges;
    }
  }
}

const LINE_BREAKS: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** `\d`, `\s`, `\w` of JavaScript without the flag `i`. */
const SETS: Readonly<Record<"digit" | "space" | "word", Ranges>> = {
  digit: [[0x30, 0x39]],
  space: [
    ...([
      [0x09, 0x0d],
      [0x20, 0x20],
      [0xa0, 0xa0],
      [0x1680, 0x1680],
    ] as const),
    ...([
      [0x2000, 0x200a],
      [0x2028, 0x2029],
      [0x202f, 0x202f],
    ] as const),
    ...([
      [0x205f, 0x205f],
      [0x3000, 0x3000],
      [0xfeff, 0xfeff],
    ] as const),
  ],
  word: [
    [0x30, 0x39],
    [0x41, 0x5a],
    [0x5f, 0x5f],
    [0x61, 0x7a],
  ],
};

/** Asks JavaScript's engine, whose version of Unicode counts. Takes some 20 ms. @param property `\p{Lu}`, `\P{Lu}` */
function charactersWith(property: string): Ranges {
  const pattern = new RegExp(`^${property}$`, "u");
  const ranges: [number, number][] = [];
  for (let code = 0; code <= 0x10ffff; code++) {
    if (!pattern.test(String.fromCodePoint(code))) continue;
    const last = ranges.at(-1);
    if (last?.[1] === code - 1) last[1] = code;
    else ranges.push([code, code]);
  }
  return ranges;
}

function complement(ranges: Ranges, last: number): Ranges {
  const left: [number, number][] = [];
  let next = 0;
  for (const [from, to] of [...ranges].sort(([a], [b]) => a - b)) {
    if (from > next) left.push([next, from - 1]);
    next = Math.max(next, to + 1);
  }
  if (next <= last) left.push([next, last]);
  return left;
}

function classText(ranges: Ranges, { unicode }: Translation): string {
  const mapped = unicode ? ranges : ranges.flatMap(withoutSurrogateRange);
  if (mapped.length === 0) return NOTHING;
  const hex = (code: number) => `\\x{${code.toString(16)}}`;
  const [[first, last] = [0, 0]] = mapped;
  if (mapped.length === 1 && first === last) return hex(first);
  return `[${mapped.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join("")}]`;
}

/** Matches no character. */
const NOTHING = "[^\\x{0}-\\x{10ffff}]";

// Without Unicode, JavaScript tests code units, halves of surrogate pairs one by one; RE2 tests code points. So these
// units are moved to code points that no such text has.
const [FIRST_SURROGATE, LAST_SURROGATE, MOVED] = [0xd800, 0xdfff, 0x100000];

function withoutSurrogateRange([from, to]: readonly [number, number]): Ranges {
  const below = [from, Math.min(to, FIRST_SURROGATE - 1)] as const;
  const among = [Math.max(from, FIRST_SURROGATE), Math.min(to, LAST_SURROGATE)] as const;
  const above = [Math.max(from, LAST_SURROGATE + 1), to] as const;
  const moved = [among[0] + MOVED, among[1] + MOVED] as const;
  return [below, above, moved].filter(([first, last]) => first <= last);
}

const withoutSurrogates = (text: string): string =>
  text.replaceAll(/[\ud800-\udfff]/g, (unit) => String.fromCodePoint(unit.charCodeAt(0) + MOVED));

// The bound of a search by JavaScript's engine. It tries the ways in which a pattern can match, one after the other, at
// each place where the pattern's first characters stand. Ways of parts in a row multiply, those of alternatives add up.
// Between two decisions it makes as many steps as the pattern has nodes, so their product bounds the steps.

/** RE2 needs a comparable time for labels of usual lengths. */
const QUICK_STEPS = 200_000;

/** Tells the texts for which JavaScript's engine takes at most so many steps. */
function quickness(tree: AST.Pattern, most: number): (text: string) => boolean {
  const size = 2 * sizeOf(tree);
  const group = { type: "Group", alternatives: tree.alternatives } as const;
  const startsIn = placesOf(tree);
  const stepsByLength = new Map<number, number>();
  return (text) => {
    const { length } = text;
    if (length > most) return false;
    const steps = getOrCreate(stepsByLength, length, () => size * waysOf(group, length));
    return steps <= most && length + steps * startsIn(text) <= most;
  };
}

/** Counts the places of a text at which the pattern can begin. */
function placesOf({ alternatives: [only, ...others] }: AST.Pattern): (text: string) => number {
  const everywhere = ({ length }: string) => length + 1;
  if (only === undefined || others.length > 0) return everywhere;
  const [first] = only.elements;
  if (first?.type === "Assertion" && first.kind === "start") return () => 1;
  const end = only.elements.findIndex(({ type }) => type !== "Character");
  const characters = only.elements.slice(0, end < 0 ? undefined : end);
  const start = characters
    .map((character) =>
      character.type === "Character" ? String.fromCodePoint(character.value) : "",
    )
    .join("");
  if (start === "") return everywhere;
  return (text) => {
    let count = 0;
    for (let index = text.indexOf(start); index >= 0; index = text.indexOf(start, index + 1))
      count++;
    return count;
  };
}

/** More are not counted exactly. */
const MOST_WAYS = 1e9;

type Alternatives = Pick<AST.Group, "type" | "alternatives">;

/** In how many ways the part can match, at most, at one place of a text with so many characters. */
function waysOf(node: AST.Element | Alternatives, length: number): number {
  switch (node.type) {
    case "Group":
    case "CapturingGroup":
      return node.alternatives
        .map(({ elements }) => product(elements.map((element) => waysOf(element, length))))
        .reduce((sum, ways) => sum + ways, 0);
    case "Quantifier": {
      const ways = waysOf(node.element, length);
      // Each repetition beyond the least consumes a character.
      const most = Math.min(node.max, node.min + length);
      if (ways === 1) return most - node.min + 1;
      let sum = 0;
      for (let times = node.min; times <= most && sum <= MOST_WAYS; times++) sum += ways ** times;
      return sum;
    }
    default:
      return 1;
  }
}

const product = (factors: readonly number[]): number =>
  factors.reduce((all, factor) => all * factor, 1);

/** Nodes of the pattern, with counted repetitions written out. */
function sizeOf(node: AST.Element | AST.Pattern): number {
  switch (node.type) {
    case "Pattern":
    case "Group":
    case "CapturingGroup":
      return node.alternatives
        .flatMap(({ elements }) => elements.map(sizeOf))
        .reduce((sum, size) => sum + size, node.alternatives.length);
    case "Quantifier": {
      const times = Number.isFinite(node.max) ? node.max : node.min + 1;
      return 1 + Math.max(times, 1) * sizeOf(node.element);
    }
    default:
      return 1;
  }
}

// Replacement, as `String.prototype.replace` does it.

function replaceMatches(
  engine: RE2JS,
  names: GroupNames,
  text: string,
  replacement: string,
): string | null {
  const matcher = engine.matcher(text);
  const pieces: string[] = [];
  let copied = 0;
  for (let offset = 0; offset <= text.length && matcher.find(offset); ) {
    const [start, end] = [matcher.start(), matcher.end()];
    const group = (index: number) => matcher.group(index) ?? "";
    pieces.push(text.slice(copied, start));
    pieces.push(
      expanded(replacement, { text, start, end, group, groups: matcher.groupCount(), names }),
    );
    copied = end;
    // After an empty match the search continues behind the next character.
    offset = end > start ? end : end + String.fromCodePoint(text.codePointAt(end) ?? 0).length;
  }
  return pieces.length === 0 ? null : pieces.join("") + text.slice(copied);
}

interface Match {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly group: (index: number) => string;
  readonly groups: number;
  readonly names: GroupNames;
}

const expanded = (replacement: string, match: Match): string =>
  replacement.replaceAll(
    /\$(?:([$&`'])|(\d{1,2})|<([^>]*)>)/g,
    (whole, sign?: string, digits?: string, name?: string) => {
      if (sign === "$") return "$";
      if (sign === "&") return match.group(0);
      if (sign === "`") return match.text.slice(0, match.start);
      if (sign === "'") return match.text.slice(match.end);
      if (digits !== undefined) return numbered(digits, match) ?? whole;
      if (match.names.size === 0) return whole;
      return (match.names.get(name ?? "") ?? []).map(match.group).join("");
    },
  );

/** `$12` is group 12 if there is one, else group 1 and a 2. */
function numbered(digits: string, { group, groups }: Match): string | undefined {
  if (isGroup(Number(digits), groups)) return group(Number(digits));
  const first = Number(digits[0]);
  return digits.length === 2 && isGroup(first, groups) ? `${group(first)}${digits[1]}` : undefined;
}

const isGroup = (index: number, groups: number): boolean => index >= 1 && index <= groups;
