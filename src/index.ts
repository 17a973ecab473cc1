/**
 * Hydra and OmegaConf for TypeScript: composes config trees, reads and writes their YAML, and is
 * `@hydra.main` for programs.
 *
 * @module hydraconf
 */

import type { AsyncComposeOptions, AsyncResolver, AsyncResolverOptions } from "./compose-async.ts";
import type { Config } from "./engine/compose/config.ts";
import type { DataOf } from "./engine/compose/config-types.ts";
import { memorySource as portableSource } from "./engine/compose/sources/memory-source.ts";
import {
  type Instantiate,
  type InstantiateAsync,
  instantiation,
} from "./engine/instantiate/instantiate.ts";
import { NO_TARGETS } from "./engine/instantiate/module-targets.ts";
import {
  checkOptions,
  checkText,
  count,
  fn,
  type OptionChecks,
  optional,
  trueOrFalse,
} from "./engine/values/check-options.ts";
import type { ConfigSchema } from "./engine/values/config-schema.ts";
import { createResolveContext } from "./engine/values/resolution/context.ts";
import {
  createEngine as createBareEngine,
  ENGINE_OPTIONS,
  type EngineOptions,
  openNodeEngine,
  schemaReader,
} from "./engine.ts";
import { type OmegaConf, omegaConf } from "./omegaconf.ts";
import {
  COMPOSE_OPTIONS,
  type ComposeOptions,
  type Engine,
  fitWith,
  withHydra,
} from "./open-engine.ts";
import type { ConfigListeners, WatchedConfig } from "./watch-config.ts";

export { hydraMain } from "./app/cli/hydra-main.ts";
export { renderExplanation } from "./app/cli/show-explanation.ts";
export { exitCode } from "./app/job/job.ts";
export { STANDARD_PLUGINS } from "./app/plugins/standard-plugins.ts";
export {
  diffConfigs,
  leavesOf,
  pathText,
} from "./engine/compose/index.ts";
export { createTargets } from "./engine/instantiate/module-targets.ts";
export { target } from "./engine/instantiate/target.ts";
export { nodeOf } from "./engine/instantiate/view.ts";
export { CodedError, ConfigError, isCodedError, isConfigError } from "./engine/values/errors.ts";
export { DEFAULT_LIMITS } from "./engine/values/limits.ts";
export { toObject } from "./engine/values/plain-objects.ts";
export { renderError } from "./engine/values/render-error.ts";
export { resolver } from "./engine/values/resolution/resolver.ts";
export { isInterpolation, isMissing, maskedCopy, setFlags } from "./omegaconf.ts";
export { parseOverride, parseOverrides } from "./parse-overrides.ts";
export type * from "./public-types.ts";

/**
 * An engine with the resolvers that Hydra itself registers: `now` (the time at which the engine was created),
 * `python_version`, and `hydra`, which has no values outside of a running program.
 *
 * @throws ConfigError for an unknown dialect or an invalid resolver, and `value.wrong_type` for unknown options and
 * values that the types do not allow.
 */
export function createEngine<const Schema extends ConfigSchema | undefined = undefined>(
  options: EngineOptions<Schema> = {},
): Engine<Schema> {
  checkOptions("createEngine", options, ENGINE_OPTIONS);
  return createBareEngine(withHydra(options));
}

/**
 * Composes a config in one call. Files are read anew each time: to compose one tree many times, create an engine.
 *
 * @throws ConfigError for errors in the files or the overrides, and those of `createEngine`.
 */
export function compose<
  const Schema extends ConfigSchema | undefined = undefined,
  const Dir extends string | null = null,
  const Name extends string | null = null,
  const Overrides extends readonly string[] = readonly string[],
>(
  options: ComposeOptions<Schema, Dir, Name, Overrides> & EngineOptions<Schema>,
): Config<DataOf<Schema, Dir, Name>> {
  const checks = { ...COMPOSE_OPTIONS, ...ENGINE_OPTIONS };
  checkOptions("compose", options, checks, 'compose({ configDir: "conf", ... })');
  return openNodeEngine(withHydra(options)).compose<Schema, Dir, Name>(options as never);
}

