/** What Hydra does around a program, for programs in TypeScript. */

export { HYDRA_VERSION, HYDRA_VERSION_BASE } from "../compose/dialect.ts";
export type { Callback, CallbackEvents } from "./callbacks/callback.ts";
export { EXIT_ERROR, EXIT_OK, EXIT_USAGE } from "./commands/command.ts";
export type { Console } from "./console.ts";
export type { Flag } from "./flags/flag.ts";
export { type HydraMainOptions, hydraMain } from "./hydra-main.ts";
export { type Invocation, processInvocation } from "./invocation.ts";
export { type ExitCode, exitCode, type Job, type JobResult, type Task } from "./job/job.ts";
export type { Logger } from "./logging/logging.ts";
