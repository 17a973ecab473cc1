import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isConfigError } from "../../../src/engine/values/errors.ts";
import { awaitRanks, joiningArgv, launchedRank } from "../../../src/profiler/cli/join.ts";

describe("the rank that a launcher gives a process", () => {
  it.each([
    [{ OMPI_COMM_WORLD_RANK: "2", OMPI_COMM_WORLD_SIZE: "4" }, 2, 4],
    [{ PMI_RANK: "0", PMI_SIZE: "2" }, 0, 2],
    [{ SLURM_PROCID: "1", SLURM_STEP_NUM_TASKS: "3", SLURM_STEP_ID: "0" }, 1, 3],
    [{ PMIX_RANK: "1", SLURM_STEP_NUM_TASKS: "2" }, 1, 2],
    [{ RANK: "5", WORLD_SIZE: "8", LOCAL_RANK: "1" }, 5, 8],
    // torchrun in a task of srun, mpirun in a job of Slurm.
    [
      {
        RANK: "5",
        WORLD_SIZE: "8",
        LOCAL_RANK: "1",
        SLURM_PROCID: "1",
        SLURM_STEP_NUM_TASKS: "2",
        SLURM_STEP_ID: "0",
      },
      5,
      8,
    ],
  ])("is read from %j", (env, rank, size) => {
    expect(launchedRank(env)).toEqual({ rank, size });
  });

  it.each([
    [{}],
    [{ OMPI_COMM_WORLD_RANK: "0", OMPI_COMM_WORLD_SIZE: "1" }],
    [{ RANK: "0", WORLD_SIZE: "8" }],
    [{ SLURM_PROCID: "0", SLURM_NTASKS: "4" }],
    [{ PMI_RANK: "x", PMI_SIZE: "2" }],
    [{ PMI_RANK: "0", PMI_SIZE: "2", HYDRACONF_RANKS: "separate" }],
  ])("is none in %j", (env) => {
    expect(launchedRank(env)).toBeNull();
  });
});

describe("a rank that joins", () => {
  const rank = { rank: 3, size: 4 };

  it("runs in a directory of its own below that of the run", () => {
    expect(joiningArgv(["device=cpu", "hydra.run.dir='a b'", "--", "./x", "-m"], rank)).toEqual([
      "device=cpu",
      "hydra.run.dir='a b/ranks/3'",
      "hydra.output_subdir=null",
      "hydra/job_logging=disabled",
      "--",
      "./x",
      "-m",
    ]);
  });

  it("is none of a subcommand, or with a flag", () => {
    expect(joiningArgv(["doctor"], rank)).toBeNull();
    expect(joiningArgv(["--cfg", "job"], rank)).toBeNull();
  });

  it.each([[["--", "./x"]], [["hydra.run.dir=${now:%H}", "--", "./x"]]])(
    "needs a directory that all know: %j",
    (argv) => {
      expect(() => joiningArgv(argv, rank)).toThrow(expect.toSatisfy(isConfigError));
    },
  );
});

describe("the first rank", () => {
  let run: string;
  beforeEach(() => {
    run = mkdtempSync(join(tmpdir(), "hydraconf-ranks-"));
  });
  afterEach(() => rmSync(run, { recursive: true, force: true }));

  const ended = (rank: number, failure: string | null) => {
    mkdirSync(join(run, "ranks", String(rank)), { recursive: true });
    writeFileSync(join(run, "ranks", String(rank), "ended.json"), JSON.stringify({ failure }));
  };
  const { signal } = new AbortController();

  it("waits for the others, and tells which failed", async () => {
    ended(1, null);
    ended(2, "prog ended with exit code 1");
    expect(await awaitRanks(run, { rank: 0, size: 3 }, signal)).toEqual([
      "rank 2: prog ended with exit code 1",
    ]);
  });

  it("does not wait forever, nor after a signal", async () => {
    ended(1, null);
    expect(await awaitRanks(run, { rank: 0, size: 3 }, signal, 60)).toEqual([
      expect.stringMatching(/^1 rank had not ended 0 s after rank 0 \(2\)/),
    ]);
    expect(await awaitRanks(run, { rank: 0, size: 3 }, AbortSignal.abort())).toHaveLength(1);
  });
});
