/** What a resolution depends on: resolvers, environment, dialect, time. */
import { type OptionCheck, wrongArgument } from "../check-options.ts";
import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../dialect.ts";
import { ConfigError } from "../errors.ts";
import { type Limits, limitsOf, withLimits } from "../limits.ts";
import { builtinResolvers } from "./builtin-resolvers.ts";
import type { ResolveContext, Resolver } from "./resolver.ts";

export type { ResolveContext };

/** The same context for reading settings, where values of undeclared types are refused. */
export const asDeclared = (context: ResolveContext): ResolveContext => ({
  ...context,
  declared: true,
});

/** The same context, and a function that returns whether a resolver has been called since. */
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
  /** Another context, which provides the defaults of resolvers, environment and warnings. */
  readonly base?: ResolveContext;
  /** In addition to the built-in ones, or to those of `base`. */
  readonly resolvers?: Iterable<Resolver>;
  /**
   * Whether `resolvers` replace built-in ones, and later ones earlier ones, of the same name. Undefined if the caller
   * does not know.
   */
  readonly replace?: boolean;
  /** By default that of `base`, or an empty one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Any subset; by default those of `base`, or of the environment. */
  readonly limits?: Partial<Limits>;
  /** By default that of `base`, or Hydra 1.3. */
  readonly dialect?: Dialect;
  readonly settersOf?: ResolveContext["settersOf"];
  /** By default warnings are dropped. */
  readonly onWarning?: (message: string) => void;
}

/**
 * @throws ConfigError `resolver.invalid` for an empty name, a duplicate name without `replace`, or a value that is no
 *   resolver
 */
export function createResolveContext(options: ResolveContextOptions = {}): ResolveContext {
  const { base, onWarning } = options;
  const dialect = options.dialect ?? base?.dialect ?? DEFAULT_DIALECT;
  const resolvers = new Map(base?.resolvers ?? BUILTIN);
  for (const resolver of ADDED)
    if (base?.dialect !== dialect && dialect.addedResolvers.includes(resolver.name))
      resolvers.set(resolver.name, resolver);
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
  const env = options.env ?? base?.env ?? {};
  return {
    resolvers,
    // Cached results are valid only for the same resolvers and environment.
    cache: base !== undefined && isLike(base, options) ? base.cache : new Map(),
    env,
    limits: withLimits(base?.limits ?? limitsOf(env), options.limits),
    dialect,
    warn: (message) => (onWarning ?? base?.warn)?.(message),
    ...(options.settersOf !== undefined && { settersOf: options.settersOf }),
  };
}

const ADDED = builtinResolvers.filter(({ name }) =>
  Object.values(DIALECTS).some(({ addedResolvers }) => addedResolvers.includes(name)),
);

/** The resolvers of every version. */
const BUILTIN = new Map(
  builtinResolvers
    .filter((resolver) => !ADDED.includes(resolver))
    .map((resolver) => [resolver.name, resolver]),
);

const isLike = (base: ResolveContext, options: ResolveContextOptions) => {
  const { env = base.env, dialect = base.dialect, resolvers } = options;
  return env === base.env && dialect === base.dialect && resolvers === undefined;
};

/** An option that is a context. Configs have one, and are often passed instead. */
export const resolveContext: OptionCheck = (by, name, value) => {
  const isContext =
    typeof value === "object" && value !== null && "resolvers" in value && "cache" in value;
  if (isContext) return;
  const hint = "pass the 'context' of a composed config";
  throw wrongArgument(by, name, "the context of a composed config", value, hint);
};

/**
 * The given resolvers. JavaScript callers may pass a single one, or a map of functions, as Python registers them; both
 * are refused.
 * @throws ConfigError `resolver.invalid`
 */
export function resolverList(list: Iterable<Resolver> = []): readonly Resolver[] {
  if (typeof list !== "object" || list === null || !(Symbol.iterator in list)) throw notResolvers();
  const resolvers = [...list];
  if (!resolvers.every(isResolver)) throw notResolvers();
  return resolvers;
}

const isResolver = (candidate: unknown): boolean =>
  typeof candidate === "object" &&
  candidate !== null &&
  "name" in candidate &&
  typeof candidate.name === "string" &&
  "resolve" in candidate &&
  typeof candidate.resolve === "function";

const notResolvers = (): ConfigError =>
  new ConfigError({
    code: "resolver.invalid",
    message: "resolvers must be a list of resolvers",
    hint: "make one with resolver(name, function)",
  });
