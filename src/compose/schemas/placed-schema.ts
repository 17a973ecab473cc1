import { splitKey } from "../../values/key-path.ts";
import type { ConfigNode } from "../../values/node.ts";
import type { DefaultsRow } from "../defaults/list.ts";
import { yamlFileName } from "../sources/file-name.ts";
import type { Repository } from "../sources/repository.ts";
import { getAt, withoutEntry } from "../tree-edit.ts";
import type { ConfigSchema, SchemaProblem, SchemaReader } from "./config-schema.ts";

/** A schema of the store and where in the composed tree it holds. */
export interface PlacedSchema {
  /** The config path of the entry, e.g. `db/base_mysql`. */
  readonly name: string;
  /** The package of the entry; empty for the job's whole config. */
  readonly path: readonly string[];
  readonly schema: ConfigSchema;
  readonly reader: SchemaReader;
}

/**
 * The schemas that a defaults list brings in, in its order: those of the entries that it names, and
 * of entries with the path of a file that it names.
 */
export function placedSchemas(
  rows: readonly DefaultsRow[],
  repository: Repository,
  reader: SchemaReader | undefined,
): readonly PlacedSchema[] {
  if (reader === undefined) return [];
  return rows.flatMap(({ configPath, loaded, package: pkg }): readonly PlacedSchema[] => {
    const { schema } =
      loaded.source.scheme === "structured"
        ? loaded
        : (repository.loadSchema(yamlFileName(configPath)) ?? {});
    const path = pkg === "" ? [] : splitKey(pkg);
    return schema === undefined ? [] : [{ name: configPath, path, schema, reader }];
  });
}

/** What of a tree is wrong under a schema; nothing where its place is not in the tree. */
export function problemsAt(
  { path, reader, schema }: PlacedSchema,
  root: ConfigNode,
): readonly SchemaProblem[] {
  const node = getAt(root, path);
  if (node === undefined) return [];
  // The `hydra` node is not the job's.
  const own = path.length === 0 && node.kind === "map" ? withoutEntry(node, "hydra") : node;
  return reader.problems(schema, own);
}
