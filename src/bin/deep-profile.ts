/** The entry point of the command `deep-profile`. */
import { processInvocation } from "../app/job/process/invocation.ts";
import { deepProfile } from "./deep-profile-command.ts";

void deepProfile(processInvocation()).then((code) => {
  process.exitCode = code;
});
