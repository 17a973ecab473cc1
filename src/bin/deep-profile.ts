/** The entry point of the command `deep-profile`. */
import { processInvocation } from "../app/job/process/invocation.ts";
import { deepProfile } from "./commands/deep-profile-command.ts";

void deepProfile(processInvocation(true)).then((code) => {
  process.exitCode = code;
});
