import { ConfigError } from "../../values/errors.ts";
import type { Limits } from "../../values/limits.ts";
import type { Origin } from "../../values/origin.ts";
import type { ConfigSource } from "./config-source.ts";
import { fileSource } from "./file-source.ts";
import { packageSource } from "./package-source.ts";

/** One entry of the search path as it is written: `file://conf`, `pkg://name/conf`, `conf`. */
export interface SearchPathEntry {
  readonly provider: string;
  readonly path: string;
  readonly origin?: Origin;
}

/** Makes the source that an entry names; `cwd` is where relative paths start. */
export type SourceFactory = (entry: {
  readonly provider: string;
  readonly path: string;
  readonly cwd: string;
  /** How much the aliases of a file may add. */
  readonly limits?: Limits;
}) => ConfigSource;

/** By scheme. An engine may be given more, e.g. `git://`. */
export type SourceFactories = ReadonlyMap<string, SourceFactory>;

export const STANDARD_SOURCES: SourceFactories = new Map<string, SourceFactory>([
  ["file", fileSource],
  ["pkg", packageSource],
]);

/**
 * @throws ConfigError `compose.invalid_config` for a scheme nobody handles, and for the config store's
 */
export function openSource(
  entry: SearchPathEntry,
  cwd: string,
  factories: SourceFactories,
  limits?: Limits,
): ConfigSource {
  const at = entry.path.indexOf("://");
  const scheme = at === -1 ? "file" : entry.path.slice(0, at);
  const factory = factories.get(scheme);
  if (factory === undefined)
    throw scheme === STORE ? secondStore(entry) : unknownScheme(entry, scheme, factories);
  const path = at === -1 ? entry.path : entry.path.slice(at + "://".length);
  return factory({ provider: entry.provider, path, cwd, ...(limits && { limits }) });
}

/** The scheme of the config store, which every search path has as its last source. */
const STORE = "structured";

function unknownScheme(
  { origin }: SearchPathEntry,
  scheme: string,
  factories: SourceFactories,
): ConfigError {
  const available = [...factories.keys(), STORE].sort();
  return new ConfigError({
    code: "compose.invalid_config",
    message: `No config source registered for schema ${scheme}, supported types : [${available.join(", ")}]`,
    ...(origin && { origin }),
    key: "hydra.searchpath",
    available,
  });
}

const secondStore = ({ path, origin }: SearchPathEntry): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `${path} cannot be added: the config store is already on the search path, after all other sources`,
    ...(origin && { origin }),
    key: "hydra.searchpath",
    hint: `remove ${STORE}:// from hydra.searchpath`,
  });
