import { ConfigError } from "../errors.ts";
import type { Resolver } from "./resolver.ts";

/**
 * The resolvers that were given. JavaScript may give others: one, or a map of functions, as Python registers
 * them.
 * @throws ConfigError `resolver.invalid`
 */
export function resolverList(given: Iterable<Resolver> = []): readonly Resolver[] {
  if (typeof given !== "object" || !(Symbol.iterator in given)) throw notResolvers();
  const resolvers = [...given];
  if (resolvers.some(({ resolve }) => typeof resolve !== "function")) throw notResolvers();
  return resolvers;
}

const notResolvers = (): ConfigError =>
  new ConfigError({
    code: "resolver.invalid",
    message: "resolvers must be a list of resolvers",
    hint: "resolver(name, function) makes one of a function",
  });
