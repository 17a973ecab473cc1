/** What an error says, as data; `errors.ts` has the errors themselves. */
import type { Origin } from "./origin.ts";

/**
 * All reasons for which the engine refuses input. One union for all stages, grouped by the stage that raises them;
 * `tests/conformance` maps each to the exception class that Hydra raises instead.
 */
export type ErrorCode =
  // values: YAML
  | "yaml.syntax"
  | "yaml.duplicate_key"
  | "yaml.unsupported_tag"
  | "yaml.invalid_value"
  | "yaml.alias_limit"
  | "yaml.depth_limit"
  // values: limits
  | "limit.values"
  | "limit.characters"
  | "limit.unpacked_bytes"
  // values: keys, types, flags
  | "key.invalid_type"
  | "key.not_found"
  | "value.missing"
  | "value.wrong_type"
  | "value.readonly"
  | "value.struct"
  | "merge.incompatible"
  // values: interpolation
  | "interpolation.syntax"
  | "interpolation.not_found"
  | "interpolation.cycle"
  | "interpolation.to_missing"
  | "resolver.unknown"
  | "resolver.failed"
  | "resolver.invalid"
  // overrides
  | "override.syntax"
  | "override.function"
  | "override.sweep_not_allowed"
  // compose
  | "compose.missing_config"
  | "compose.missing_option"
  | "compose.invalid_defaults"
  | "compose.override_failed"
  | "compose.unused_override"
  | "compose.ambiguous_override"
  | "compose.invalid_config"
  | "compose.unsupported"
  // schema
  | "schema.invalid"
  | "schema.mismatch"
  // instantiate
  | "instantiate.target"
  | "instantiate.invalid"
  | "instantiate.failed"
  // app
  | "app.usage"
  | "app.flags"
  | "app.help_template"
  | "app.unsupported"
  | "app.objective"
  | "app.run_directory"
  | "app.job"
  | "app.interrupted"
  | "app.system"
  | "app.sweep_record"
  | "app.sweep_changed"
  | "app.sweep_damaged"
  | "app.launcher"
  | "plugin.clash"
  | "plugin.invalid"
  | "plugin.settings"
  | "plugin.untrusted"
  // profile
  | "profile.device"
  | "profile.gate"
  | "profile.input"
  | "profile.label_rule"
  | "profile.ncu_option"
  | "profile.nsys_option"
  | "profile.program"
  | "profile.stopped"
  | "profile.unsupported"
  | PluginErrorCode;

/** A code of a plugin: the plugin's name, a slash and a word of its own, `slurm/missing`. */
export type PluginErrorCode = `${string}/${string}`;

/**
 * An error as data: what is wrong, where, and what to do. `renderError` converts it to text. Fields that are undefined
 * when an error is made are absent from its `details`.
 */
export interface ErrorDetails<Code extends string = ErrorCode> {
  readonly code: Code;
  /** First line: what is wrong, in Hydra's wording where Hydra has one. No trailing newline. */
  readonly message: string;
  /** The place of the wrong text. */
  readonly origin?: Origin | undefined;
  /** Full dotted key concerned, e.g. `db.port`. */
  readonly key?: string | undefined;
  /** What would have been accepted: options, keys, function names. */
  readonly available?: readonly string[] | undefined;
  /** The nearest accepted name, when one is near. */
  readonly nearest?: string | undefined;
  /** What to do, often the command line that would work. */
  readonly hint?: string | undefined;
  /** Further problems found at the same time; each is rendered below this one, in the same form. */
  readonly others?: readonly NestedError[] | undefined;
  readonly cause?: unknown;
}

/** An error within another one. */
export interface NestedError extends Error {
  readonly code: string;
  readonly details: ErrorDetails<string>;
}
