export type { ErrorCode, ErrorDetails, ErrorHints } from "./errors.ts";
export { ConfigError, isConfigError } from "./errors.ts";
export type { FlagChanges } from "./flags.ts";
export { fromObject } from "./from-object.ts";
export type { ResolveContext } from "./interpolation/context.ts";
export { createResolveContext } from "./interpolation/context.ts";
export { resolveTree } from "./interpolation/resolve-tree.ts";
export type { Limits } from "./limits.ts";
export { DEFAULT_LIMITS } from "./limits.ts";
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
} from "./node.ts";
export type {
  CodeOrigin,
  FileOrigin,
  Origin,
  OverrideOrigin,
  SchemaOrigin,
  SourceText,
} from "./origin.ts";
export type { Place } from "./place.ts";
export { pyStr } from "./python-text.ts";
export type { ReadOptions } from "./reader.ts";
export { readYaml } from "./reader.ts";
export type { Resolver, ResolverArgument, ResolverCall } from "./resolvers/resolver.ts";
export { selectNode } from "./select.ts";
export { toObject } from "./to-object.ts";
