import type { ConfigTextOptions } from "./compose/config.ts";
import type { OptionChecks } from "./values/check-options.ts";
import type { FlagChanges } from "./values/flags.ts";
import { resolveContext } from "./values/interpolation/check-context.ts";
import type { ResolveContext } from "./values/interpolation/context.ts";
import { type Limits, limitsOption } from "./values/limits.ts";
import {
  checkedAsRegistered,
  environment,
  fn,
  optional,
  trueOrFalse,
} from "./values/option-kinds.ts";
import type { Resolver } from "./values/resolvers/resolver.ts";

/** How interpolations are resolved. */
export interface ResolvingOptions {
  /**
   * The context of a composed config (`config.context`), for a tree derived from it: the program's resolvers, and
   * those that Hydra adds. Not needed for a config itself, which brings its own.
   */
  readonly context?: ResolveContext;
  /** In addition to the built-in `oc.*`, or to those of `context`. */
  readonly resolvers?: Iterable<Resolver>;
  /** Lets `resolvers` replace built-in ones of the same name, and later entries earlier ones. */
  readonly replace?: boolean;
  /** What `oc.env` reads. Default: that of `context`, or the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How much interpolations may add, any of the limits. Default: those of `context`, or of the environment. */
  readonly limits?: Partial<Limits>;
  /** Receives the warnings of `oc.deprecated`. Default: that of `context`; without one they are dropped. */
  readonly onWarning?: (message: string) => void;
}

/** How `select` treats missing values and failures. */
export interface SelectOptions extends ResolvingOptions {
  readonly throwOnMissing?: boolean;
  readonly throwOnResolutionFailure?: boolean;
}

/** How `update` writes, and how an interpolation is resolved that is merged over. */
export interface UpdateOptions extends ResolvingOptions {
  /** Merge maps and lists into existing ones (default), or replace them. */
  readonly merge?: boolean;
  /** Add a key despite the flag `struct`. */
  readonly forceAdd?: boolean;
}

export const RESOLVING_OPTIONS: OptionChecks<ResolvingOptions> = {
  context: optional(resolveContext),
  resolvers: checkedAsRegistered,
  replace: optional(trueOrFalse),
  env: optional(environment),
  limits: limitsOption,
  onWarning: optional(fn),
};

export const TEXT_OPTIONS: OptionChecks<ResolvingOptions & ConfigTextOptions> = {
  ...RESOLVING_OPTIONS,
  resolve: optional(trueOrFalse),
  sortKeys: optional(trueOrFalse),
};

export const SELECT_OPTIONS: OptionChecks<SelectOptions> = {
  ...RESOLVING_OPTIONS,
  throwOnMissing: optional(trueOrFalse),
  throwOnResolutionFailure: optional(trueOrFalse),
};

export const UPDATE_OPTIONS: OptionChecks<UpdateOptions> = {
  ...RESOLVING_OPTIONS,
  merge: optional(trueOrFalse),
  forceAdd: optional(trueOrFalse),
};

export const FLAGS: OptionChecks<FlagChanges> = {
  struct: optional(trueOrFalse),
  readonly: optional(trueOrFalse),
};
