import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HYDRA_FLAGS } from "../../../../src/app/cli/arguments/hydra-flags.ts";
import { parseArgv, parseIntermixed } from "../../../../src/app/cli/arguments/parse-argv.ts";
import type { Flag } from "../../../../src/app/job/options.ts";
import { isConfigError } from "../../../../src/engine/values/errors.ts";
import { runs } from "../../../runs.ts";

const parse = (...argv: string[]) => {
  const { flags, overrides, rest } = parseArgv(argv, HYDRA_FLAGS);
  return { ...Object.fromEntries(flags), overrides, ...(rest === undefined ? {} : { rest }) };
};

const usageError = (...argv: string[]): string => {
  try {
    parse(...argv);
  } catch (error) {
    if (isConfigError(error) && error.code === "app.usage") return error.message;
    throw error;
  }
  throw new Error(`accepted: ${argv.join(" ")}`);
};

describe("parseArgv", () => {
  test.each<[string[], object]>([
    [[], { overrides: [] }],
    [["x=1", "db=pg"], { overrides: ["x=1", "db=pg"] }],
    [["--cfg", "job"], { cfg: "job", overrides: [] }],
    [["--cfg=job"], { cfg: "job", overrides: [] }],
    [["-cjob"], { cfg: "job", overrides: [] }],
    [["-c=job"], { cfg: "job", overrides: [] }],
    [["-cn", "alt"], { "config-name": "alt", overrides: [] }],
    [["-cn=alt"], { "config-name": "alt", overrides: [] }],
    [["-cp", "a", "-cd", "b"], { "config-path": "a", "config-dir": "b", overrides: [] }],
    [["--config-name="], { "config-name": "", overrides: [] }],
    [["--config-name", ""], { "config-name": "", overrides: [] }],
    [["--mult", "x=1,2"], { multirun: true, overrides: ["x=1,2"] }],
    [["--res", "--cf", "job"], { resolve: true, cfg: "job", overrides: [] }],
    [["--config-n=alt"], { "config-name": "alt", overrides: [] }],
    [["-rm"], { run: true, multirun: true, overrides: [] }],
    [["-rcjob"], { run: true, cfg: "job", overrides: [] }],
    [["-s"], { "shell-completion": true, overrides: [] }],
    [["-i"], { info: "all", overrides: [] }],
    [["--info", "defaults", "x=1"], { info: "defaults", overrides: ["x=1"] }],
    [["x=1", "--cfg", "job", "y=2"], { cfg: "job", overrides: ["x=1", "y=2"] }],
    [
      ["~db", "+a=1", "++b=2", "", " ", "-", "a b"],
      { overrides: ["~db", "+a=1", "++b=2", "", " ", "-", "a b"] },
    ],
    [["-1", "-1.5", "-x y"], { overrides: ["-1", "-1.5", "-x y"] }],
    [["--version", "--nope"], { version: true, overrides: [] }],
    [["a=1", "--", "--cfg", "x=(1)", "--"], { overrides: ["a=1"], rest: ["--cfg", "x=(1)", "--"] }],
    [["--"], { overrides: [], rest: [] }],
    [["-cn", "a", "-cn", "b"], { "config-name": "b", overrides: [] }],
  ])("%j", (argv, expected) => {
    expect(parse(...argv)).toEqual(expected);
  });

  test.each([
    [
      ["--cfg", "nope"],
      "argument --cfg/-c: invalid choice: 'nope' (choose from 'job', 'hydra', 'all')",
    ],
    [["--cfg"], "argument --cfg/-c: expected one argument"],
    [["--cfg", "--resolve"], "argument --cfg/-c: expected one argument"],
    [["--config-name"], "argument --config-name/-cn: expected one argument"],
    [["--config-name", "--", "x"], "argument --config-name/-cn: expected one argument"],
    [["--foo"], "unrecognized arguments: --foo"],
    [["--foo=bar", "x=1", "-z"], "unrecognized arguments: --foo=bar -z"],
    [
      ["--config"],
      "ambiguous option: --config could match --config-path, --config-name, --config-dir",
    ],
    // argparse tells all words apart before a flag acts, also one that ends the program.
    [["--version", "--h"], "ambiguous option: --h could match --help, --hydra-help"],
    [["--cfg", "nope", "--h"], "ambiguous option: --h could match --help, --hydra-help"],
    [["--run=1"], "argument --run/-r: ignored explicit argument '1'"],
    [["-rx"], "argument --run/-r: ignored explicit argument 'x'"],
    [
      ["--info", "x=1"],
      "argument --info/-i: invalid choice: 'x=1' (choose from 'all', 'config', 'defaults', 'defaults-tree', 'plugins', 'searchpath')",
    ],
  ])("refuses %j", (argv, message) => {
    expect(usageError(...argv)).toBe(message);
  });

  test.each([
    ["--reslove", "--resolve"],
    ["--experimental-reurns=x", "--experimental-rerun"],
    ["--zzz", undefined],
    ["-cfg", "--cfg"],
    ["-config-name", "--config-name"],
    ["-config-name=x", "--config-name"],
    ["-cfg=job", "--cfg"],
    ["-help", "--help"],
    ["-cx", undefined],
    ["--cfg jobs", "job"],
    ["--cfg nope", undefined],
    ["--cfg 1.0", undefined],
  ])("names the flag or choice that was probably meant by %s", (line, meant) => {
    try {
      parse(...line.split(" "));
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.details.nearest).toBe(meant);
    }
  });
});

