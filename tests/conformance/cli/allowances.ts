import type { CliCase } from "./run-case.ts";

/**
 * What a case says that is Python's: there the class of outcome counts. Each rule takes what is
 * Python's out of the recorded text and what stands for it out of ours; all else is compared byte for
 * byte.
 */
export function comparableStdout(testCase: CliCase, actual: string): readonly [string, string] {
  const { stdout } = testCase;
  if (stdout === null) return ["", ""];
  if (/^Hydra \d[\w.]*\n$/.test(stdout)) return [stdout, versionLine(actual)];
  if (testCase.exit_code === 0 && testCase.argv.some((word) => /^(un)?install=/.test(word)))
    return ["a script", actual.trim() === "" ? "nothing" : "a script"];
  const wanted = flagNames(stdout);
  const described = [withoutFlags(stdout), withoutFlags(actual)] as const;
  const isTable = testCase.stdout_mode === "table" || testCase.argv.includes("config");
  const [left, right] = isTable ? [squeeze(described[0]), squeeze(described[1])] : described;
  const ours = flagNames(actual);
  return [left + wanted.join(), right + ours.filter((name) => wanted.includes(name)).join()];
}

/** `--version` names our version, too. */
const versionLine = (text: string): string =>
  /\bhydraconf \S+/.test(text)
    ? `${/Hydra \d+\.\d+\.\d+(?:rc\d+|\.dev\d+)?/.exec(text)?.[0]}\n`
    : text;

/** What `$FLAGS_HELP` stands for: from the first flag to the line about overrides. */
const FLAGS = /^--help,-h : [\s\S]*?^Overrides : .*$/m;

/** Flags are described in words of our own; every flag of Hydra's must be there, in its order. */
const withoutFlags = (text: string): string => text.replace(FLAGS, "<flags>");

const flagNames = (text: string): readonly string[] =>
  [...(FLAGS.exec(text)?.[0] ?? "").matchAll(/^(--[\w-]+(?:,-\w+)?) : /gm)].map(
    ([, name = ""]) => name,
  );

/** Tables with paths in them are as wide as the paths were where they were recorded. */
const squeeze = (text: string): string =>
  text.replaceAll(/ {2,}/g, "  ").replaceAll(/-{3,}/g, "---");
