import type { Composition } from "../../../compose/index.ts";
import { configFingerprint } from "../../../values/fingerprint.ts";
import type { PlannedJob } from "../../job/plan-job.ts";

/**
 * Names the config of a job as it was composed, interpolations as written: what files and overrides
 * decide. What the machine decides (`${oc.env:...}`) may differ where the job runs.
 */
export const jobFingerprint = ({ outputDir, tree }: PlannedJob): string =>
  configFingerprint(tree, outputDir);

/** The same of a sweep's own composition. */
export const sweepFingerprint = ({ config }: Composition, directory: string): string =>
  configFingerprint(config, directory);
