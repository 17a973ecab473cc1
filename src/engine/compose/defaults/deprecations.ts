/** Hydra's warnings about trees of an older dialect, in its words. */

import type { Override } from "../../overrides/ast.ts";
import { DIALECTS, type Dialect } from "../../values/dialect.ts";
import { ConfigError } from "../../values/errors.ts";
import type { Origin } from "../../values/origin.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { isYml, type LoadedConfig } from "../sources/config-source.ts";
import type { Repository } from "../sources/repository.ts";
import type { PlacedConfig } from "./placement.ts";

/** A warning or note that does not stop a composition. Warnings are data; the caller prints them. */
export interface CompositionWarning {
  readonly code: "deprecated" | "missing_self" | "note" | "unavailable_source" | "schema_match";
  /** In Hydra's wording; a note is ours, and not in the warnings of a result. */
  readonly message: string;
  readonly origin?: Origin;
}

const PACKAGE_HEADER = "https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/changes_to_package_header";

const deprecated = (message: string, origin?: Origin): CompositionWarning => ({
  code: "deprecated",
  message,
  ...(origin && { origin }),
});

/**
 * Hydra warns each time it looks for a named `.yml` file in a source, and again when it reads the file.
 *
 * @param isRead whether the file is also read where it is found
 */
function ymlLookups(
  path: string,
  { sources }: Repository,
  { readsYml }: Dialect,
  isRead = true,
): readonly CompositionWarning[] {
  if (!readsYml || !isYml(path)) return [];
  const found = sources.findIndex((source) => source.load(path) !== undefined);
  return ymlNames(found < 0 ? sources.length : found + (isRead ? 2 : 1));
}

/** Hydra looks up the schema of each config by its file name. */
export const ymlMatches = (
  path: string,
  loaded: LoadedConfig,
  { readsYml }: Dialect,
): readonly CompositionWarning[] =>
  readsYml && isYml(path) && loaded.source.scheme !== "structured" ? ymlNames(2) : [];

const ymlNames = (count: number): readonly CompositionWarning[] =>
  Array.from({ length: count }, () =>
    deprecated("Support for .yml files is deprecated. Use .yaml extension for Hydra config files"),
  );

/** The warnings about reading a config, which Hydra gives once per composition. */
export const readNotices = (
  path: string,
  loaded: LoadedConfig | undefined,
  repository: Repository,
  dialect: Dialect,
): readonly CompositionWarning[] => [
  ...ymlLookups(path, repository, dialect),
  ...(loaded?.defaults ?? []).flatMap(({ deprecations = [], origin }) =>
    deprecations.map((text) => deprecated(text, origin)),
  ),
];

/** `_name_` in the package of an override (`+db@_name_=mysql`). */
export const overrideNotices = (
  overrides: readonly Override[],
  { packageKeywords }: Dialect,
): readonly CompositionWarning[] =>
  packageKeywords
    ? overrides
        .filter((override) => override.package?.includes("_name_"))
        .map(({ origin }) =>
          deprecated(
            `In override ${origin.text}: _name_ keyword is deprecated in packages, see ${PACKAGE_HEADER}\n`,
            origin,
          ),
        )
    : [];

const KEYWORDS = /_group_|_name_/;

/**
 * A keyword in a `# @package` header. In dialects without such keywords, a note says so, since the author probably does
 * not know it.
 */
function headerNotice(
  { configPath, dialect }: PlacedConfig,
  loaded: LoadedConfig | undefined,
): CompositionWarning | undefined {
  const header = loaded?.package ?? null;
  const keyword = header?.match(KEYWORDS)?.[0];
  if (loaded === undefined || keyword === undefined) return undefined;
  if (dialect.packageKeywords)
    return deprecated(
      `In '${configPath}': Usage of deprecated keyword in package header '# @package ${header}'.\n` +
        `See ${PACKAGE_HEADER} for more information`,
      loaded.origin,
    );
  const supporting = Object.values(DIALECTS)
    .filter(({ packageKeywords }) => packageKeywords)
    .map(({ name }) => name);
  const meaning = keyword === "_group_" ? "group" : "name";
  return {
    code: "note",
    message:
      `in '${configPath}', '# @package ${header}' is a package of that name: ${keyword} stands for the config's ${meaning} ` +
      `only in Hydra ${supporting.join(" and ")} (version_base, --version-base)`,
    origin: loaded.origin,
  };
}

/** A group of Hydra's own that a defaults list overrides without the keyword. */
export const hydraOverrideNotice = (
  { configPath }: PlacedConfig,
  group: string,
  origin: Origin,
): CompositionWarning =>
  deprecated(
    `In ${configPath}: Invalid overriding of ${group}:\n` +
      "Default list overrides requires 'override' keyword.\n" +
      "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/defaults_list_override for more information.\n",
    origin,
  );

export const positionWarning = (notice: string, origin: Origin): CompositionWarning =>
  deprecated(`\n${notice}`, origin);

/** The environment variables that turn warnings into errors, as Hydra reads them. */
export function raiseIfAsked(warning: CompositionWarning, { env }: Pick<ResolveContext, "env">) {
  const { code, message, origin } = warning;
  const isRefused =
    code === "missing_self"
      ? env["SELF_WARNING_AS_ERROR"] === "1"
      : (code === "deprecated" || code === "schema_match") &&
        Boolean(env["HYDRA_DEPRECATION_WARNINGS_AS_ERRORS"]);
  if (!isRefused) return;
  throw new ConfigError({
    code: code === "missing_self" ? "compose.invalid_defaults" : "compose.unsupported",
    message,
    origin,
  });
}

/** The warnings about reading a config for its place. The primary config was read before, to extend the search path. */
export function readingNotices(
  placed: PlacedConfig,
  loaded: LoadedConfig | undefined,
  { primary, isFirst }: { readonly primary: boolean; readonly isFirst: boolean },
  repository: Repository,
  dialect: Dialect,
): readonly CompositionWarning[] {
  const { configPath } = placed;
  const ofFile = primary
    ? ymlLookups(configPath, repository, dialect, false)
    : isFirst
      ? readNotices(configPath, loaded, repository, dialect)
      : [];
  const notice = headerNotice(placed, loaded);
  return notice ? [...ofFile, notice] : ofFile;
}

/** A primary config whose list lacks `_self_`, while it has content. */
export const missingSelf = (configPath: string, origin: Origin): CompositionWarning => ({
  code: "missing_self",
  message:
    `In '${configPath}': Defaults list is missing \`_self_\`. ` +
    "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/default_composition_order for more information",
  origin,
});
