/** Gates for CI: the language of `--fail-on`, and conditions on a comparison that fail a build. */

import { alternativesTo, ConfigError, nearest } from "../../engine/values/errors.ts";
import { matchesGlob, parseGlob } from "../../foundation/text/glob.ts";
import { plural } from "../../foundation/text/plural.ts";
import { formatNumber } from "../../pages/numbers.ts";
import { familyKey, familyRows } from "../model/families.ts";
import { pathLines, pathWords } from "../model/region-path.ts";
import { meanOfPairs, TOO_FEW_RUNS } from "./change.ts";
import type { ReportComparison } from "./compare-reports.ts";
import type {
  Change,
  Changes,
  Gate,
  GateResult,
  Presence,
  RegionChange,
} from "./comparison-types.ts";
import {
  beyondT,
  confidenceSequence,
  LEVEL,
  quantile975,
  rejectedByHolm,
  sequentialTest,
} from "./evidence.ts";

/**
 * @throws ConfigError `profile.gate` for a condition about something that neither report has, or that
 *   not both looked for: it would always pass
 */
export function checkGates(
  gates: readonly Gate[],
  comparison: ReportComparison,
): readonly GateResult[] {
  return gates.flatMap((gate) => checkGate(readingOf(gate, comparison), comparison));
}

/**
 * Names of the program's own numbers may contain dots and blanks, and so may labels: in `load.payload.sum` the name begins at the
 * last dot at which a region and its number are found.
 */
function readingOf(gate: Gate, { regions }: ReportComparison): Gate {
  if (gate.subject.kind !== "region" || !PROGRAM_NUMBER.test(gate.name)) return gate;
  const { pattern } = gate.subject;
  const has = ({ pattern: glob, name }: { readonly pattern: string; readonly name: string }) => {
    const tokens = parseGlob(glob);
    return regions.some(
      ({ path, changes }) =>
        Object.hasOwn(changes, name) &&
        [path.at(-1) ?? "", path.join(" / ")].some((label) => matchesGlob(tokens, label)),
    );
  };
  for (let dot = pattern.length; dot > 0; dot = pattern.lastIndexOf(".", dot - 1)) {
    const name = [pattern.slice(dot + 1), gate.name].filter((part) => part !== "").join(".");
    const reading = { pattern: pattern.slice(0, dot), name };
    if (has(reading))
      return { ...gate, name, subject: { kind: "region", pattern: reading.pattern } };
  }
  return gate;
}

/** How the names of numbers of payloads and counters end. */
const PROGRAM_NUMBER = /(?:^|\.)(?:sum|mean|min|max|per_second)$/;

/**
 * The numbers of a failed run cannot be checked: whatever it did not reach looks faster.
 *
 * @throws ConfigError `profile.gate` that names the run that failed
 */
export function refuseFailed({ a, b }: ReportComparison): void {
  for (const [name, { failure }] of [["A", a] as const, ["B", b] as const])
    if (failure !== undefined)
      throw new ConfigError({
        code: "profile.gate",
        message: `--fail-on: ${name} failed: ${failure}; limits cannot be checked against an incomplete run`,
        hint: "profile it again, or use --allow-failed if this failure is expected",
      });
}

interface Candidate {
  readonly label: string;
  /** Absent for totals. */
  readonly presence?: Presence;
  readonly changes: Changes;
}

interface NamedCandidate extends Candidate {
  /** The names that a pattern may match, the short one first. */
  readonly names: readonly string[];
  /** Whether it is the time outside all ranges. */
  readonly isOutside?: boolean;
  /** The key of a region's family. */
  readonly family?: string;
}

interface RegionCandidate extends NamedCandidate {
  readonly family: string;
}

function checkGate(gate: Gate, comparison: ReportComparison): readonly GateResult[] {
  const candidates = candidatesOf(gate, comparison);
  const measured = candidates.flatMap(({ label, changes }) => {
    const change = Object.hasOwn(changes, gate.name) ? changes[gate.name] : undefined;
    return change === undefined ? [] : [{ label, change, p: chanceOf(gate, change) }];
  });
  const tests = measured.flatMap(({ p }) => p ?? []);
  const rejected = rejectedByHolm(tests);
  let test = 0;
  const found = measured.map(({ label, change, p }) => {
    const proof = p === null ? null : { isProven: rejected[test++] === true, tested: tests.length };
    return { change, result: judge(gate, label, change, proof) };
  });
  const results = found.map(({ result }) => result);
  if (results.some(({ outcome }) => outcome !== "unchecked")) return results;
  if (found.some(({ change }) => change.a !== null && change.b !== null)) throw ofOtherWork(gate);
  if (candidates.some(({ presence }) => presence === "left_out")) throw nothingLookedFor(gate);
  const names = [...new Set(candidates.flatMap(({ changes }) => Object.keys(changes)))];
  throw new ConfigError({
    code: "profile.gate",
    message: `--fail-on: '${gate.text}': neither report has ${gate.name} there`,
    ...alternativesTo(gate.name, names),
  });
}

