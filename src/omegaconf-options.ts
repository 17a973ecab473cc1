import type { ConfigTextOptions } from "./compose/config.ts";
import type { OptionChecks } from "./values/check-options.ts";
import type { FlagChanges } from "./values/flags.ts";
import { resolveContext } from "./values/interpolation/check-context.ts";
import type { ResolveContext } from "./values/interpolation/context.ts";
import {
  checkedAsRegistered,
  environment,
  fn,
  optional,
  trueOrFalse,
} from "./values/option-kinds.ts";
import type { Resolver } from "./values/resolvers/resolver.ts";

/** What interpolations see. */
export interface ResolvingOptions {
  /**
   * What a composed config resolves with (`config.context`), for a tree that was made of it: its program's
   * resolvers, and what Hydra adds. A config that is given itself brings its own.
   */
  readonly context?: ResolveContext;
  /** In addition to the built-in `oc.*`, or to those of `context`. */
  readonly resolvers?: Iterable<Resolver>;
  /** Lets `resolvers` replace the built-in ones, and later ones earlier ones, of the same name. */
  readonly replace?: boolean;
  /** What `oc.env` sees. Default: what `context` says, or the environment of the process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Takes the warnings of `oc.deprecated`. Default: `context` takes them, or they are dropped. */
  readonly onWarning?: (message: string) => void;
}

/** What `select` makes of what is not there. */
export interface SelectOptions extends ResolvingOptions {
  readonly throwOnMissing?: boolean;
  readonly throwOnResolutionFailure?: boolean;
}

/** How `update` writes, and what resolves an interpolation that is merged over. */
export interface UpdateOptions extends ResolvingOptions {
  /** Merge maps and lists into those that stand there (default), or replace them. */
  readonly merge?: boolean;
  /** Add a key in spite of `struct`. */
  readonly forceAdd?: boolean;
}

export const RESOLVING_OPTIONS: OptionChecks<ResolvingOptions> = {
  context: optional(resolveContext),
  resolvers: checkedAsRegistered,
  replace: optional(trueOrFalse),
  env: optional(environment),
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
