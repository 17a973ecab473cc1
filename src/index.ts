/**
 * Hydra and OmegaConf for TypeScript: composes config trees, reads and writes their YAML, and is
 * `@hydra.main` for programs.
 *
 * @module hydraconf
 */

import { withHydraResolvers } from "./app/job/resolvers.ts";
import type { Config } from "./engine/compose/config.ts";
import type { ConfigSchema, ResolvedData } from "./engine/compose/sources/config-source.ts";
import {
  type EvaluationOptions,
  type Override,
  parseOverride as readOverride,
  parseOverrides as readOverrides,
} from "./engine/overrides/index.ts";
import { checkOptions, fn, type OptionChecks, optional } from "./engine/values/check-options.ts";
import {
  type DialectName,
  dialectNamed,
  dialectOption,
  withDialect,
} from "./engine/values/dialect.ts";
import {
  COMPOSE_OPTIONS,
  type ComposeOptions,
  createEngine as createBareEngine,
  ENGINE_OPTIONS,
  type Engine,
  type EngineOptions,
  openEngine,
} from "./engine.ts";

export { renderExplanation } from "./app/cli/explain.ts";
export { hydraMain } from "./app/cli/hydra-main.ts";
export { exitCode } from "./app/job/job.ts";
export { STANDARD_PLUGINS } from "./app/plugins/standard-plugins.ts";
export {
  diffConfigs,
  leavesOf,
  memorySource,
  pathText,
} from "./engine/compose/index.ts";
export { instantiate, instantiateAsync } from "./engine/instantiate/instantiate.ts";
export { target } from "./engine/instantiate/target.ts";
export { createTargets } from "./engine/instantiate/targets.ts";
export { nodeOf } from "./engine/instantiate/view.ts";
export { CodedError, ConfigError, isCodedError, isConfigError } from "./engine/values/errors.ts";
export { DEFAULT_LIMITS } from "./engine/values/limits.ts";
export { toObject } from "./engine/values/plain-objects.ts";
export { renderError } from "./engine/values/render-error.ts";
export { resolver } from "./engine/values/resolution/resolver.ts";
export {
  fromDotlist,
  isInterpolation,
  isMissing,
  loadYaml,
  maskedCopy,
  merge,
  mergeAll,
  mergeDotlist,
  missingKeys,
  resolve,
  select,
  setFlags,
  toYaml,
  update,
} from "./omegaconf.ts";
export type * from "./public-types.ts";

/**
 * An engine with the resolvers that Hydra itself registers: `now` (the time at which the engine was created),
 * `python_version`, and `hydra`, which has no values outside of a running program.
 *
 * @throws ConfigError for an unknown dialect or an invalid resolver, and `value.wrong_type` for unknown options and
 * values that the types do not allow.
 */
export function createEngine(options: EngineOptions = {}): Engine {
  checkOptions("createEngine", options, ENGINE_OPTIONS);
  return createBareEngine(withResolvers(options));
}

/**
 * Composes a config in one call. Files are read anew each time: to compose one tree many times, create an engine.
 *
 * @throws ConfigError for errors in the files or the overrides, and those of `createEngine`.
 */
export function compose<Schema extends ConfigSchema = ConfigSchema>(
  options: ComposeOptions<Schema> & EngineOptions,
): Config<ResolvedData<Schema>> {
  const checks = { ...COMPOSE_OPTIONS, ...ENGINE_OPTIONS };
  checkOptions("compose", options, checks, 'compose({ configDir: "conf", ... })');
  return openEngine(withResolvers(options)).compose(options);
}

/** How overrides are parsed and their functions evaluated. */
export interface ParseOptions extends Pick<EvaluationOptions, "random"> {
  /** The version of Hydra whose override language is used. Default: 1.3. */
  readonly dialect?: DialectName;
}

const PARSE_OPTIONS: OptionChecks<ParseOptions> = { random: optional(fn), dialect: dialectOption };

/**
 * Parses one override and evaluates its functions.
 * @param index its position in the list of overrides, kept in the origin
 * @throws ConfigError `override.syntax` or `override.function`, with the span in its origin
 */
export function parseOverride(text: string, options: ParseOptions = {}, index = 0): Override {
  checkOptions("parseOverride", options, PARSE_OPTIONS);
  return readOverride(text, withDialect(options), index);
}

/** Parses a list of overrides; throws for the first invalid one. */
export function parseOverrides(
  texts: readonly string[],
  options: ParseOptions = {},
): readonly Override[] {
  checkOptions("parseOverrides", options, PARSE_OPTIONS);
  return readOverrides(texts, withDialect(options));
}

function withResolvers(options: EngineOptions): EngineOptions {
  const { dialect } = options;
  const program = {
    now: new Date(),
    root: () => undefined,
    ...(dialect !== undefined && { dialect: dialectNamed(dialect) }),
  };
  return { ...options, resolvers: withHydraResolvers(options.resolvers, program) };
}
