/** The entry point of the command `hydraconf`. */
import { processInvocation } from "../app/job/process/invocation.ts";
import { hydraconf } from "./hydraconf-command.ts";

void hydraconf(processInvocation()).then((code) => {
  process.exitCode = code;
});
