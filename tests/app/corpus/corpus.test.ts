import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sharedOrSkip } from "../../shared.ts";
import { DIFFERENCES, isRefused } from "./differences.ts";
import { type CliCase, type Outcome, runCase } from "./run-case.ts";

// What real programs with Hydra printed, wrote and returned, replayed by programs with ours.
const shared = sharedOrSkip("command lines of real Hydra programs");
const root = shared === null ? null : join(shared, "conformance/cli");

const suites = (root === null ? [] : readdirSync(root)).flatMap((name) => {
  const file = join(root ?? "", name, "cases.jsonl");
  if (!existsSync(file)) return [];
  const cases: CliCase[] = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return [{ name, cases: cases.filter((one) => !isRefused(one, name)) }];
});

test("there are cases wherever ../shared is", () => {
  expect(suites.length > 0).toBe(root !== null);
});

describe.each(suites.filter(({ cases }) => cases.length > 0))("$name", ({ name, cases }) => {
  test.each(cases.map((one) => [one.id, one] as const))("%s", async (id, one) => {
    const outcome = comparable(await runCase(join(root ?? "", name), one), one);
    const same =
      outcome.exitCode === one.exit_code &&
      (one.stdout === null || outcome.stdout === one.stdout) &&
      JSON.stringify(sorted(outcome.files)) === JSON.stringify(sorted(one.files));
    if (DIFFERENCES.has(id)) {
      expect(same, `no longer different: ${DIFFERENCES.get(id)}`).toBe(false);
      return;
    }
    expect(outcome.exitCode, outcome.stderr).toBe(one.exit_code);
    if (one.stdout !== null)
      expect(outcome.stdout).toBe(comparable({ ...outcome, stdout: one.stdout }, one).stdout);
    expect(outcome.files).toEqual(one.files);
    if (one.exit_code !== 0) expect(outcome.stderr).not.toBe("");
  });
});

/** Tables with paths in them are as wide as the paths were where they were recorded. */
function comparable(outcome: Outcome, { argv, stdout_mode: mode }: CliCase): Outcome {
  const isTable = mode === "table" || argv.includes("config");
  return isTable ? { ...outcome, stdout: squeeze(outcome.stdout) } : outcome;
}

const squeeze = (text: string): string =>
  text.replaceAll(/ {2,}/g, "  ").replaceAll(/-{3,}/g, "---");

const sorted = (files: Readonly<Record<string, string>>) => Object.entries(files).sort();
