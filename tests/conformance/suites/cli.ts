import { dirname } from "node:path";
import { judgeCli } from "../cli/judge.ts";
import { type CliCase, runCase } from "../cli/run-case.ts";
import type { Suite } from "../suite.ts";

/** `cli/<suite>/cases.jsonl`: whole programs, run in this process one after the other. */
export const cliSuite: Suite = {
  name: "command line",
  takesNames: true,
  matches: (path) => /(^|\/)cli\/.+\/cases\.jsonl$/.test(path),
  run: async (testCase, env) => {
    // The application stands beside its cases: it is found by the file that declares it.
    const app = dirname(env.companion(`${dirname(env.file)}/app.yaml`));
    const run = (argv: readonly string[]) =>
      runCase(app, { ...(testCase as CliCase), argv }, env.dialect);
    return judgeCli(testCase as CliCase, run);
  },
};
