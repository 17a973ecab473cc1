import { join } from "node:path";
import { maskSecrets, type Secrets } from "../../compose/secrets.ts";
import { removeDeadDrafts, writeFileAtomicSync } from "../../system/atomic-write.ts";
import { makeDirectory } from "../../system/files.ts";
import type { ConfigNode, MapNode } from "../../values/node.ts";
import { map } from "../../values/node.ts";
import { writeYaml } from "../../values/yaml/writer.ts";

/**
 * The three files Hydra leaves with every job, in its own formatting, interpolations unresolved,
 * secrets masked.
 */
export function saveJobFiles(
  directory: string,
  job: { readonly root: MapNode; readonly tree: MapNode; readonly composition: Secrets },
): void {
  const root = maskSecrets(job.root, job.composition);
  const config = maskSecrets(job.tree, job.composition);
  const hydra = root.entries.get("hydra")?.value;
  if (hydra === undefined) return;
  const files: Readonly<Record<string, ConfigNode | undefined>> = {
    "config.yaml": config,
    "hydra.yaml": map([["hydra", hydra]], hydra.origin),
    "overrides.yaml": at(hydra, "overrides", "task"),
  };
  // Now and not by the first write, for which a directory that is missing is an error to recover from.
  makeDirectory(directory);
  removeDeadDrafts(directory);
  for (const [name, node] of Object.entries(files))
    if (node !== undefined) writeFileAtomicSync(join(directory, name), writeYaml(node));
}

function at(node: ConfigNode, ...path: readonly string[]): ConfigNode | undefined {
  return path.reduce<ConfigNode | undefined>(
    (parent, key) => (parent?.kind === "map" ? parent.entries.get(key)?.value : undefined),
    node,
  );
}
