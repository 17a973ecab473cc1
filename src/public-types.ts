/**
 * The parameter and result types of the functions of `hydraconf`, so that programs can name each of them. `npm run
 * docs:site` fails if one is missing.
 */

export type { HydraMainOptions } from "./app/cli/check-main.ts";
export type {
  Callback,
  CallbackEvents,
  ComposedEvent,
  JobEvent,
} from "./app/job/callbacks.ts";
export type { Continuation } from "./app/job/checkpoint.ts";
export type { Ender, EndStatus, SchedulerCause } from "./app/job/ender.ts";
export type { AppErrorCode } from "./app/job/error-codes.ts";
export type {
  ExitCode,
  ExitOptions,
  Job,
  JobResult,
  JobStatus,
  SweepJobStatus,
  Task,
} from "./app/job/job.ts";
export type { Logger } from "./app/job/logging/logger.ts";
export type {
  Flag,
  JobFacts,
  JobPlan,
  Positional,
  Subcommand,
  SubcommandLine,
  SubcommandOption,
  SummaryPage,
  SweepRow,
  Tool,
} from "./app/job/options.ts";
export type { PlannedJob, SweepJob } from "./app/job/plan-job.ts";
export type { Console, Invocation, Terminal } from "./app/job/process/invocation.ts";
export type {
  BackendRequest,
  CancelOptions,
  InsteadOf,
  LaunchEvent,
  Launcher,
  LauncherDefinition,
  LauncherRequest,
  LauncherSettings,
  QuestionOptions,
  ScheduledEvent,
  ScheduledJob,
  ScheduledTask,
  SchedulerBackend,
  UnansweredStatus,
  WatchOptions,
  WorkerCommand,
} from "./app/launch/launcher.ts";
export type { Plugin, Provided } from "./app/plugins/contract/plugin.ts";
export type { OwnPruning, Pruner, PruningRule } from "./app/sweep/sweepers/pruner.ts";
export type {
  Conclusion,
  JobOverrides,
  ProjectPython,
  Sweeper,
  SweeperDefinition,
  SweeperMessage,
  SweeperRequest,
  SweepProject,
} from "./app/sweep/sweepers/sweeper.ts";
export type {
  Answer,
  AsyncCall,
  AsyncComposeOptions,
  AsyncLayer,
  AsyncResolver,
  AsyncResolverOptions,
  AsyncSourceFactory,
} from "./compose-async.ts";
export type { TargetsOptions } from "./engine/instantiate/module-targets.ts";
export type { EngineOptions } from "./engine.ts";
export type * from "./engine-types.ts";
export type { Signal, StopSignal } from "./foundation/system/platform-types.ts";
export type { ConfigChange, ConfigListeners, WatchedConfig } from "./watch-config.ts";
