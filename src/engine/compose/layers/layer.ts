/** Layers of values over the files of a composition: what they are, and how an engine reads them. */
import { fn, listOf, type OptionCheck, optional, shape, text } from "../../values/check-options.ts";
import type { Origin } from "../../values/origin.ts";
import type { FileSystem } from "../sources/directory-source.ts";

/**
 * Values that stand above all config files and below the overrides: of environment variables, of files with secrets. `hydraconf/sources`
 * has ready ones. An engine reads its layers once, and again after `refresh`.
 */
export interface ConfigLayer {
  /** For messages: `variables APP_*`. */
  readonly name: string;
  /** Variables that the environment has in addition to those of the process, which come first; a later variable replaces an earlier one. */
  readonly variables?: (surroundings: LayerSurroundings) => readonly Variable[];
  /** Values of keys. A later one, and one of a later layer, replaces an earlier one. */
  readonly values?: (surroundings: LayerSurroundings) => readonly LayerValue[];
  /** What would set a key, for errors about a value that is missing: `environment variable APP_DB__PORT` for `["db", "port"]`. */
  readonly settersOf?: (keys: readonly string[]) => readonly string[];
}

/** What a layer may look at. */
export interface LayerSurroundings {
  /** The base of relative paths. */
  readonly cwd: string;
  /** The variables by name: those of the process, and what `variables` of earlier layers adds. */
  readonly variables: ReadonlyMap<string, Variable>;
  readonly files: FileSystem;
}

/** A variable of the environment. */
export interface Variable {
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
}

/** A value of a layer. */
export interface LayerValue {
  /** The names of the keys from the root. Letter case, `_` and `-` in them do not count where only one key fits. */
  readonly path: readonly string[];
  /** Of the type that the schema declares, or else that the files' value has. */
  readonly text: string;
  readonly origin: Origin;
  /** What messages call it: `APP_DB__PORT`. */
  readonly label: string;
  /** The name that the variable or file has to have to set another key: `APP_DB__PORT` of `["db", "port"]`. */
  readonly nameOf?: (keys: readonly string[]) => string;
  /** Whether it is masked wherever the config is shown. */
  readonly isSecret?: boolean;
  /** Whether it is left out if the config has no such key. Default: that is an error. */
  readonly isOptional?: boolean;
}

/** What an engine has read of its layers. */
export interface ReadLayers {
  readonly values: readonly LayerValue[];
  /** The environment with the variables that layers add. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What would set a key. */
  readonly settersOf: (path: readonly string[]) => readonly string[];
}

/** @throws ConfigError of layers that cannot be read */
export function readLayers(
  layers: readonly ConfigLayer[],
  around: Pick<LayerSurroundings, "cwd" | "files"> & Pick<ReadLayers, "env">,
): ReadLayers {
  const { cwd, env, files } = around;
  const settersOf = (path: readonly string[]) =>
    layers.flatMap((layer) => layer.settersOf?.(path) ?? []);
  if (layers.length === 0) return { values: [], env, settersOf };
  const processVariables = new Map<string, Variable>();
  for (const [name, text] of Object.entries(env))
    if (text !== undefined)
      processVariables.set(name, { name, text, origin: { kind: "environment", variable: name } });
  const variables = new Map(processVariables);
  const surroundings = { cwd, files, variables };
  const values = layers.flatMap((layer) => {
    for (const variable of layer.variables?.(surroundings) ?? []) {
      if (processVariables.has(variable.name)) continue;
      // Also in the order, in which a later spelling of a key replaces an earlier one.
      variables.delete(variable.name);
      variables.set(variable.name, variable);
    }
    return layer.values?.(surroundings) ?? [];
  });
  const added = [...variables.values()].map(({ name, text }) => [name, text] as const);
  return { values, env: { ...env, ...Object.fromEntries(added) }, settersOf };
}

/** The option that lists layers. */
export const configLayers: OptionCheck = optional(
  listOf(
    "layers",
    shape<ConfigLayer>({
      name: text,
      variables: optional(fn),
      values: optional(fn),
      settersOf: optional(fn),
    }),
    '[environment({ prefix: "APP_" })]',
  ),
);
