import type { CliCase } from "./run-case.ts";

/** What this version refuses: the sweep, `--info`, completion. */
export function isRefused({ argv }: CliCase, suite: string): boolean {
  if (suite === "chdir11" || suite === "sweep") return true;
  const flags =
    /^(-m|--mult.*|-i|--info.*|-sc|--shell-completion|-s|--experimental-rerun|hydra\.mode=MULTIRUN)$/;
  return argv.some((word) => flags.test(word)) || (argv.includes("mode") && argv.includes("-cn"));
}
