/** The parameter and result types of the functions that both `hydraconf` and `hydraconf/engine` have. */

export type { Resolved, ValueOf } from "./engine/compose/config.ts";
export type {
  CheckedOverrides,
  ConfigTree,
  ConfigTrees,
  DataOf,
  DeepReadonly,
  KeyOf,
  TreeIn,
  ValueAt,
} from "./engine/compose/config-types.ts";
export type { PlacedConfig } from "./engine/compose/defaults/placement.ts";
export type { SelfMark } from "./engine/compose/defaults/tree.ts";
export type {
  Cause,
  Composition,
  CompositionWarning,
  Config,
  ConfigPlugin,
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
  SchemaResult,
  SearchPathEntry,
  SecretPath,
  Snapshot,
  SourceFactory,
  SourceInfo,
  StoreEntry,
  ValueOptions,
} from "./engine/compose/index.ts";
export type {
  ConfigLayer,
  LayerSurroundings,
  LayerValue,
  Variable,
} from "./engine/compose/layers/layer.ts";
export type {
  ConfigItem,
  DeclaredType,
  DefaultsItem,
  GroupItem,
  GroupValue,
  SelfItem,
  Surroundings,
} from "./engine/compose/sources/config-source.ts";
export type { FileSystem } from "./engine/compose/sources/directory-source.ts";
export type { ConfigFormat, LoadLibrary, SourceReading } from "./engine/compose/sources/formats.ts";
export type { StoreEntryOptions } from "./engine/compose/sources/memory-source.ts";
export type {
  Instantiate,
  InstantiateAsync,
  InstantiateOptions,
  TargetConfig,
} from "./engine/instantiate/instantiate.ts";
export type {
  CallStyle,
  DeclaredTarget,
  NamedArguments,
  ResolvedTarget,
  ResultOf,
  TargetClass,
  TargetDeclaration,
  TargetFunction,
} from "./engine/instantiate/target.ts";
export type { TargetMap, Targets } from "./engine/instantiate/targets.ts";
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
  UnionPart,
  UnionSweep,
  ZipSweep,
} from "./engine/overrides/index.ts";
export type {
  ConfigSchema,
  JsonSchemaObject,
  LoadedSchema,
  SchemaOutput,
  StandardSchema,
  TypedJsonSchema,
} from "./engine/values/config-schema.ts";
export type { Dialect, DialectName } from "./engine/values/dialect.ts";
export type {
  EngineErrorCode,
  ErrorCode,
  ErrorCodes,
  ErrorDetails,
  ErrorHints,
  NestedError,
  PluginErrorCode,
} from "./engine/values/errors.ts";
export type { Limits } from "./engine/values/limits.ts";
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
} from "./engine/values/node.ts";
export type {
  CodeOrigin,
  EnvironmentOrigin,
  FileOrigin,
  Origin,
  OverrideOrigin,
  SchemaOrigin,
  SourceText,
} from "./engine/values/origin.ts";
export type { FlagChanges, Place } from "./engine/values/place.ts";
export type { RenderOptions } from "./engine/values/render-error.ts";
export type { ResolveContext } from "./engine/values/resolution/context.ts";
export type {
  Resolver,
  ResolverArgument,
  ResolverCall,
} from "./engine/values/resolution/resolver.ts";
export type { Reading } from "./engine/values/yaml/reader.ts";
export type {
  LoadOptions,
  OmegaConf,
  ResolvingOptions,
  SelectOptions,
  UpdateOptions,
} from "./omegaconf.ts";
export type { ComposeOptions, Engine } from "./open-engine.ts";
export type { ParseOptions } from "./parse-overrides.ts";
