import { describe, expect, test } from "vitest";
import {
  flagsHelp,
  HYDRA_FLAGS,
  usageText,
} from "../../../../src/app/cli/arguments/hydra-flags.ts";

describe("usageText", () => {
  // The wrapping of argparse, as the corpus recorded it for a program of this name.
  test("wraps as argparse does", () => {
    expect(usageText("my_app.py", HYDRA_FLAGS)).toBe(
      [
        "usage: my_app.py [--help] [--hydra-help] [--version] [--cfg {job,hydra,all}]",
        "                 [--resolve] [--package PACKAGE] [--run] [--multirun]",
        "                 [--shell-completion] [--config-path CONFIG_PATH]",
        "                 [--config-name CONFIG_NAME] [--config-dir CONFIG_DIR]",
        "                 [--experimental-rerun EXPERIMENTAL_RERUN]",
        "                 [--info [{all,config,defaults,defaults-tree,plugins,searchpath}]]",
        "                 [overrides ...]",
        "",
      ].join("\n"),
    );
  });
});

describe("flagsHelp", () => {
  test("has a line per flag and says what is refused", () => {
    const lines = flagsHelp(HYDRA_FLAGS).split("\n");
    expect(lines).toHaveLength(HYDRA_FLAGS.length + 1);
    expect(lines.at(-1)).toMatch(/^Overrides : /);
    expect(lines).toContain("--cfg,-c : Show a configuration instead of running [job|hydra|all]");
    expect(lines.find((line) => line.startsWith("--experimental-rerun"))).toContain(
      "(not in this version)",
    );
  });
});