/**
 * Composes a config of which parts have to be waited for: resolvers of `asyncResolver`, layers and sources that return promises. All are
 * asked at once, and equal questions once. The config itself is as that of `compose`: its values are there.
 *
 * @throws ConfigError as `compose`; `resolver.failed`, with the place of the interpolation, for a resolver that fails or gives no answer in
 *   its time
 */
export async function composeAsync<
  const Schema extends ConfigSchema | undefined = undefined,
  const Dir extends string | null = null,
  const Name extends string | null = null,
  const Overrides extends readonly string[] = readonly string[],
>(
  options: AsyncComposeOptions<Schema, Dir, Name, Overrides>,
): Promise<Config<DataOf<Schema, Dir, Name>>> {
  const { composeWaiting } = await import("./compose-async.ts");
  return composeWaiting<DataOf<Schema, Dir, Name>>(options as never);
}

/**
 * Composes a config, and again whenever one of the files that it was made of changes, or a file that it looked for appears. What gives no
 * config is reported, and the last good config stays.
 *
 * @throws ConfigError as `composeAsync`, for the first composition
 */
export async function watchConfig<
  const Schema extends ConfigSchema | undefined = undefined,
  const Dir extends string | null = null,
  const Name extends string | null = null,
  const Overrides extends readonly string[] = readonly string[],
>(
  options: AsyncComposeOptions<Schema, Dir, Name, Overrides>,
  listeners: ConfigListeners<DataOf<Schema, Dir, Name>>,
): Promise<WatchedConfig<DataOf<Schema, Dir, Name>>> {
  const { watchFiles } = await import("./watch-config.ts");
  return watchFiles(options as never, listeners);
}

/**
 * A resolver that `composeAsync` waits for: `asyncResolver("vault", async ([path], { signal }) => read(path))` for `${vault:db/password}`.
 *
 * @param load gets the arguments of the interpolation as plain data, and returns plain data
 */
export const asyncResolver = (
  name: string,
  load: AsyncResolver["load"],
  options: AsyncResolverOptions = {},
): AsyncResolver => {
  checkText("asyncResolver", "the name", name);
  fn("asyncResolver", "the second argument", load);
  checkOptions("asyncResolver", options, ASYNC_RESOLVER);
  return { ...options, name, load, answers: new Map() };
};

const ASYNC_RESOLVER: OptionChecks<AsyncResolverOptions> = {
  timeout: optional(count),
  maxAge: optional(count),
  isSecret: optional(trueOrFalse),
};

// Where a call gives no environment, it has that of the process.
const inProcess = omegaConf(() => process.env);
/** @function */
export const loadYaml: OmegaConf["loadYaml"] = inProcess.loadYaml;
/** @function */
export const toYaml: OmegaConf["toYaml"] = inProcess.toYaml;
/** @function */
export const merge: OmegaConf["merge"] = inProcess.merge;
/** @function */
export const mergeAll: OmegaConf["mergeAll"] = inProcess.mergeAll;
/** @function */
export const select: OmegaConf["select"] = inProcess.select;
/** @function */
export const update: OmegaConf["update"] = inProcess.update;
/** @function */
export const resolve: OmegaConf["resolve"] = inProcess.resolve;
/** @function */
export const missingKeys: OmegaConf["missingKeys"] = inProcess.missingKeys;
/** @function */
export const fromDotlist: OmegaConf["fromDotlist"] = inProcess.fromDotlist;
/** @function */
export const mergeDotlist: OmegaConf["mergeDotlist"] = inProcess.mergeDotlist;

const instantiating = instantiation({
  context: () => createResolveContext({ env: process.env }),
  targets: NO_TARGETS,
  fit: (part) => fitWith(schemaReader(process.cwd()))(part),
});
/** @function */
export const instantiate: Instantiate = instantiating.instantiate;
/** @function */
export const instantiateAsync: InstantiateAsync = instantiating.instantiateAsync;

/** @function */
export const memorySource: typeof portableSource = (info, entries, reading) =>
  portableSource(info, entries, { env: process.env, ...reading });
