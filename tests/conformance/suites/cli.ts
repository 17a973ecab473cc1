import { dirname } from "node:path";
import { HYDRA_FLAGS } from "../../../src/app/flags/hydra-flags.ts";
import { judgeCli } from "../cli/judge.ts";
import { type CliCase, runCase } from "../cli/run-case.ts";
import type { Suite } from "../suite.ts";

/** These two ask for completion, which a program refuses as long as there is none. */
const completes = HYDRA_FLAGS.find(({ id }) => id === "shell-completion")?.refusal === undefined;

/** `cli/<suite>/cases.jsonl`: whole programs, run in this process one after the other. */
export const cliSuite: Suite = {
  name: "command line",
  matches: (path) =>
    /(^|\/)cli\/.+\/cases\.jsonl$/.test(path) &&
    (completes || !/cli\/(basic|searchpath)\//.test(path)),
  run: async (testCase, env) => {
    // The application stands beside its cases: it is found by the file that declares it.
    const app = dirname(env.companion(`${dirname(env.file)}/app.yaml`));
    const run = (argv: readonly string[]) => runCase(app, { ...(testCase as CliCase), argv });
    return judgeCli(testCase as CliCase, run);
  },
};
