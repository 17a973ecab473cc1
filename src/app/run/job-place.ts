import type { Session } from "../commands/command.ts";
import type { JobPlace } from "../job/plan-job.ts";

/** Where the jobs of a call of a program are planned. */
export const placeOf = ({ composer, invocation, options }: Session): JobPlace => ({
  cwd: invocation.cwd,
  context: composer.context,
  publish: composer.publish,
  resultFiles: options.resultFiles ?? [],
});
