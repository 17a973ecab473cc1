/**
 * The codes of the engine's errors with what each means, grouped by the stage that raises them. Those of the last group
 * are raised by several wings.
 */
export const ENGINE_ERRORS = {
  // values: YAML
  "yaml.syntax": "a text is not YAML",
  "yaml.duplicate_key": "a mapping has a key twice",
  "yaml.unsupported_tag": "a YAML tag that is not supported",
  "yaml.invalid_value": "a value is not what its tag or form says",
  "yaml.alias_limit": "aliases that contain themselves, or too many of them",
  "yaml.depth_limit": "YAML is nested too deeply",
  // values: limits
  "limit.values": "aliases and interpolations add too many values",
  "limit.characters": "aliases and interpolations add too much text",
  "limit.unpacked_bytes": "a compressed file holds too much",
  // values: keys, types, flags
  "key.invalid_type": "a key is of a type that its config does not take, or too long",
  "key.not_found": "a key is not in the config",
  "value.missing": "a value is missing (`???`)",
  "value.wrong_type": "a value is not of the declared or required type",
  "value.readonly": "a config that is read-only is changed",
  "value.struct": "a key is added to a config that allows no new ones",
  "merge.incompatible": "two values cannot be merged",
  // values: interpolation
  "interpolation.syntax": "an interpolation is malformed",
  "interpolation.not_found": "an interpolation refers to a key that is not there",
  "interpolation.cycle": "interpolations refer to each other",
  "interpolation.to_missing": "an interpolation refers to a missing value",
  "resolver.unknown": "no resolver has this name",
  "resolver.failed": "a resolver raised an error",
  "resolver.invalid": "a resolver is registered wrongly, or gives what no config can hold",
  // overrides
  "override.syntax": "an override is malformed",
  "override.function": "a function of an override does not exist, or is called wrongly",
  "override.wrong_value": "an override gives a config group what is no name of an option",
  "override.sweep_not_allowed": "a sweep where there must be one value",
  // compose
  "compose.missing_config": "a config or a config directory was not found",
  "compose.missing_option": "a config group has no such option",
  "compose.invalid_defaults": "a defaults list is malformed",
  "compose.override_failed": "an override cannot be applied to the config",
  "compose.unused_override": "an override of a group that no defaults list has",
  "compose.ambiguous_override": "an override may mean several entries of a defaults list",
  "compose.invalid_config": "a config file or its header is malformed",
  "compose.unsupported": "what this version of Hydra does not support",
  // schema
  "schema.invalid": "a schema is malformed",
  "schema.mismatch": "a config does not fit its schema",
  // instantiate
  "instantiate.target": "a target is not one that the program registered or allowed",
  "instantiate.invalid": "a node or its arguments cannot be instantiated",
  "instantiate.failed": "a target raised an error",
  // several wings
  "plugin.clash": "two plugins bring the same config, resolver or scheme",
  "app.unsupported": "what is not supported here, in this form, or on this machine",
  "app.usage": "a command line that cannot be meant",
  "app.run_directory": "a directory is in use, shared by jobs, or holds other results",
  "app.system": "an error of the system, such as a full disk or a missing permission",
} as const;

/** A code of an error of the engine. */
export type EngineErrorCode = keyof typeof ENGINE_ERRORS;
