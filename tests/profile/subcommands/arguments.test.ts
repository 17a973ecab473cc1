import { describe, expect, test } from "vitest";
import {
  type CommandLine,
  commandHelp,
  parseCommandLine,
} from "../../../src/profile/subcommands/arguments.ts";
import { isConfigError } from "../../../src/values/errors.ts";

const LINE: CommandLine = {
  name: "do",
  positionals: "FILE...",
  about: "Does it.",
  options: {
    output: { short: "o", value: "DIR", help: "where to\n(default: here)" },
    pattern: { value: "GLOB", repeatable: true, help: "which" },
    reader: { value: "NAME", choices: ["auto", "own"], help: "how" },
    quiet: { short: "q", help: "say nothing" },
  },
};

const refusal = (args: readonly string[]) => {
  try {
    parseCommandLine(LINE, args);
    return "accepted";
  } catch (error) {
    if (!isConfigError(error)) throw error;
    return [error.code, error.message, error.details.nearest].filter(Boolean).join(" | ");
  }
};

describe("a subcommand's arguments", () => {
  test("are options in every spelling, and files", () => {
    const parsed = parseCommandLine(LINE, [
      "a",
      "-o",
      "d",
      "--pattern=x*",
      "--pattern",
      "y",
      "-q",
      "--",
      "--b",
    ]);
    expect(parsed.positionals).toEqual(["a", "--b"]);
    expect(parsed.value("output")).toBe("d");
    expect(parsed.values("pattern")).toEqual(["x*", "y"]);
    expect(parsed.has("quiet")).toBe(true);
    expect(parsed.has("reader")).toBe(false);
    expect(parsed.values("reader")).toEqual([]);
  });

  test.each([
    [["--outptu", "d"], "app.usage | unknown option --outptu | --output"],
    [["-z"], "app.usage | unknown option -z"],
    [["--constructor"], "app.usage | unknown option --constructor"],
    [["--output"], "app.usage | --output needs a value: DIR"],
    [["a", ""], "app.usage | an argument is empty"],
    [["--quiet=yes"], "app.usage | --quiet takes no value"],
    [["--reader", "autu"], "app.usage | --reader: 'autu' is not one of auto, own | auto"],
  ])("%j is refused", (args, message) => {
    expect(refusal(args)).toBe(message);
  });

  test("are explained by their help", () => {
    expect(commandHelp(LINE)).toBe(
      `${[
        "Usage: deep-profile do [options] FILE...",
        "",
        "Does it.",
        "",
        "Options:",
        "  -o, --output DIR       where to",
        "                         (default: here)",
        "      --pattern GLOB     which (repeatable)",
        "      --reader auto|own  how",
        "  -q, --quiet            say nothing",
        "  -h, --help             print this help",
      ].join("\n")}\n`,
    );
  });
});