// What argparse's `parse_intermixed_args` answers, in Python 3.9 to 3.13.
describe("parseIntermixed", () => {
  test.each<[string, object]>([
    ["x=1 -m y=2 -c job z", { multirun: true, cfg: "job", overrides: ["x=1", "y=2", "z"] }],
    ["-- x=1", { overrides: ["x=1"] }],
    ["-- -m x=1", { multirun: true, overrides: ["x=1"] }],
    ["-c job -- -p x", { cfg: "job", package: "x", overrides: [] }],
    ["x=1 -- -m", { overrides: ["x=1", "-m"] }],
    ["-m x=1 -- -c job", { multirun: true, overrides: ["x=1", "-c", "job"] }],
    ["x=1 -m y=2 -- -c", { multirun: true, overrides: ["x=1", "y=2", "-c"] }],
    ["x=1 -- y=2 -- z", { overrides: ["x=1", "y=2", "--", "z"] }],
    ["-- -m -- -c job", { multirun: true, overrides: ["-c", "job"] }],
    ["-- -- -m x=1", { overrides: ["-m", "x=1"] }],
    ["x=1 --", { overrides: ["x=1"] }],
    ["--", { overrides: [] }],
  ])("%s", (line, expected) => {
    const { flags, overrides, rest } = parseIntermixed(line.split(" "), HYDRA_FLAGS);
    expect({ ...Object.fromEntries(flags), overrides }).toEqual(expected);
    expect(rest).toBeUndefined();
  });

  test("refuses a flag without its value before the dashes", () => {
    expect(() => parseIntermixed(["x=1", "-p", "--", "q"], HYDRA_FLAGS)).toThrow(
      "argument --package/-p: expected one argument",
    );
  });
});

describe("a key that is written as a flag", () => {
  test.each([
    ["--repeats", "write config values without dashes: repeats=VALUE"],
    ["--db.port=3", "write config values without dashes: db.port=3"],
    ["--lr 0.2", "write config values without dashes: lr=0.2"],
    ["--lr db=pg", "write config values without dashes: lr=VALUE"],
    ["--lr --repeats 2", "write config values without dashes: lr=VALUE repeats=2"],
    ["--lr 1 --repeats 2", "write config values without dashes: lr=1 repeats=2"],
    ["--lr 1 --reslove", "write config values without dashes: lr=1"],
    ["--db.password hunter2", "write config values without dashes: db.password=VALUE"],
    ["--api_key=hunter2", "write config values without dashes: api_key=VALUE"],
    ["--hubToken hunter2", "write config values without dashes: hubToken=VALUE"],
    ["--max_tokens 20", "write config values without dashes: max_tokens=20"],
    ["--reslove", undefined],
    ["-z", undefined],
  ])("%s: the hint is how to set it", (line, hint) => {
    try {
      parse(...line.split(" "));
      expect.unreachable();
    } catch (error) {
      expect(isConfigError(error) && error.details.hint).toBe(hint);
    }
  });
});

describe("the flag table", () => {
  test("every name belongs to one flag", () => {
    const names = HYDRA_FLAGS.flatMap((flag) => flag.names);
    expect(new Set(names).size).toBe(names.length);
    expect(new Set(HYDRA_FLAGS.map((flag) => flag.id)).size).toBe(HYDRA_FLAGS.length);
  });
});

describe("any command line", () => {
  const word = fc.oneof(
    fc.constantFrom(...HYDRA_FLAGS.flatMap((flag) => flag.names), "job", "x=1", "--", "-", ""),
    fc.string({ maxLength: 6 }),
    fc.string({ maxLength: 4 }).map((text) => `-${text}`),
    fc.string({ maxLength: 6 }).map((text) => `--${text}`),
  );

  test("is read or refused as wrong usage, and overrides keep their order and text", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (argv) => {
        try {
          const { overrides, rest = [] } = parseArgv(argv, HYDRA_FLAGS);
          const kept = [...overrides, ...rest];
          let from = 0;
          for (const text of kept) {
            from = argv.indexOf(text, from) + 1;
            expect(from).toBeGreaterThan(0);
          }
        } catch (error) {
          expect(isConfigError(error) && error.code).toBe("app.usage");
        }
      }),
      { numRuns: runs(1000) },
    );
  });
});

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
