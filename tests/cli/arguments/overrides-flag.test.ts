import { expect, test } from "vitest";
import { parseArgv } from "../../../src/cli/arguments/parse-argv.ts";
import type { Flag } from "../../../src/job/options.ts";

/** A flag of a program's own, of the kind that `--diff` is. */
const FLAGS: readonly Flag[] = [
  { id: "against", names: ["--against"], takes: "overrides", help: "compares" },
  { id: "cfg", names: ["--cfg", "-c"], takes: "value", choices: ["job"], help: "shows" },
];

test.each([
  [["a=1", "--against", "b=2", "c=3"], ["a=1"], ["b=2", "c=3"]],
  [["--against", "b=2", "-c", "job", "c=3"], [], ["b=2", "c=3"]],
  [["a=1", "-c", "job", "--against"], ["a=1"], []],
  [["--against", "a b", "~x", "+y=[1,2]"], [], ["a b", "~x", "+y=[1,2]"]],
])("words behind a flag that takes overrides are its own: %j", (argv, overrides, more) => {
  const parsed = parseArgv(argv, FLAGS);
  expect(parsed.flags.has("against")).toBe(true);
  expect(parsed.overrides).toEqual(overrides);
  expect(parsed.more).toEqual(more);
});

test("without the flag there are no such words", () => {
  expect(parseArgv(["a=1"], FLAGS).more).toBeUndefined();
});
