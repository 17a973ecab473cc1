import { toPlain } from "../../compose/index.ts";
import { type ConfigNode, child, type MapNode } from "../../values/node.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import type { Locate } from "../logging/log-config.ts";
import type { Logging } from "../logging/logging.ts";
import { requiredAt, requiredNode } from "./hydra-values.ts";

/** The arguments of `Logging.configure`. */
type LogSettings = (cwd: string) => Parameters<Logging["configure"]>;

/**
 * Reads a log config and `hydra.verbose`.
 *
 * @param key `hydra.job_logging` or `hydra.hydra_logging`
 * @throws ConfigError `value.missing`, and of interpolations
 */
export function logSettings(root: MapNode, key: string, context: ResolveContext): LogSettings {
  const node = requiredNode(root, key, context);
  const config = node === undefined ? undefined : toPlain(node);
  const verbose = requiredAt(root, "hydra.verbose", context);
  return (cwd) => [config, verbose, cwd, locateIn(node, key)];
}

/** The key and the origin of what is at a path, or of the nearest map around it that exists. */
const locateIn =
  (node: ConfigNode | undefined, key: string): Locate =>
  (path) => {
    let at = node;
    let place = key;
    for (const name of path) {
      const next = at && child(at, name);
      if (next === undefined) break;
      at = next;
      place += `.${name}`;
    }
    return { key: place, ...(at !== undefined && { origin: at.origin }) };
  };
