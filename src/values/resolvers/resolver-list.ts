import { ConfigError } from "../errors.ts";
import type { Resolver } from "./resolver.ts";

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
