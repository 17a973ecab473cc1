import { type Budget, isLimitError } from "../values/budget.ts";
import { ConfigError, isConfigError } from "../values/errors.ts";
import type { ResolveContext } from "../values/interpolation/context.ts";
import { mergeNodes } from "../values/merge.ts";
import type { ConfigNode, MapNode, ScalarValue } from "../values/node.ts";
import { child } from "../values/node.ts";
import type { DefaultsRow } from "./defaults/list.ts";
import { defaultsOf, type LoadedConfig } from "./sources/config-source.ts";
import { yamlFileName } from "./sources/file-name.ts";
import type { Repository } from "./sources/repository.ts";
import { withEntry, withoutEntry } from "./tree-edit.ts";
import type { CompositionWarning } from "./warning.ts";

/**
 * A config with the path of an entry in the schema store is checked against that entry, and gets what it lacks of it,
 * unless the entry gives way to it: launchers and sweepers of ours have names that trees use for their own
 * (`hydra/launcher/slurm`). One that configures ours names its class.
 *
 * @throws ConfigError if the entry has a defaults list: Hydra does not support that either.
 */
export function matchSchema(
  row: DefaultsRow,
  repository: Repository,
  context: ResolveContext,
  budget: Budget,
): { readonly node: ConfigNode; readonly warning?: CompositionWarning } {
  const { configPath, loaded } = row;
  const { node } = loaded;
  if (loaded.source.scheme === "structured") return { node };
  const schema = repository.loadSchema(yamlFileName(configPath));
  if (schema === undefined || givesWay(schema, node)) return { node };

  const notice =
    `'${configPath}' is validated against ConfigStore schema with the same name.\n` +
    "This behavior is deprecated in Hydra 1.1 and will be removed in Hydra 1.2.";
  const help =
    "See https://hydra.cc/docs/1.2/upgrades/1.0_to_1.1/automatic_schema_matching for migration instructions.";
  if (defaultsOf(schema, context).length > 0)
    throw new ConfigError({
      code: "compose.invalid_config",
      message:
        `${notice}\nIn addition, the automatically matched schema contains a defaults list.\n` +
        `This combination is no longer supported.\n${help}`,
      origin: loaded.origin,
      key: configPath,
      hint: `rename the file: '${configPath}' is a config of Hydra itself`,
    });
  const { own, hydra } =
    row.primary && node.kind === "map" ? takeHydra(node) : { own: node, hydra: undefined };
  const merged = mergeSchema(schema.node, own, configPath, context, budget);
  return {
    node: hydra === undefined || merged.kind !== "map" ? merged : withEntry(merged, "hydra", hydra),
    warning: { code: "schema_match", message: `\n${notice}\n${help}`, origin: loaded.origin },
  };
}

const givesWay = (schema: LoadedConfig, node: ConfigNode): boolean =>
  schema.replaceable === true && targetOf(node) !== targetOf(schema.node);

function targetOf(node: ConfigNode): ScalarValue | undefined {
  const target = child(node, "_target_");
  return target?.kind === "scalar" ? target.value : undefined;
}

function mergeSchema(
  schema: ConfigNode,
  node: ConfigNode,
  configPath: string,
  context: ResolveContext,
  budget: Budget,
): ConfigNode {
  try {
    return mergeNodes([schema, node], context, budget);
  } catch (error) {
    if (!isConfigError(error) || isLimitError(error)) throw error;
    throw new ConfigError({
      ...error.details,
      code: "compose.invalid_config",
      message: `Error merging '${configPath}' with schema\n${error.message}`,
      cause: error,
    });
  }
}

/** A schema of a primary config need not declare the `hydra` node that the config may have. */
function takeHydra(node: MapNode): { readonly own: MapNode; readonly hydra?: ConfigNode } {
  const hydra = node.entries.get("hydra")?.value;
  return hydra === undefined ? { own: node } : { own: withoutEntry(node, "hydra"), hydra };
}
