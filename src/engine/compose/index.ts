/** What other folders use of composition. */

export type { ConfigSchema, StandardSchema } from "../values/config-schema.ts";
export { type Difference, diffConfigs, type KeyedNode } from "../values/diff.ts";
export type { PlainValue } from "../values/plain-objects.ts";
export { toObject as toPlain } from "../values/plain-objects.ts";
export type { Composition } from "./compose.ts";
export { composeConfig, composeDefaults, requirePrimary } from "./compose.ts";
export type { Config, ConfigTextOptions, GetOptions, ValueOptions } from "./config.ts";
export { createConfig } from "./config.ts";
export type { ConfigPlugin, LaunchRefusal, PluginFiles } from "./config-plugin.ts";
export { launchRefusal, optionTarget } from "./config-plugin.ts";
export { checkUsage } from "./defaults/choice-tracker.ts";
export type { CompositionWarning } from "./defaults/deprecations.ts";
export type { Defaults, DefaultsRow, RunMode } from "./defaults/list.ts";
export { checkSweeps, flattenTree, splitOverrides } from "./defaults/list.ts";
export type {
  DefaultsTree,
  DefaultsTreeChild,
  DefaultsTreeNode,
  NodeState,
} from "./defaults/tree.ts";
export { buildDefaultsTree } from "./defaults/tree.ts";
export type { Cause, DefaultsStep, Explanation, OriginLine, ReplacedValue } from "./explain.ts";
export { explain, leavesOf, originLines, pathText } from "./explain.ts";
export { hydraGroups } from "./hydra/groups.ts";
export { EMPTY_CONFIG, HYDRA_CONFIG, schemaSource } from "./hydra/hydra-schema.ts";
export { sameButSeparators } from "./override-remedy.ts";
export type { PlacedSchema } from "./schemas.ts";
export type { SecretPath, Secrets } from "./secrets.ts";
export { maskDifferences, maskSecrets, secretTexts } from "./secrets.ts";
export type {
  ConfigSource,
  ItemKind,
  LoadedConfig,
  SchemaProblem,
  SchemaReader,
  SchemaResult,
  SourceInfo,
} from "./sources/config-source.ts";
export { defaultsOf } from "./sources/config-source.ts";
export type { StoreEntry } from "./sources/memory-source.ts";
export { memorySource } from "./sources/memory-source.ts";
export type { Repository, SearchPathEntry, Snapshot, SourceFactory } from "./sources/repository.ts";
export {
  allGroups,
  createRepository,
  takeSnapshot,
} from "./sources/repository.ts";
export { withSyntaxRemedy } from "./syntax-remedy.ts";
