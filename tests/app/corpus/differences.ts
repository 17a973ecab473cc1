import type { CliCase } from "./run-case.ts";

/** What this version refuses on purpose: sweeps, completion, pickles. */
export function isRefused({ argv }: CliCase, suite: string): boolean {
  if (suite === "chdir11" || suite === "sweep") return true;
  const refused =
    /^(-m|--mult.*|-sc|--shell-completion|-s|--experimental-rerun|hydra\.mode=MULTIRUN)$/;
  // The config `mode` asks for a sweep itself.
  return argv.some((word) => refused.test(word)) || (argv.includes("-cn") && argv.includes("mode"));
}

/** Cases whose outcome differs on purpose, and why. */
export const DIFFERENCES: ReadonlyMap<string, string> = new Map([
  ["cli-badname-006", "flags are described in our words"],
  ["cli-basic-099", "flags are described in our words"],
  ["cli-basic-103", "flags are described in our words"],
  ["cli-basic-105", "flags are described in our words"],
  ["cli-badname-007", "--version names the program, its version and the Hydra dialect"],
  ["cli-basic-107", "--version names the program, its version and the Hydra dialect"],
  ["cli-basic-108", "--version names the program, its version and the Hydra dialect"],
  ["cli-badname-009", "Hydra prints a title before it notices that there is no config"],
  ["cli-basic-255", "--info all lists Python's plugins"],
  ["cli-basic-257", "--info all lists Python's plugins"],
  ["cli-basic-258", "--info all lists Python's plugins"],
  ["cli-basic-259", "--info plugins lists Python's plugins"],
  ["cli-basic-037", "overrides may stand on both sides of a flag: an extension"],
]);