/** A pattern may include regions that were left out, but a condition must check something. */
const nothingLookedFor = ({ text }: Gate): ConfigError =>
  new ConfigError({
    code: "profile.gate",
    message: `--fail-on: '${text}': nothing to check, since one report leaves out everything that the condition names, by its selection or as too many regions`,
    hint: "profile both with a selection that includes it (include, exclude), or remove the condition",
  });

const ofOtherWork = ({ text, name }: Gate): ConfigError =>
  new ConfigError({
    code: "profile.gate",
    message: `--fail-on: '${text}': ${name} cannot be compared: the reports differ in selection or unit`,
    hint: "compare without the condition to see which in the notes; profile both with the same selection (include, exclude, kernels), or name a region that both have: region:GLOB.NAME",
  });

function candidatesOf({ subject, text }: Gate, comparison: ReportComparison): readonly Candidate[] {
  if (subject.kind === "totals") return [{ label: "all", changes: comparison.totals }];
  const all: readonly NamedCandidate[] =
    subject.kind === "region"
      ? regionCandidates(familyRows(comparison.regions, comparison.families))
      : comparison.kernels.map(({ kernel_name, presence, changes }) => ({
          names: [kernel_name],
          label: kernel_name,
          presence,
          changes,
        }));
  const tokens = parseGlob(subject.pattern);
  // The time outside all ranges is no region of the program, so wildcards do not match it.
  const meansOutside = subject.pattern.includes("outside");
  const isNamed = ({ names, isOutside }: NamedCandidate): boolean =>
    (meansOutside || isOutside !== true) && names.some((name) => matchesGlob(tokens, name));
  const chosen = all.filter(isNamed);
  if (subject.kind === "region") chosen.push(...membersBeside(chosen, isNamed, comparison));
  if (chosen.length > 0) return chosen;
  const names = [...new Set(all.flatMap(({ names: [name] }) => name ?? []))];
  throw new ConfigError({
    code: "profile.gate",
    message: `--fail-on: '${text}': no ${subject.kind} matches '${subject.pattern}' in either report`,
    ...alternativesTo(subject.pattern, names),
  });
}

/** By name, path, path with domains, and path with kind: each distinguishes regions that differ only in it. */
function regionCandidates(regions: readonly RegionChange[]): readonly RegionCandidate[] {
  const lineOf = pathLines(regions);
  return regions.map((region) => {
    const { path, presence, changes } = region;
    const label = lineOf(region);
    const names = [path.at(-1) ?? "", path.join(" / "), path.join(" > "), pathWords(region), label];
    const isOutside = region.kind === "outside";
    return { names, label, presence, changes, isOutside, family: familyKey(region) };
  });
}

/** Single regions that a pattern names without naming their family. */
function membersBeside(
  chosen: readonly NamedCandidate[],
  isNamed: (candidate: NamedCandidate) => boolean,
  { regions, families, members }: ReportComparison,
): readonly NamedCandidate[] {
  const chosenFamilies = new Set(chosen.map(({ family }) => family));
  const all = families.length + members.length === 0 ? [] : [...regions, ...members];
  return regionCandidates(all).filter(
    (candidate) => !chosenFamilies.has(candidate.family) && isNamed(candidate),
  );
}

/** The result of testing one number, and how many are tested together with it. */
interface Proof {
  readonly isProven: boolean;
  readonly tested: number;
}

/**
 * The probability of such a change, or a larger one, if the number is not past the limit; null if no spread is known.
 */
function chanceOf(gate: Gate, change: Change): number | null {
  const { delta, uncertainty, freedom = Number.POSITIVE_INFINITY } = change;
  if (delta === null || change.verdict === "left_out") return null;
  if (change.log_ratios !== undefined) return pairedChances(gate, change).past;
  if (change.too_few_runs === true || uncertainty === null || uncertainty === 0) return null;
  // The interval is a 95 % interval, so its half width is the quantile times the standard error.
  return beyondT((delta / uncertainty) * quantile975(freedom), freedom);
}

