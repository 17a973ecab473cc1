import { afterAll, beforeAll, describe } from "vitest";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { launcherCases } from "../../launch/common.case.ts";

describe.skipIf(!hasSlurm("what every launcher does, on a real Slurm"))(
  "the Slurm launcher",
  { concurrent: true },
  () => {
    let slurm: SlurmCluster | undefined;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm?.stop());

    launcherCases({
      overrides: ["hydra/launcher=slurm", "hydra.launcher.array_parallelism=2"],
      env: () => slurm?.env ?? {},
      ownProcesses: true,
      waiting: (folder) => slurm?.waiting(folder) ?? 0,
    });
  },
);
