import { expect, test } from "vitest";
import { judgeCli } from "./judge.ts";
import type { CliCase, Outcome } from "./run-case.ts";

const CASE: CliCase = {
  id: "x",
  argv: ["a=1"],
  exit_code: 1,
  stdout: "out\n",
  stderr_contains: [
    "Error executing job with overrides: ['a=1']",
    "omegaconf.errors.InterpolationKeyError: Interpolation key 'nope' not found",
    "    object_type=dict",
  ],
  files: { "o/config.yaml": "a: 1\n" },
};
const OURS: Outcome = {
  exitCode: 1,
  stdout: "out\n",
  stderr: "Error executing job with overrides: ['a=1']\nInterpolation key 'nope' not found\n",
  files: { "o/config.yaml": "a: 1\n" },
};

const judge = (changes: Partial<Outcome>, testCase: Partial<CliCase> = {}) =>
  judgeCli({ ...CASE, ...testCase }, async () => ({ ...OURS, ...changes }));

test("passes what says and leaves the same, whatever Python's classes are called", async () => {
  expect(await judge({})).toEqual({ pass: true });
});

test.each<[string, Partial<Outcome>]>([
  ["another exit code", { exitCode: 0 }],
  ["other output", { stdout: "out\n\n" }],
  ["a missing file", { files: {} }],
  ["a file too many", { files: { ...OURS.files, x: "" } }],
  ["another content", { files: { "o/config.yaml": "a: 2\n" } }],
  ["silence on standard error", { stderr: "" }],
  ["another key", { stderr: OURS.stderr.replace("nope", "other") }],
  ["another order", { stderr: OURS.stderr.split("\n").reverse().join("\n") }],
])("fails %s", async (_what, changes) => {
  expect((await judge(changes)).pass).toBe(false);
});

test("of --version and of flags only the facts count", async () => {
  const version = { exit_code: 0, stdout: "Hydra 1.3.5\n", stderr_contains: [], files: {} };
  const ours = { exitCode: 0, files: {}, stderr: "" };
  const said = (stdout: string) => judge({ ...ours, stdout }, version);
  expect((await said("hydraconf 1.0.0 (Hydra 1.3.5)\n")).pass).toBe(true);
  expect((await said("hydraconf 1.0.0 (Hydra 1.3.4)\n")).pass).toBe(false);
  const flags = { ...version, stdout: "t\n--help,-h : a\n--run,-r : b\nOverrides : c\nend\n" };
  const listed = (stdout: string) => judge({ ...ours, stdout }, flags);
  expect(
    (await listed("t\n--help,-h : x\n--run,-r : y\n--more : z\nOverrides : o\nend\n")).pass,
  ).toBe(true);
  expect((await listed("t\n--help,-h : x\nOverrides : o\nend\n")).pass).toBe(false);
  expect((await listed("t\n--help,-h : x\n--run,-r : y\nOverrides : o\nfin\n")).pass).toBe(false);
});

test("overrides on both sides of a flag must give what they give together", async () => {
  const refused = { exit_code: 2, stdout: "", files: {}, argv: ["x=3", "--cfg", "job", "db=pg"] };
  const stderr_contains = ["my_app.py: error: unrecognized arguments: db=pg"];
  const testCase = { ...CASE, ...refused, stderr_contains };
  const seen: unknown[] = [];
  const same = async (argv: readonly string[]) => {
    seen.push(argv);
    return { ...OURS, exitCode: 0 };
  };
  expect((await judgeCli(testCase, same)).pass).toBe(true);
  expect(seen).toEqual([refused.argv, ["--cfg", "job", "x=3", "db=pg"]]);
  const blanks = {
    argv: ["x=3", "-h", "y=a b"],
    stderr_contains: ["my_app.py: error: unrecognized arguments: y=a b"],
  };
  expect((await judgeCli({ ...testCase, ...blanks }, same)).pass).toBe(true);
  expect(seen.at(-1)).toEqual(["-h", "x=3", "y=a b"]);
  const several = { argv: ["y=1", "x=3", "--cfg", "job", "db=pg"] };
  expect((await judgeCli({ ...testCase, ...several }, same)).pass).toBe(true);
  expect(seen.at(-1)).toEqual(["--cfg", "job", "y=1", "x=3", "db=pg"]);
  const other = async (argv: readonly string[]) => ({ ...OURS, exitCode: 0, stdout: argv.join() });
  expect((await judgeCli(testCase, other)).pass).toBe(false);
});