/** The probabilities of being wrong in concluding from pairs of runs that the change is, or is not, past the limit. */
function pairedChances({ operator, limit, percent }: Gate, { a, log_ratios = [] }: Change) {
  const share = percent ? limit / 100 : limit / (a ?? 0);
  const bound = share <= -1 ? Number.NEGATIVE_INFINITY : Math.log1p(share);
  const { above, below } = sequentialTest(log_ratios, bound);
  return operator.startsWith(">") ? { past: above, within: below } : { past: below, within: above };
}

function judge(gate: Gate, label: string, change: Change, proof: Proof | null): GateResult {
  const { operator, limit, percent } = gate;
  if (change.verdict === "left_out")
    return {
      gate,
      outcome: "unchecked",
      reason: `${reasonStart(gate, label)}: ${text(change.a)} -> ${text(change.b)}: ${whyLeftOut(change)}`,
    };
  if (change.a !== null && change.b === null)
    return {
      gate,
      outcome: "breached",
      reason: `${reasonStart(gate, label)}: ${text(change.a)} -> none: B measured nothing to check`,
    };
  const value = differenceOf(change, percent);
  const isPast = IS_PAST[operator](value, limit);
  const isPaired = change.log_ratios !== undefined;
  // The runs of this comparison may vary less than those of the calibration by luck.
  const isTooSmall = isPaired && Math.abs(differenceOf(change, true)) < effectOf(change);
  const decided = isPaired
    ? (!(isTooSmall && isPast) && proof?.isProven === true) ||
      pairedChances(gate, change).within <= LEVEL
    : undefined;
  const isTooFew = change.too_few_runs === true;
  const isUnproven =
    isTooFew ||
    isTooSmall ||
    (isPaired || (proof?.tested ?? 1) > 1 ? proof?.isProven === false : isWithinNoise(change));
  const outcome = !isPast ? "passed" : isUnproven ? "unclear" : "breached";
  const noise = outcome === "breached" || isPaired ? null : noiseBeyond(gate, change);
  const tested = proof !== null && proof.tested > 1 ? proof.tested : undefined;
  const words = [
    ...(isPaired ? [intervalOf(change, percent)] : []),
    ...(tested === undefined ? [] : [`corrected for ${tested} tests`]),
    ...(decided === false ? ["not decided"] : []),
    ...(effectOf(change) > 0
      ? [`the smallest effect that could have been seen is ${shortNumber(effectOf(change))} %`]
      : []),
    ...(isTooFew ? [`${TOO_FEW_RUNS}${isPast ? STRICT_FAILS : ""}`] : []),
  ];
  return {
    gate,
    outcome,
    reason: `${reasonOf(gate, label, change, value, noise)}${words.map((text) => `; ${text}`).join("")}`,
    ...(tested !== undefined && { tested }),
    ...(isTooFew && { too_few_runs: true as const }),
    ...(decided !== undefined && { decided }),
  };
}

/** Of the ratios of pairs, in the unit of the limit. */
function intervalOf({ a, log_ratios = [] }: Change, percent: boolean): string {
  const { low, high } = confidenceSequence(log_ratios);
  const whole = percent ? 100 : (a ?? 0);
  const shown = (log: number) => formatNumber(Number((Math.expm1(log) * whole).toPrecision(3)));
  const pairs = `by the ratios of ${plural(log_ratios.length, "pair")}${percent ? "" : ", times A"}`;
  return Number.isFinite(high)
    ? `${pairs}: ${shown(low)} to ${shown(high)}${percent ? " %" : ""}`
    : pairs;
}

/** The smallest effect in percent, by a calibration; 0 without one. */
const effectOf = ({ smallest_effect = 0 }: Change): number => smallest_effect * 100;

const shortNumber = (value: number): string => formatNumber(Number(value.toPrecision(3)));

const STRICT_FAILS = "; --strict fails it as it is";

const IS_PAST: Readonly<Record<Gate["operator"], (value: number, limit: number) => boolean>> = {
  ">": (value, limit) => value > limit,
  ">=": (value, limit) => value >= limit,
  "<": (value, limit) => value < limit,
  "<=": (value, limit) => value <= limit,
};

