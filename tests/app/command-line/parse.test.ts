import { describe, expect, test } from "vitest";
import { type CommandLine, usageText } from "../../../src/app/command-line/command-line.ts";
import { parseCommandLine } from "../../../src/app/command-line/parse.ts";
import { isConfigError } from "../../../src/engine/values/errors.ts";

const LINE: CommandLine = {
  name: "prog do",
  takes: { shown: "FILE...", expected: "files", least: 1, most: 3 },
  about: "Does it.",
  options: {
    output: { short: "o", value: "DIR", help: "where to" },
    "config-path": { short: "cp", value: "DIR", help: "which tree" },
    pattern: { value: "GLOB", repeatable: true, help: "which" },
    reader: { value: "NAME", choices: ["auto", "own"], help: "how" },
    quiet: { short: "q", help: "say nothing" },
    verbose: { short: "v", help: "say more" },
  },
};

const refusal = (args: readonly string[]) => {
  try {
    parseCommandLine(LINE, args);
    return "accepted";
  } catch (error) {
    if (!isConfigError(error)) throw error;
    expect(error.code).toBe("app.usage");
    return [error.message, error.details.nearest].filter(Boolean).join(" | ");
  }
};

describe("a command line", () => {
  test("has options in every spelling, and files", () => {
    const parsed = parseCommandLine(LINE, [
      "a",
      "-o",
      "d",
      "--pattern=x*",
      "--pattern",
      "y=z",
      "-q",
      "-cp",
      "c",
      "--",
      "--b",
      "-",
    ]);
    expect(parsed.positionals).toEqual(["a", "--b", "-"]);
    expect(parsed.verbatim).toEqual(["--b", "-"]);
    expect(parsed.value("output")).toBe("d");
    expect(parsed.value("config-path")).toBe("c");
    expect(parsed.values("pattern")).toEqual(["x*", "y=z"]);
    expect(parsed.has("quiet")).toBe(true);
    expect(parsed.has("reader")).toBe(false);
    expect(parsed.values("reader")).toEqual([]);
  });

  test.each([
    [["-od"], "d"],
    [["-o=d=e"], "d=e"],
    [["-o/d"], "/d"],
    [["-o5"], "5"],
    [["-output", "d"], "d"],
    [["-o", "-"], "-"],
    [["-o", "a", "--output=d"], "d"],
  ])("%j gives a value", (args, output) => {
    expect(parseCommandLine(LINE, ["f", ...args]).value("output")).toBe(output);
  });

  test("takes a value that begins with a dash, unless it is an option", () => {
    const values = (...args: string[]) => parseCommandLine(LINE, ["f", ...args]).values("pattern");
    expect(values("--pattern", "-[0-9]+")).toEqual(["-[0-9]+"]);
    expect(values("--pattern=-q")).toEqual(["-q"]);
    for (const option of ["-q", "--quiet", "--output=d", "-cp=c", "-od"])
      expect(refusal(["f", "--pattern", option]), option).toBe("--pattern needs a value: GLOB");
  });

  test.each([
    [["a", "--outptu", "d"], "unknown option --outptu | --output"],
    [["a", "--outptu=d"], "unknown option --outptu | --output"],
    [["a", "-z"], "unknown option -z"],
    [["a", "-qz"], "unknown option -qz"],
    [["a", "-qv"], "unknown option -qv"],
    [["a", "--quiet-mode"], "unknown option --quiet-mode"],
    [["a", "-1"], "unknown option -1"],
    [["a", "--no-quiet"], "unknown option --no-quiet | --quiet"],
    [["a", "-verbos"], "unknown option -verbos | --verbose"],
    [["a", "--constructor"], "unknown option --constructor"],
    [["a", "--output"], "--output needs a value: DIR"],
    [["a", "-o"], "--output needs a value: DIR"],
    [["a", "-cp="], "--config-path needs a value: DIR"],
    [["a", ""], "an argument is empty"],
    [["a", "--quiet=yes"], "--quiet takes no value"],
    [["a", "--quiet", "false"], "--quiet takes no value"],
    [["a", "--reader", "autu"], "--reader: 'autu' is not one of auto, own | auto"],
    [[], "expected files"],
    [["a", "b", "c", "d", "e"], "expected files; unexpected: 'd', 'e'"],
  ])("%j is refused", (args, message) => {
    expect(refusal(args)).toBe(message);
  });

  test("says which arguments are missing", () => {
    const takes = { shown: "A B", expected: "two runs", least: 2, most: 2 };
    expect(() => parseCommandLine({ ...LINE, takes }, ["a"])).toThrow(
      "expected two runs, not only 'a'",
    );
  });

  test.each([
    [["--help"]],
    [["--nope", "-h"]],
    [["--pattern", "--help"]],
    [["a", "b", "c", "d", "-q", "-h"]],
  ])("%j asks for help, whatever else is there", (args) => {
    expect(parseCommandLine(LINE, args).has("help")).toBe(true);
  });

  test("takes a file called --help behind --", () => {
    expect(parseCommandLine(LINE, ["--", "--help"]).has("help")).toBe(false);
  });
});

test("a wrong command line is answered in two lines", () => {
  const shown = (args: readonly string[]) => {
    try {
      return parseCommandLine(LINE, args);
    } catch (error) {
      return isConfigError(error) ? usageText("prog do", error) : error;
    }
  };
  expect(shown(["a", "--outptu"])).toBe(
    "prog do: error: unknown option --outptu (did you mean --output?)\n  prog do --help shows what it takes\n",
  );
  expect(shown(["a", "--rounds", "3"])).toMatch(
    /^prog do: error: unknown option --rounds\n {2}its options are --output, .*--quiet.*\n$/,
  );
  expect(shown([])).toBe("prog do: error: expected files\n  usage: prog do FILE...\n");
});
