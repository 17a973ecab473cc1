/** The program as a process: workers, and whoever resumes. */
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import { processInvocation } from "../../../../src/app/job/process/invocation.ts";
import { options, task } from "./program.ts";

void hydraMain(options(process.cwd()), task, processInvocation()).then((code) => {
  process.exitCode = code;
});