/** A new number changed by its full value, which is infinite in percent. */
function differenceOf({ a, b, log_ratios }: Change, percent: boolean): number {
  const base = a ?? 0;
  const share = log_ratios && meanOfPairs(log_ratios);
  const delta = share === undefined ? (b ?? 0) - base : base * share;
  if (!percent || delta === 0) return delta;
  return (delta / base) * 100;
}

/** A difference is excused only by a known spread; without one, the limit applies. */
const isWithinNoise = ({ delta, uncertainty }: Change): boolean =>
  delta !== null && uncertainty !== null && Math.abs(delta) <= uncertainty && uncertainty > 0;

/**
 * The noise in the unit of the limit, if it exceeds the limit: readers must know that a change of that size would also
 * pass.
 */
function noiseBeyond({ limit, percent }: Gate, { a, uncertainty }: Change): number | null {
  if (uncertainty === null || a === null) return null;
  const noise = percent ? (uncertainty / a) * 100 : uncertainty;
  return Number.isFinite(noise) && noise > Math.abs(limit) ? noise : null;
}

function reasonOf(
  gate: Gate,
  label: string,
  { a, b }: Change,
  value: number,
  noise: number | null,
): string {
  const unit = gate.percent ? " %" : "";
  const shown = Number.isFinite(value)
    ? `${value > 0 ? "+" : ""}${formatNumber(value)}${unit}`
    : "new";
  const limit = `limit ${gate.operator}${gate.limit}${gate.percent ? "%" : ""}`;
  const beyond =
    noise === null ? "" : `; noise ±${formatNumber(Number(noise.toPrecision(3)))}${unit}`;
  return `${reasonStart(gate, label)}: ${text(a)} -> ${text(b)} (${shown}; ${limit}${beyond})`;
}

const reasonStart = ({ name, subject }: Gate, label: string): string =>
  subject.kind === "totals" ? name : `${name} of ${subject.kind} ${label}`;

/** Names the report without a number; if both have one, the numbers are of different work. */
const whyLeftOut = ({ a, b }: Change): string =>
  a !== null && b !== null
    ? "the values are of different work or in different units"
    : `${b === null ? "B" : "A"} does not have it: its selection leaves it out, or it has only its longest regions`;

const text = (value: number | null): string => (value === null ? "none" : formatNumber(value));

// The language of `--fail-on`: `total_ms>5%,region:stem.kernel_count>0` says what may not have changed from A to
// B. A condition is `[region:GLOB.|kernel:GLOB.]NAME OP NUMBER[%]`, and compares the change of that
// number, absolute or in percent of A.

const OPERATORS: readonly Gate["operator"][] = [">", ">=", "<", "<="];

/** The end of a condition. */
const LIMIT = /(>=|<=|>|<)\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)\s*(%?)$/i;
/** The start of a condition on a region or kernel; ambiguous labels are written in quotes. */
const KIND = /^(region|kernel):/i;
const QUOTED = /^"(?:[^"\\]|\\.)*"\./s;

/** The conditions of `--fail-on`, and whether `auto` is among them. */
export interface Conditions {
  readonly gates: readonly Gate[];
  readonly isAuto: boolean;
}

export const NO_CONDITIONS: Conditions = { gates: [], isAuto: false };

/** @throws ConfigError as `parseGates` */
export function parseConditions(texts: readonly string[]): Conditions {
  const isAuto = (part: string) => part.toLowerCase() === "auto";
  const all = texts.map((text) => ({ text, parts: splitConditions(text) }));
  return {
    isAuto: all.some(({ parts }) => parts.some(isAuto)),
    gates: all.flatMap(({ text, parts }) =>
      parts.some(isAuto) ? parts.filter((part) => !isAuto(part)).map(parseGate) : parseGates(text),
    ),
  };
}

/** The condition that `auto` stands for: no region takes certainly longer. */
export const autoGates = (time: string): readonly Gate[] =>
  parseGates(`region:*.${time}>1%`).map((gate) => ({ ...gate, text: "auto" }));

/** @throws ConfigError `app.usage` with the condition and the form it should have */
export function parseGates(text: string): readonly Gate[] {
  const gates = splitConditions(text).map(parseGate);
  if (gates.length === 0)
    throw new ConfigError({ code: "app.usage", message: "--fail-on needs a condition" });
  return gates;
}

