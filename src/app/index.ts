/** What Hydra does around a program, for programs in TypeScript. */

export type { Callback } from "./callbacks/callback.ts";
export { type HydraMainOptions, hydraMain } from "./hydra-main.ts";
export { type ExitCode, exitCode, type Job, type Task } from "./job/job.ts";
export { type Invocation, processInvocation } from "./process/invocation.ts";
