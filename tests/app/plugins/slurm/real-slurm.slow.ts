import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import { workplace } from "../../sweep/program/start.ts";

// Slurm counts time limits in minutes.
describe.skipIf(!hasSlurm("sweeps on a real Slurm, the long form"))("a sweep on Slurm", () => {
  let slurm: SlurmCluster;
  beforeAll(async () => {
    slurm = await startSlurm();
  });
  afterAll(() => slurm.stop());

  test("out of time: queued again as often as max_num_timeout says, then timed out", async () => {
    const { start, state } = workplace();
    const settings = [
      "x=1",
      "do=hold",
      "hydra.launcher.timeout_min=1",
      "hydra.launcher.signal_delay_s=60",
      "hydra.launcher.max_num_timeout=1",
    ];
    const argv = ["-m", "hydra/launcher=submitit_slurm", ...settings];
    const { exitCode, stderr } = await start(argv, { env: slurm.env });
    expect(exitCode).toBe(1);
    expect(state(0)?.status).toBe("timed_out");
    expect(state(0)?.attempts).toHaveLength(2);
    expect(state(0)?.attempts[0]?.error).toBe("stopped by SIGUSR2");
    expect(stderr).toContain("ran out of time");
  });
});
