import type { Override } from "../overrides/ast.ts";
import { createBudget } from "../values/budget.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { refuseExpansion } from "../values/size.ts";
import { applyOverrides } from "./apply-overrides.ts";
import { composeBase } from "./base.ts";
import type { Composition } from "./composition.ts";
import { splitOverrides } from "./defaults/split-overrides.ts";
import { hydraClassName } from "./hydra/class-name.ts";
import { fillRuntime } from "./hydra/runtime-node.ts";
import { type ExtendedSearchPath, extendSearchPath } from "./hydra-searchpath.ts";
import { type Defaults, listDefaults } from "./list-defaults.ts";
import { requireMap } from "./merge-rows.ts";
import { missingDirectoryHint } from "./missing-directory.ts";
import { PRIMARY_PROVIDER } from "./open-tree.ts";
import { checkComposed } from "./schemas/check.ts";
import type { ConfigSchema, SchemaReader } from "./schemas/config-schema.ts";
import { placedSchemas } from "./schemas/placed-schema.ts";
import { findSecrets, secretOverrides } from "./secrets.ts";
import type { Repository } from "./sources/repository.ts";
import type { Snapshot } from "./sources/snapshot.ts";
import type { RunMode } from "./sweep-legality.ts";
import { checkSweeps } from "./sweep-legality.ts";
import { withoutEntry } from "./tree-edit.ts";
import type { CompositionWarning } from "./warning.ts";

export interface ComposeRequest {
  readonly snapshot: Snapshot;
  /** null composes only what the overrides append, and the `hydra` node. */
  readonly configName: string | null;
  readonly overrides: readonly Override[];
  /** In `multirun`, sweeps are left out and groups without an option are left open. */
  readonly mode: RunMode;
  /** Leaves out also the sweeps that are refused: those over Hydra's own configuration. */
  readonly anySweeps?: boolean;
  readonly fromShell: boolean;
  readonly jobName: string;
  /** Goes to `hydra.runtime.cwd`. */
  readonly cwd: string;
  /** `hydra.runtime.version` and `version_base`. */
  readonly version: string;
  readonly versionBase: string;
  readonly context: ResolveContext;
  /** What reads the schemas of the config store; without it they are not looked at. */
  readonly schemaReader?: SchemaReader;
  /** The program's own schema, which is only asked what is secret. */
  readonly programSchema?: ConfigSchema;
  /** Is told the warnings of the result as they come up: also where there is no result. */
  readonly onWarning?: (warning: CompositionWarning) => void;
}

/**
 * Composes a config: the defaults tree, the list that it comes to, the configs of the list merged
 * at their packages, the overrides on top, and the `hydra` node completed.
 *
 * Pure over its snapshot: nothing is read twice, nothing is printed, nothing is kept.
 *
 * @throws ConfigError `compose.*`, `override.sweep_not_allowed`, `schema.*`, and `yaml.*` for bad
 *   files.
 */
export function composeConfig(request: ComposeRequest): Composition {
  try {
    return composeChecked(request);
  } catch (error) {
    throw isConfigError(error) && isAboutValues(error) ? asCompositionError(error) : error;
  }
}

function composeChecked(asked: ComposeRequest): Composition {
  // A base tells its warnings as they come up, one that was known already only when it is done.
  const onWarning = once(asked.onWarning);
  const request = { ...asked, onWarning };
  const { context, overrides } = request;
  requirePrimary(request.snapshot.repository);
  const searchPath = searchPathOf(request);
  const { repository } = searchPath;
  if (request.anySweeps !== true) checkSweeps(overrides, request);

  const choices = splitOverrides(overrides, repository);
  const base = composeBase({ ...request, repository, choices });
  base.warnings.forEach(onWarning);
  const changed = requireMap(
    applyOverrides(
      base.root,
      choices.values,
      context,
      {
        choices: base.tree.known,
        repository,
      },
      createBudget(context.limits, base.expanded),
    ),
  );
  // Aliases of all files, and what merging expanded.
  refuseExpansion(changed, context.limits);
  const schemas = placedSchemas(base.defaults, repository, request.schemaReader);
  checkComposed(schemas, changed, overrides);
  const secrets = findSecrets(changed, schemas, {
    ...(request.programSchema && { schema: request.programSchema }),
    ...(request.schemaReader && { reader: request.schemaReader }),
  });
  const hidden = secretOverrides({ secrets, overrides });
  const root = fillRuntime(
    changed,
    { ...request, choices: base.tree.known, sources: repository.sources, hidden },
    context,
  );
  return {
    root,
    config: withoutEntry(root, "hydra"),
    hydra: root.entries.get("hydra")?.value ?? root,
    configName: request.configName,
    defaults: base.defaults,
    tree: base.tree,
    choices: base.tree.known,
    overrides,
    repository,
    schemas,
    secrets,
    warnings: [...searchPath.warnings, ...base.warnings],
  };
}

/** Tells each warning once. */
function once(
  tell: (warning: CompositionWarning) => void = () => {},
): (warning: CompositionWarning) => void {
  const told = new Set<CompositionWarning>();
  return (warning) => {
    if (!told.has(warning)) tell(warning);
    told.add(warning);
  };
}

/** What `composeDefaults` needs of a request. */
export type DefaultsOnlyRequest = Pick<
  ComposeRequest,
  "snapshot" | "configName" | "overrides" | "context" | "onWarning"
>;

/**
 * The defaults list and its tree alone, as one job has them: values are not composed, so that nothing
 * is wrong with an override of one, and sweeps are left out.
 *
 * @throws ConfigError as `composeConfig`, for what concerns the list
 */
export function composeDefaults(request: DefaultsOnlyRequest): Defaults {
  const { repository } = searchPathOf(request);
  const choices = splitOverrides(request.overrides, repository);
  return listDefaults({ ...request, repository, choices, mode: "run" });
}

function searchPathOf(request: DefaultsOnlyRequest): ExtendedSearchPath {
  const { configName, context, onWarning = () => {}, overrides, snapshot } = request;
  const searchPath = extendSearchPath(configName, overrides, snapshot, context);
  searchPath.warnings.forEach(onWarning);
  return searchPath;
}

/**
 * The primary directory must be there; other entries of a search path are only warned about.
 *
 * @throws ConfigError `compose.missing_config`
 */
export function requirePrimary({ sources }: Repository): void {
  const source = sources.find(({ provider }) => provider === PRIMARY_PROVIDER);
  if (source === undefined || source.available()) return;
  const hint = source.scheme === "file" ? missingDirectoryHint(source.path) : undefined;
  throw new ConfigError({
    code: "compose.missing_config",
    message:
      source.scheme === "pkg"
        ? `Primary config module '${source.path}' not found.\nCheck that it's correct and contains an __init__.py file`
        : `Primary config directory not found.\nCheck that the config directory '${source.path}' exists and readable`,
    key: source.path,
    hint,
  });
}

const isAboutValues = ({ code }: ConfigError): boolean =>
  /^(key|value|merge|interpolation|resolver)\./u.test(code);

/** What goes wrong with values while composing is an error of the composition. */
const asCompositionError = (error: ConfigError): ConfigError =>
  new ConfigError({
    ...error.details,
    code: "compose.invalid_config",
    message: `${hydraClassName(error.code)} raised while composing config:\n${error.message}`,
    cause: error,
  });
