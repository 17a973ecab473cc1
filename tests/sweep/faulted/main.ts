/** The program as a process: workers, and whoever resumes. */
import { hydraMain, processInvocation } from "../../../src/cli/index.ts";
import { options, task } from "./program.ts";

void hydraMain(options(process.cwd()), task, processInvocation()).then((code) => {
  process.exitCode = code;
});
