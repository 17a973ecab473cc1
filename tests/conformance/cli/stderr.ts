import { namesIn } from "../error-subjects.ts";
import type { CliCase } from "./run-case.ts";

/**
 * The first thing that the recorded standard error says and ours does not; null for none. A line must
 * occur as it is, or its facts must: the names in it, and for a usage text Hydra's flags. What only
 * tells of Python (exception classes, types of objects, frames, what its parser generator expected)
 * is no fact.
 */
export function missingFact(
  { stderr_contains = [] }: Pick<CliCase, "stderr_contains">,
  actual: string,
): string | null {
  if (stderr_contains.length > 0 && actual.trim() === "") return "anything";
  // An accident in the middle of Python's own reporting: all that follows is about itself.
  const accident = stderr_contains.findIndex((line) => line.startsWith("An error occurred during"));
  const lines = accident < 0 ? stderr_contains : stderr_contains.slice(0, accident);
  // A traceback tells of causes first, and of the same again: there the order is Python's.
  const isChained = lines.some((line) => CHAIN.test(line));
  let from = 0;
  for (const line of lines) {
    if (isPython(line)) continue;
    const text = [line.trim(), withoutClasses(line)].find((form) => actual.includes(form));
    const at = text === undefined ? -1 : actual.indexOf(text, from);
    if (text !== undefined && at < 0 && !isChained) return `${line} (in this order)`;
    if (text !== undefined) from = isChained ? 0 : at + text.length;
    else if (!factsOf(line).every((fact) => actual.includes(fact))) return line;
  }
  return null;
}

const EXCEPTION =
  /^(?:UserWarning|[A-Za-z_.]*\b[A-Z]\w*(?:Error|Exception|Warning|Value|Type))(?:: |$)/;

const CHAIN = /^(?:The above exception was the direct cause|During handling of the above)/;

/** Lines that tell of Python only. */
const PYTHON: readonly RegExp[] = [
  /^Hydra14MigrationWarning: $/,
  // What Python's internals say when they are surprised.
  /^(?:Assertion|Attribute|Index|Type)Error\b/,
  /^\s+(?:object_type|reference_type)=/,
  // The line of Python's source that a warning stands for, as Python shows it below.
  /^\s+(?:@hydra\.main\(.*\)|ret = run_job\(|print\(OmegaConf\.to_yaml\(cfg(?:, resolve=True)?\)\))$/,
  CHAIN,
  /^See https:\/\/hydra\.cc\/docs\/1\.2\/advanced\/override_grammar/,
  /^Hydra 1\.4 will|^Before upgrading to Hydra 1\.4|^See https:\/\/hydra\.cc\/docs\/upgrades\/1\.3_to_1\.4/,
  // Tokens of a generated parser: the caret below the override says where.
  /^(?:LexerNoViableAltException: |no viable alternative|mismatched input|extraneous input|missing \S+ at )/,
];

const isPython = (line: string): boolean =>
  PYTHON.some((pattern) => pattern.test(line) || pattern.test(withoutClasses(line)));

/** What must be in our text where a line is not there as it is. */
function factsOf(line: string): readonly string[] {
  if (/^(?:usage: | {17}\[)/.test(line))
    return [...line.matchAll(/--[\w-]+|\[overrides \.\.\.\]/g)].map(([flag]) => flag);
  const usage = /^my_app\.py(: error: .*)$/.exec(line)?.[1];
  if (usage !== undefined) return [`my_app${usage}`];
  const fullKey = /^\s*full_key: (.*)$/.exec(line)?.[1];
  if (fullKey !== undefined) return [fullKey];
  const place = /^\s+in "(?:<DIR>\/)?(.*)", line (\d+), column (\d+)$/.exec(line);
  if (place !== null) return [`${place[2]}`];
  const available = /^Available: (\S+)$/.exec(line)?.[1];
  if (available !== undefined) return available.split(",");
  const text = withoutClasses(line);
  const names = namesIn(text);
  if (names.length > 0) return names;
  // A key may be called as a word of Python's is.
  const quoted = [...text.matchAll(/'([^']*)'/g)].map(([, name = ""]) => name);
  return quoted.length > 0 ? quoted : [text];
}

/** Python's classes, also those that are raised while another is. */
function withoutClasses(line: string): string {
  const bare = line
    .trim()
    .replace(EXCEPTION, "")
    .replace(/^\w+ (?:raised )?while resolving interpolation: /, "")
    .replace(/^\w+ while evaluating /, "");
  return /^"(.*)"$/.exec(bare)?.[1] ?? bare;
}
