import { type OptionCheck, wrongArgument } from "../check-options.ts";
import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import { type Limits, limitsOf, withLimits } from "../limits.ts";
import type { Place } from "../place.ts";
import { builtinResolvers } from "./builtin-resolvers.ts";
import type { Resolver } from "./resolver.ts";

/** All that the resolution of interpolations depends on besides the tree. */
export interface ResolveContext {
  readonly resolvers: ReadonlyMap<string, Resolver>;
  /** Results of resolvers with `useCache`, by name and spelling of the arguments. */
  readonly cache: Map<string, Place>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** How much one operation may add to what is written. */
  readonly limits: Limits;
  /** The version of Hydra that decides where versions differ. */
  readonly dialect: Dialect;
  /** Takes the warnings that resolvers issue (`oc.deprecated`). */
  warn(message: string): void;
  /** Notified of each use of a resolver: what comes of it may be another the next time. */
  readonly onResolverCall?: () => void;
  /**
   * Whether what is declared as a map, list, object or union may refer to nothing else, as settings that a
   * program reads. Default: false, OmegaConf sees it when it writes the value.
   */
  readonly declared?: boolean;
}

/** The same context for who reads settings, and cannot do with anything else than is declared. */
export const asDeclared = (context: ResolveContext): ResolveContext => ({
  ...context,
  declared: true,
});

/** The same context, and whether it has been asked for a resolver since. */
export function watchResolvers(context: ResolveContext): {
  readonly context: ResolveContext;
  readonly wereCalled: () => boolean;
} {
  let called = false;
  const onResolverCall = (): void => {
    called = true;
    context.onResolverCall?.();
  };
  return { context: { ...context, onResolverCall }, wereCalled: () => called };
}

export interface ResolveContextOptions {
  /** Another context, whose resolvers, environment and warnings count where nothing else is said. */
  readonly base?: ResolveContext;
  /** In addition to the built-in ones, or to those of `base`. */
  readonly resolvers?: Iterable<Resolver>;
  /**
   * Whether `resolvers` replace built-in ones, and later ones earlier ones, of the same name; undefined
   * where that is unknown.
   */
  readonly replace?: boolean;
  /** By default the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Any of them; by default those of `base`, or of the environment. */
  readonly limits?: Partial<Limits>;
  /** By default that of `base`, or Hydra 1.3. */
  readonly dialect?: Dialect;
  /** By default warnings are dropped. */
  readonly onWarning?: (message: string) => void;
}

/**
 * @throws ConfigError `resolver.invalid` for an empty name, one that is taken without `replace`, or what is no
 *   resolver
 */
export function createResolveContext(options: ResolveContextOptions = {}): ResolveContext {
  const { base, onWarning } = options;
  const resolvers = new Map(base?.resolvers ?? BUILTIN);
  for (const resolver of resolverList(options.resolvers)) {
    if (resolver.name === "")
      throw new ConfigError({ code: "resolver.invalid", message: "A resolver needs a name" });
    if (resolvers.has(resolver.name) && options.replace !== true)
      throw new ConfigError({
        code: "resolver.invalid",
        message: `resolver '${resolver.name}' is already registered`,
        hint:
          options.replace === undefined
            ? "give it another name"
            : "pass replace: true to replace it, or give it another name",
      });
    resolvers.set(resolver.name, resolver);
  }
  const env = options.env ?? base?.env ?? process.env;
  return {
    resolvers,
    // What is cached came of the same resolvers and environment.
    cache: base !== undefined && isLike(base, options) ? base.cache : new Map(),
    env,
    limits: withLimits(base?.limits ?? limitsOf(env), options.limits),
    dialect: options.dialect ?? base?.dialect ?? DEFAULT_DIALECT,
    warn: (message) => (onWarning ?? base?.warn)?.(message),
  };
}

const BUILTIN = new Map(builtinResolvers.map((resolver) => [resolver.name, resolver]));

const isLike = (base: ResolveContext, options: ResolveContextOptions) => {
  const { env = base.env, dialect = base.dialect, resolvers } = options;
  return env === base.env && dialect === base.dialect && resolvers === undefined;
};

/** An option that is a context: a config, which has one, is often taken for it. */
export const resolveContext: OptionCheck = (by, name, value) => {
  const isContext =
    typeof value === "object" && value !== null && "resolvers" in value && "cache" in value;
  if (isContext) return;
  const hint = "pass the 'context' of a composed config";
  throw wrongArgument(by, name, "the context of a composed config", value, hint);
};

/**
 * The resolvers that were given. JavaScript may give others: one, or a map of functions, as Python registers
 * them.
 * @throws ConfigError `resolver.invalid`
 */
export function resolverList(given: Iterable<Resolver> = []): readonly Resolver[] {
  if (typeof given !== "object" || given === null || !(Symbol.iterator in given))
    throw notResolvers();
  const resolvers = [...given];
  if (!resolvers.every(isResolver)) throw notResolvers();
  return resolvers;
}

const isResolver = (given: unknown): boolean =>
  typeof given === "object" &&
  given !== null &&
  "name" in given &&
  typeof given.name === "string" &&
  "resolve" in given &&
  typeof given.resolve === "function";

const notResolvers = (): ConfigError =>
  new ConfigError({
    code: "resolver.invalid",
    message: "resolvers must be a list of resolvers",
    hint: "make one with resolver(name, function)",
  });
