/**
 * The parameter and result types of the functions of `hydraconf`, so that programs can name each of them. `npm run
 * docs:site` fails if one is missing.
 */

export type { HydraMainOptions } from "./cli/hydra-main.ts";
export type { PlacedConfig } from "./compose/defaults/placement.ts";
export type { SelfMark } from "./compose/defaults/tree.ts";
export type {
  Cause,
  Composition,
  CompositionWarning,
  Config,
  ConfigPlugin,
  ConfigSchema,
  ConfigSource,
  ConfigTextOptions,
  DefaultsRow,
  DefaultsStep,
  DefaultsTree,
  DefaultsTreeChild,
  DefaultsTreeNode,
  Difference,
  Explanation,
  GetOptions,
  ItemKind,
  KeyedNode,
  LaunchRefusal,
  LoadedConfig,
  NodeState,
  PlacedSchema,
  PlainValue,
  PluginFiles,
  ReplacedValue,
  Repository,
  RunMode,
  SchemaProblem,
  SchemaReader,
  SearchPathEntry,
  SecretPath,
  Snapshot,
  SourceFactory,
  SourceInfo,
  StandardSchema,
  StoreEntry,
} from "./compose/index.ts";
export type {
  ConfigItem,
  DefaultsItem,
  GroupItem,
  GroupValue,
  JsonSchemaObject,
  ResolvedData,
  SelfItem,
} from "./compose/sources/config-source.ts";
export type { StoreEntryOptions } from "./compose/sources/memory-source.ts";
export type { ComposeOptions, Engine, EngineOptions } from "./engine.ts";
export type { InstantiateOptions, TargetConfig } from "./instantiate/instantiate.ts";
export type {
  CallStyle,
  DeclaredTarget,
  NamedArguments,
  ResolvedTarget,
  ResultOf,
  TargetClass,
  TargetDeclaration,
  TargetFunction,
} from "./instantiate/target.ts";
export type { TargetMap, Targets, TargetsOptions } from "./instantiate/targets.ts";
export type {
  Callback,
  CallbackEvents,
  ComposedEvent,
  JobEvent,
} from "./job/callbacks.ts";
export type { Ender, EndStatus, SchedulerCause } from "./job/ender.ts";
export type {
  ExitCode,
  ExitOptions,
  Job,
  JobResult,
  JobStatus,
  SweepJobStatus,
  Task,
} from "./job/job.ts";
export type { Logger } from "./job/logging/logger.ts";
export type {
  Flag,
  JobFacts,
  JobPlan,
  ProgramSchema,
  Subcommand,
  SubcommandLine,
  SubcommandOption,
  SummaryPage,
  SweepRow,
} from "./job/options.ts";
export type { PlannedJob, SweepJob } from "./job/plan-job.ts";
export type { Console, Invocation, Terminal } from "./job/process/invocation.ts";
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
} from "./launch/launcher.ts";
export type { LoadOptions, ResolvingOptions, SelectOptions, UpdateOptions } from "./omegaconf.ts";
export type {
  ChoiceSweep,
  DictElement,
  DictEntry,
  Element,
  ElementScalar,
  ExtensionElement,
  GlobSweep,
  IntervalSweep,
  ListElement,
  Override,
  OverrideType,
  OverrideValue,
  PythonNumber,
  Quote,
  RangeSweep,
  ScalarElement,
  Span,
  Sweep,
  ZipSweep,
} from "./overrides/index.ts";
export type { Plugin, Provided } from "./plugins/contract/plugin.ts";
export type {
  Conclusion,
  JobOverrides,
  Sweeper,
  SweeperDefinition,
  SweeperRequest,
} from "./sweep/sweepers/sweeper.ts";
export type { Signal, StopSignal } from "./system/platform-types.ts";
export type { Dialect, DialectName } from "./values/dialect.ts";
export type { ErrorCode, ErrorDetails, ErrorHints, PluginErrorCode } from "./values/errors.ts";
export type { Limits } from "./values/limits.ts";
export type {
  ConfigNode,
  ContainerNode,
  EnumType,
  Key,
  KeyId,
  ListNode,
  MapEntry,
  MapNode,
  NodeFlags,
  NodeType,
  PathValue,
  ScalarNode,
  ScalarValue,
  UnionType,
} from "./values/node.ts";
export type {
  CodeOrigin,
  FileOrigin,
  Origin,
  OverrideOrigin,
  SchemaOrigin,
  SourceText,
} from "./values/origin.ts";
export type { FlagChanges, Place } from "./values/place.ts";
export type { RenderOptions } from "./values/render-error.ts";
export type { ResolveContext } from "./values/resolution/context.ts";
export type { Resolver, ResolverArgument, ResolverCall } from "./values/resolution/resolver.ts";
export type { Reading } from "./values/yaml/reader.ts";
