import { plugins } from "./compose/plugins/check-plugin.ts";
import { configStore } from "./compose/sources/check-entry.ts";
import type { ComposeOptions, EngineOptions } from "./engine.ts";
import type { OptionChecks } from "./values/check-options.ts";
import { limitsOption } from "./values/limits.ts";
import {
  anything,
  checkedAsRegistered,
  environment,
  fn,
  listOf,
  mapOf,
  oneOf,
  optional,
  orNull,
  path,
  text,
  trueOrFalse,
} from "./values/option-kinds.ts";

/** The checks of `createEngine`'s options. */
export const ENGINE_OPTIONS: OptionChecks<EngineOptions> = {
  cwd: optional(path),
  env: optional(environment),
  resolvers: checkedAsRegistered,
  store: optional(configStore),
  plugins: optional(plugins),
  sources: optional(mapOf("functions", fn)),
  dialect: anything,
  limits: limitsOption,
};

/** The checks of what a composition takes. */
export const COMPOSE_OPTIONS: OptionChecks<ComposeOptions> = {
  configDir: orNull(path),
  configDirs: optional(listOf("strings", path, '["more"]')),
  configName: orNull(text),
  overrides: optional(listOf("strings", text, '["db=mysql", "+lr=0.1"]')),
  mode: optional(oneOf("run", "multirun")),
  jobName: optional(text),
  returnHydraConfig: optional(trueOrFalse),
  fromShell: optional(trueOrFalse),
};
