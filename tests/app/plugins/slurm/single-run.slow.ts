/** A single run that Slurm runs, in the directory of the run. */
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandPath } from "../../../e2e/command.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";

describe.skipIf(!hasSlurm("a single run on a real Slurm"))(
  "a single run on a real Slurm",
  { timeout: 300_000 },
  () => {
    let slurm: SlurmCluster;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm?.stop());

    const hydraconfIn =
      (cwd: string) =>
      (...argv: readonly string[]) =>
        execa(process.execPath, [commandPath("hydraconf"), ...argv], {
          ...{ cwd, env: slurm.env, reject: false },
        });

    test("is followed to its end, and leaves no sweep", async () => {
      const cwd = mkdtempSync(join(tmpdir(), "hydraconf-single-"));
      const script = "echo ran $SLURM_JOB_ID with $0; exit 4";
      const { exitCode, stderr } = await hydraconfIn(cwd)(
        ...["run", "hydra/launcher=slurm", "hydra.run.dir=r", "x=1"],
        ...["--", "sh", "-c", script, "${x}"],
      );
      expect(exitCode, stderr).toBe(4);
      expect(stderr).toMatch(/^#0 x=1: failed after /m);
      expect(readdirSync(cwd)).toEqual(["r"]);
      expect(readdirSync(join(cwd, "r")).toSorted()).toEqual([
        // For its checkpoints: other processes of the job may still write there.
        ".checkpoint",
        ".hydra",
        ".submitit",
        ".sweep",
        "sh.log",
      ]);
      const logs = join(cwd, "r/.submitit");
      const [job = ""] = readdirSync(logs);
      const log = readdirSync(join(logs, job)).find((name) => name.endsWith("out")) ?? "";
      expect(readFileSync(join(logs, job, log), "utf8")).toMatch(/^ran \d+ with 1$/m);
    });

    test("may be submitted and left", async () => {
      const cwd = mkdtempSync(join(tmpdir(), "hydraconf-single-"));
      const hydraconf = hydraconfIn(cwd);
      const { exitCode, stdout } = await hydraconf(
        ...["run", "hydra/launcher=slurm", "hydra.run.dir=r", "x=1", "--detach"],
        ...["--", "sh", "-c", "echo here > made"],
      );
      expect(stdout).toContain("The job in ");
      expect(stdout).toContain(" was handed to the scheduler\n");
      expect(exitCode).toBe(0);
      const waited = await hydraconf("sweep", "wait", "r");
      expect(waited.exitCode, waited.stderr).toBe(0);
      expect(readFileSync(join(cwd, "made"), "utf8")).toBe("here\n");
      expect(existsSync(join(cwd, "r/multirun.yaml"))).toBe(false);
    });
  },
);
