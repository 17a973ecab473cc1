import type { Config } from "./compose/config.ts";
import type { ComposeOptions, EngineOptions } from "./engine.ts";
import { createEngine } from "./engine.ts";

export type {
  Composition,
  CompositionWarning,
  Config,
  ConfigSource,
  DefaultsRow,
  Explanation,
  LoadedConfig,
  MemoryEntry,
  PlainValue,
  SourceFactory,
} from "./compose/index.ts";
export { memorySource, toPlain } from "./compose/index.ts";
export type { ComposeOptions, Dialect, Engine, EngineOptions } from "./engine.ts";
export { createEngine, HYDRA_VERSION } from "./engine.ts";
export type { Override } from "./overrides/index.ts";
export { parseOverride, parseOverrides } from "./overrides/index.ts";

/**
 * Composes a config in one call. Files are read afresh each time: for many compositions of one
 * tree, make an engine.
 *
 * @throws ConfigError for anything that is wrong with the files or the overrides.
 */
export function compose(options: ComposeOptions & EngineOptions): Config {
  return createEngine(options).compose(options);
}
