/** Starts the program for tests that need processes. */
import { hydraMain } from "../../../../src/app/cli/hydra-main.ts";
import { optionsIn, task } from "./program.ts";

void hydraMain(optionsIn(process.cwd()), task).then((code) => {
  process.exitCode = code;
});
