import type { Repository } from "../../compose/index.ts";
import { child, type MapNode } from "../../values/node.ts";
import { writeYaml } from "../../values/yaml/writer.ts";

/** The option that configures Hydra's own log by default. */
const OPTION = "hydra/hydra_logging/default";

/**
 * Whether Hydra's own log has its default config: then nothing about it can be wrong, and records below
 * INFO are dropped. This is found out without loading the logging code.
 */
export function isUsualLog(root: MapNode, repository: Repository): boolean {
  const hydra = child(root, "hydra");
  const verbose = hydra && child(hydra, "verbose");
  const config = hydra && child(hydra, "hydra_logging");
  const usual = repository.load(OPTION);
  if (config === undefined || usual === undefined) return false;
  const isQuiet = verbose?.kind === "scalar" && verbose.value === false;
  return isQuiet && writeYaml(config) === writeYaml(usual.node);
}
