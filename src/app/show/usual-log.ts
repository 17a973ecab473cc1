import type { Repository } from "../../compose/index.ts";
import { child, type MapNode } from "../../values/node.ts";
import { writeYaml } from "../../values/writer.ts";

/** What configures Hydra's own log unless somebody says otherwise. */
const OPTION = "hydra/hydra_logging/default";

/**
 * Whether Hydra's own log is as Hydra makes it: then nothing about it can be wrong, and no record
 * below INFO goes anywhere. Said without loading what logs.
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
