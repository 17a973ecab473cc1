export { checkTree } from "./check-tree.ts";
export { fromDotlist, mergeDotlist } from "./dotlist.ts";
export type { ErrorCode, ErrorDetails, ErrorHints } from "./errors.ts";
export { ConfigError, isConfigError } from "./errors.ts";
export { flagAt, openDict, readWrite, withFlags } from "./flags.ts";
export { fromObject } from "./from-object.ts";
export type {
  InterpolationAst,
  ResolveContext,
  ResolveContextOptions,
  ResolveOptions,
} from "./interpolation/index.ts";
export {
  createResolveContext,
  hasInterpolation,
  isInterpolationNode,
  parseInterpolation,
  resolveTree,
} from "./interpolation/index.ts";
export { isMissingAt } from "./is-missing-at.ts";
export { splitKey } from "./key-path.ts";
export { maskedCopy } from "./masked-copy.ts";
export { mergeNodes } from "./merge.ts";
export { missingKeys } from "./missing-keys.ts";
export { nearest } from "./nearest.ts";
export type {
  ConfigNode,
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
} from "./node.ts";
export { child, isMissing, keyId, list, MISSING, map, scalar } from "./node.ts";
export type {
  CodeOrigin,
  FileOrigin,
  Origin,
  OverrideOrigin,
  SchemaOrigin,
  SourceText,
} from "./origin.ts";
export { fromCode } from "./origin.ts";
export type { Place } from "./place.ts";
export { fullKeyOf, pathOf } from "./place.ts";
export { floatRepr, parsePythonFloat, parsePythonInt } from "./python-number.ts";
export { pyRepr, pyStr, pyTypeName } from "./python-text.ts";
export type { ReadOptions } from "./reader.ts";
export { createConfig, readYaml } from "./reader.ts";
export type { Resolver, ResolverArgument, ResolverCall } from "./resolvers/resolver.ts";
export type { SelectOptions } from "./select.ts";
export { resolveAt, selectNode } from "./select.ts";
export type { PlainValue } from "./to-object.ts";
export { toObject } from "./to-object.ts";
export type { UpdateOptions } from "./update.ts";
export { updateNode } from "./update.ts";
