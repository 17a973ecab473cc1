/**
 * Hydra and OmegaConf for TypeScript: composes config trees, reads and writes their YAML, and is
 * `@hydra.main` for programs.
 *
 * @module hydraconf
 */
import { withHydraResolvers } from "./app/resolvers/hydra-resolvers.ts";
import { checkOptions } from "./check-options.ts";
import type { Config } from "./compose/config.ts";
import type { ComposeOptions, Engine, EngineOptions } from "./engine.ts";
import { createEngine as createBareEngine } from "./engine.ts";
import { checkTree } from "./values/check-tree.ts";
import { fromObject } from "./values/from-object.ts";
import { createResolveContext } from "./values/interpolation/context.ts";
import { resolveTree } from "./values/interpolation/resolve-tree.ts";
import { mergeNodes } from "./values/merge.ts";
import type { ConfigNode } from "./values/node.ts";
import { fromCode } from "./values/origin.ts";
import type { ReadOptions } from "./values/reader.ts";
import { createConfig } from "./values/reader.ts";
import { writeYaml } from "./values/writer.ts";

export { hydraMain } from "./app/hydra-main.ts";
export { exitCode } from "./app/job/job.ts";
export { HYDRA_VERSION } from "./compose/dialect.ts";
export {
  diffConfigs,
  leavesOf,
  memorySource,
  pathText,
  STANDARD_PLUGINS,
} from "./compose/index.ts";
export {
  createTargets,
  instantiate,
  instantiateAsync,
  nodeOf,
  target,
} from "./instantiate/index.ts";
export { parseOverride, parseOverrides } from "./overrides/index.ts";
export type * from "./public-types.ts";
export { ConfigError, isConfigError, toObject } from "./values/index.ts";
export { renderError } from "./values/render-error.ts";
export { resolver } from "./values/resolvers/plain-resolver.ts";

/**
 * An engine with the resolvers that Hydra itself registers: `now` (the time at which the engine was
 * made), `python_version`, and `hydra`, which outside of a running program has nothing to read.
 *
 * @throws ConfigError for a dialect or a resolver that cannot be.
 */
export function createEngine(options: EngineOptions = {}): Engine {
  const resolvers = withHydraResolvers(options.resolvers, {
    now: new Date(),
    root: () => undefined,
  });
  return createBareEngine({ ...options, resolvers });
}

/**
 * Composes a config in one call. Files are read afresh each time: for many compositions of one
 * tree, make an engine.
 *
 * @throws ConfigError for anything that is wrong with the files or the overrides.
 */
export function compose(options: ComposeOptions & EngineOptions): Config {
  checkOptions(options);
  return createEngine(options).compose(options);
}

/**
 * `OmegaConf.create(text)`: a tree from YAML 1.1.
 *
 * @throws ConfigError `yaml.*` with the place.
 */
export const loadYaml = (text: string, options?: ReadOptions): ConfigNode =>
  createConfig(text, options);

/**
 * `OmegaConf.to_yaml` of a tree or of plain data, byte for byte.
 *
 * @throws ConfigError `key.invalid_type`, `interpolation.syntax` for what can be in no config; those of
 *   interpolations with `resolve`
 */
export function toYaml(
  value: unknown,
  options: { readonly resolve?: boolean; readonly sortKeys?: boolean } = {},
): string {
  const node = configOf(value, "toYaml()");
  const resolved = options.resolve ? resolveTree(node, createResolveContext()) : node;
  return writeYaml(resolved, { sortKeys: options.sortKeys ?? false });
}

/**
 * `OmegaConf.merge` of trees or plain data: later ones win, maps merge key by key.
 *
 * @throws ConfigError `merge.incompatible` for a map against a list, what types and flags refuse, and
 *   `key.invalid_type`, `interpolation.syntax` for what can be in no config
 */
export const merge = (...values: readonly unknown[]): ConfigNode =>
  mergeNodes(values.map((value) => configOf(value, "merge()")));

/** `OmegaConf.create` of plain data. */
const configOf = (value: unknown, by: string): ConfigNode =>
  checkTree(fromObject(value, fromCode(by)));
