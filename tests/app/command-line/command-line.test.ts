import { expect, test } from "vitest";
import { commandHelp, NO_POSITIONALS } from "../../../src/app/command-line/command-line.ts";

test("help is made of the declaration", () => {
  const help = commandHelp({
    name: "prog do",
    takes: { shown: "FILE...", expected: "files", least: 1 },
    about: "Does it.",
    options: {
      output: { short: "o", value: "DIR", help: "where to\n(default: here)" },
      pattern: { value: "GLOB", repeatable: true, help: "which" },
      reader: { value: "NAME", choices: ["auto", "own"], help: "how" },
      quiet: { short: "q", help: "say nothing" },
    },
  });
  expect(help).toBe(
    `${[
      "Usage: prog do [options] FILE...",
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

test("long names stand below each other, also beside short options of two letters", () => {
  const help = commandHelp({
    name: "prog",
    takes: NO_POSITIONALS,
    about: "Does it.",
    options: { "config-path": { short: "cp", value: "DIR", help: "which tree" } },
    epilogue: "Exit code: 0.",
  });
  expect(help).toBe(
    "Usage: prog [options]\n\nDoes it.\n\nOptions:\n  -cp, --config-path DIR  which tree\n  -h,  --help             print this help\n\nExit code: 0.\n",
  );
});