function parseGate(text: string): Gate {
  const limit = LIMIT.exec(text);
  const measure = limit === null ? null : parseMeasure(text.slice(0, limit.index).trimEnd());
  const operator = OPERATORS.find((candidate) => candidate === limit?.[1]);
  if (limit === null || measure === null || operator === undefined) throw noCondition(text);
  const [, , number, percent] = limit;
  return { text, ...measure, operator, limit: Number(number), percent: percent === "%" };
}

/** Names the first rule of the grammar that a text breaks. */
function noCondition(text: string): ConfigError {
  const { message, nearest: meant } = whyNoCondition(text);
  return new ConfigError({
    code: "app.usage",
    message: `--fail-on: '${text}' is not a condition: ${message}`,
    nearest: meant,
    hint: "NAME>5%, region:GLOB.NAME>5% or kernel:GLOB.NAME>=0.1, with >, >=, < or <=",
  });
}

function whyNoCondition(text: string): {
  readonly message: string;
  readonly nearest?: string | undefined;
} {
  const [operator] = /(?:[<>]=?|=+|!=)(?=[^<>=]*$)/.exec(text) ?? [];
  if (operator === undefined)
    return { message: `no limit, that is one of ${OPERATORS.join(" ")} and a number` };
  if (!(OPERATORS as readonly string[]).includes(operator))
    return { message: `'${operator}' is none of ${OPERATORS.join(" ")}` };
  const index = text.lastIndexOf(operator);
  const [measure, limit] = [
    text.slice(0, index).trim(),
    text.slice(index + operator.length).trim(),
  ];
  if (!LIMIT.test(`${operator}${limit}`))
    return {
      message:
        limit === ""
          ? `no number behind ${operator}`
          : `'${limit}' is not a number, with or without %`,
    };
  if (measure === "") return { message: `no name of a number before ${operator}` };
  const kind = /^([^:."]*):/.exec(measure)?.[1];
  if (kind !== undefined && !KIND.test(measure)) {
    const meant = nearest(kind, KINDS);
    return {
      message: `'${kind}:' is neither region: nor kernel:`,
      nearest: meant && `${meant}:`,
    };
  }
  if (kind !== undefined)
    return {
      message: `'${measure}' needs a ${kind.toLowerCase()} and, behind a dot, the name of a number`,
    };
  return {
    message: `'${measure}' is not the name of a number; that of a region is region:GLOB.NAME`,
  };
}

const KINDS = ["region", "kernel"] as const;

/** `[region:GLOB.|kernel:GLOB.]NAME`; null if it has another form. */
function parseMeasure(text: string): Pick<Gate, "subject" | "name"> | null {
  const [prefix, kind] = KIND.exec(text) ?? [];
  if (prefix === undefined || kind === undefined)
    return isName(text) ? { subject: { kind: "totals" }, name: text } : null;
  const rest = text.slice(prefix.length);
  const start = rest.startsWith('"') ? (QUOTED.exec(rest)?.[0].length ?? 0) : nameStart(rest);
  const name = rest.slice(start);
  if (start < 2 || !(isName(name) || (rest.startsWith('"') && PROGRAM_NUMBER.test(name))))
    return null;
  const pattern = unquote(rest.slice(0, start - 1));
  const isKernel = kind.toLowerCase() === "kernel";
  return { subject: { kind: isKernel ? "kernel" : "region", pattern }, name };
}

/**
 * The start of the longest name at the end of a text, after a dot; 0 without one. Labels may contain dots, and so may
 * metrics, which are recognised by the `__` in their first word.
 */
function nameStart(text: string): number {
  let found = 0;
  let end = text.length;
  while (end > 0) {
    const dot = text.lastIndexOf(".", end - 1);
    const word = text.slice(dot + 1, end);
    if (dot < 0 || !/^\w+$/.test(word)) return found;
    if (METRIC_WORD.test(word) || (end === text.length && /^[a-z]/i.test(word))) found = dot + 1;
    end = dot;
  }
  return found;
}

const METRIC_WORD = /^[a-z]\w*__\w/i;
const isName = (text: string): boolean =>
  /^[a-z]\w*$/i.test(text) || (METRIC_WORD.test(text) && /^\w+(?:\.\w+)*$/.test(text));

/** Splits at commas outside quotes; an unclosed quote extends to the end. */
function splitConditions(text: string): readonly string[] {
  const parts = text.match(/(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^,"])+/gs) ?? [];
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

const unquote = (pattern: string): string =>
  pattern.startsWith('"') ? pattern.slice(1, -1).replaceAll(/\\(.)/gs, "$1") : pattern;
