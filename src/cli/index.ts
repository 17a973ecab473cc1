/** What Hydra does around a program, for programs in TypeScript. */

export type { Callback } from "../job/callbacks.ts";
export { type ExitCode, exitCode, type Job, type Task } from "../job/job.ts";
export { type Invocation, processInvocation } from "../job/process/invocation.ts";
export { type HydraMainOptions, hydraMain } from "./hydra-main.ts";
