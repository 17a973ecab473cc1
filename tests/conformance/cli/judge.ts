import { isDeepStrictEqual } from "node:util";
import { type Outcome, PASS } from "../suite.ts";
import { comparableStdout } from "./allowances.ts";
import type { CliCase, Outcome as RunOutcome } from "./run-case.ts";
import { missingFact } from "./stderr.ts";

type Run = (argv: readonly string[]) => Promise<RunOutcome>;

/**
 * Whether a program of ours did what the recorded one did: its exit code, everything it printed to
 * standard output, every file it made with its content, and the facts of what it said on standard
 * error.
 */
export async function judgeCli(testCase: CliCase, run: Run): Promise<Outcome> {
  const actual = await run(testCase.argv);
  const together = overridesTogether(testCase);
  if (together !== null) return judgeExtension(actual, await run(together));
  const expected = {
    exitCode: testCase.exit_code,
    stdout: testCase.stdout,
    files: testCase.files,
  };
  const shown = {
    exitCode: actual.exitCode,
    stdout: testCase.stdout === null ? null : actual.stdout,
    files: actual.files,
  };
  const fail = (why: string): Outcome => ({
    pass: false,
    expected: { ...expected, stderr: testCase.stderr_contains ?? [] },
    actual: { ...shown, stderr: actual.stderr },
    why,
  });
  if (shown.exitCode !== expected.exitCode) return fail(`exit code ${shown.exitCode}`);
  const [left, right] = comparableStdout(testCase, actual.stdout);
  if (left !== right) return fail("other standard output");
  const files = withoutTracebacks(expected.files, shown.files);
  if (!isDeepStrictEqual(files[0], files[1]))
    return fail(fileDifference({ files: files[0] }, { files: files[1] }));
  const fact = missingFact(testCase, actual.stderr);
  return fact === null ? PASS : fail(`standard error does not say: ${fact}`);
}

/**
 * argparse wants all overrides in one run of words and refuses the others as unrecognized. Here they
 * may stand on both sides of a flag, an extension that is asked for. The command line with its
 * flags first, or null for a case that is about something else.
 */
function overridesTogether({ argv, exit_code, stderr_contains = [] }: CliCase) {
  const refused = /: error: unrecognized arguments: (.*)$/.exec(stderr_contains.at(-1) ?? "")?.[1];
  if (exit_code !== 2 || refused === undefined || refused.startsWith("-")) return null;
  const late = wordsIn(refused, argv);
  const first = argv.findIndex((word) => !word.startsWith("-") && word.includes("="));
  const flag = argv.findIndex((word, index) => index > first && word.startsWith("-"));
  const overrides = [...argv.slice(first, flag < 0 ? argv.length : flag), ...late];
  return [...argv.filter((word) => !overrides.includes(word)), ...overrides];
}

/** The words that a text is made of, with a blank between them: a word may hold blanks itself. */
function wordsIn(text: string, argv: readonly string[]): readonly string[] {
  let rest = `${text} `;
  return argv.filter((word) => {
    if (!rest.startsWith(`${word} `)) return false;
    rest = rest.slice(word.length + 1);
    return true;
  });
}

function judgeExtension(actual: RunOutcome, together: RunOutcome): Outcome {
  if (isDeepStrictEqual(actual, together)) return PASS;
  return { pass: false, expected: together, actual, why: "not as with the overrides together" };
}

type Files = Readonly<Record<string, string>>;

/** A log that ends with a traceback ends with our own account of the error, which must have the facts of it. */
function withoutTracebacks(expected: Files, actual: Files): readonly [Files, Files] {
  const left = { ...expected };
  const right = { ...actual };
  for (const [name, text] of Object.entries(expected)) {
    const at = text.indexOf(TRACEBACK);
    const ours = actual[name];
    if (at < 0 || ours === undefined) continue;
    const facts = text.slice(at + TRACEBACK.length).split("\n");
    const told = ours.slice(0, at) === text.slice(0, at) ? ours.slice(at) : "";
    if (missingFact({ stderr_contains: facts.filter((line) => line !== "") }, told) !== null)
      continue;
    left[name] = text.slice(0, at);
    right[name] = ours.slice(0, at);
  }
  return [left, right];
}

const TRACEBACK = "Traceback (most recent call last):\n";

interface Compared {
  readonly files: Readonly<Record<string, string>>;
}

function fileDifference({ files: expected }: Compared, { files: actual }: Compared): string {
  for (const name of Object.keys(expected))
    if (!Object.hasOwn(actual, name)) return `no file ${name}`;
  for (const name of Object.keys(actual))
    if (!Object.hasOwn(expected, name)) return `a file ${name} too many`;
  return `other content of ${Object.keys(expected).find((name) => expected[name] !== actual[name])}`;
}
