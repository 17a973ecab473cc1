import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { killedRounds } from "../../sweep/killed-rounds.ts";

describe.skipIf(!hasSlurm("killed launchers on a real Slurm"))("on a real Slurm", () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await startSlurm();
  });
  afterAll(() => slurm?.stop());

  test("however often its launcher is killed, each job of a resumed sweep runs once", {
    timeout: 8 * 3_600_000,
  }, async () => {
    expect(await killedRounds("slurm", ["hydra/launcher=slurm"], slurm.env, 4)).toEqual([]);
  });
});
