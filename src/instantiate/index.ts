/** `hydra.utils.instantiate`: objects and calls from configs, by names that the program registers. */

export type { InstantiateOptions, TargetConfig } from "./instantiate.ts";
export { instantiate, instantiateAsync, instantiateAt } from "./instantiate.ts";
export type {
  CallStyle,
  DeclaredTarget,
  NamedArguments,
  ResolvedTarget,
  ResultOf,
  TargetClass,
  TargetDeclaration,
  TargetFunction,
} from "./target.ts";
export { target } from "./target.ts";
export type { TargetMap, Targets, TargetsOptions } from "./targets.ts";
export { createTargets, NO_TARGETS } from "./targets.ts";
export { nodeOf } from "./view.ts";
