import type { Override } from "../../overrides/ast.ts";
import { splitKey } from "../../values/key-path.ts";
import type { OverrideOrigin } from "../../values/origin.ts";

/**
 * The override that took a key out (`~db.port`), or what it stood in (`~db`, a group at its package):
 * it is to blame where a schema misses the key, and not the file around it.
 */
export function deletedBy(key: string, overrides: readonly Override[]): OverrideOrigin | undefined {
  const path = splitKey(key);
  return overrides.findLast(({ keyOrGroup, package: pkg, type }) => {
    if (type !== "delete") return false;
    const deleted = splitKey(pkg ?? keyOrGroup.replaceAll("/", "."));
    return deleted.every((part, index) => path[index] === part);
  })?.origin;
}
