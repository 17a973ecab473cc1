/** The entry point of the command `hydraconf`. */
import { processInvocation } from "../app/job/process/invocation.ts";
import { hydraconf } from "./commands/hydraconf-command.ts";

void hydraconf(processInvocation(true)).then((code) => {
  process.exitCode = code;
});
