import type { Session } from "../commands/command.ts";
import type { JobPlace } from "../job/plan-job.ts";

/** The surroundings in which this program's jobs are planned. */
export const placeOf = ({ composer, invocation, options }: Session): JobPlace => ({
  cwd: invocation.cwd,
  context: composer.context,
  publish: composer.publish,
  resultFiles: options.resultFiles ?? [],
});
