export { type Difference, diffConfigs, type KeyedNode } from "../values/diff.ts";
export type { PlainValue } from "../values/to-object.ts";
export { toObject as toPlain } from "../values/to-object.ts";
export { composeConfig, composeDefaults, requirePrimary } from "./compose.ts";
export type { Composition } from "./composition.ts";
export type { Config, ConfigTextOptions } from "./config.ts";
export { createConfig } from "./config.ts";
export type { DefaultsRow } from "./defaults/list.ts";
export { flattenTree } from "./defaults/list.ts";
export { splitOverrides } from "./defaults/split-overrides.ts";
export type {
  DefaultsTree,
  DefaultsTreeChild,
  DefaultsTreeNode,
  NodeState,
} from "./defaults/tree.ts";
export { buildDefaultsTree } from "./defaults/tree.ts";
export { checkUsage } from "./defaults/usage.ts";
export type { Cause, DefaultsStep, Explanation, ReplacedValue } from "./explain.ts";
export { explain } from "./explain.ts";
export { hydraGroups } from "./hydra/groups.ts";
export { EMPTY_CONFIG, HYDRA_CONFIG, schemaSource } from "./hydra/schema.ts";
export type { Defaults } from "./list-defaults.ts";
export { maskDifferences } from "./mask-differences.ts";
export type { OriginLine } from "./origins.ts";
export { leavesOf, originLines, pathText } from "./origins.ts";
export type { LaunchRefusal, Plugin, PluginFiles } from "./plugins/plugin.ts";
export { launchRefusal, optionTarget } from "./plugins/plugin-groups.ts";
export { STANDARD_PLUGINS } from "./plugins/standard-plugins.ts";
export type {
  ConfigSchema,
  SchemaProblem,
  SchemaReader,
  StandardSchema,
} from "./schemas/config-schema.ts";
export type { PlacedSchema } from "./schemas/placed-schema.ts";
export type { SecretPath, Secrets } from "./secrets.ts";
export { maskSecrets } from "./secrets.ts";
export type { ConfigSource, ItemKind, LoadedConfig, SourceInfo } from "./sources/config-source.ts";
export { defaultsOf } from "./sources/config-source.ts";
export { fileSource } from "./sources/file-source.ts";
export type { StoreEntry } from "./sources/memory-source.ts";
export { memorySource } from "./sources/memory-source.ts";
export type { Repository } from "./sources/repository.ts";
export { createRepository } from "./sources/repository.ts";
export type { SearchPathEntry, SourceFactory } from "./sources/search-path.ts";
export { STANDARD_SOURCES } from "./sources/search-path.ts";
export type { Snapshot } from "./sources/snapshot.ts";
export { takeSnapshot } from "./sources/snapshot.ts";
export type { RunMode } from "./sweep-legality.ts";
export { checkSweeps } from "./sweep-legality.ts";
export type { CompositionWarning } from "./warning.ts";
