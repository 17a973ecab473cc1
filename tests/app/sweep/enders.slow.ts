/** Time limits of the launchers of this machine, as `enders.test.ts` has them of `local`, and many sweeps with one. */
import { describe, expect, test } from "vitest";
import { answeringSweep, endsBy } from "./enders.ts";
import { timeLimitCases } from "./time-limit.case.ts";

const OTHERS = [
  [
    "local, a process for each job",
    [
      ...["hydra/launcher=local", "hydra.launcher.n_jobs=20", "hydra.launcher.timeout_min=0.3"],
      "hydra.launcher.reuse_workers=false",
    ],
    18_000,
  ],
  [
    "joblib",
    ["hydra/launcher=joblib", "hydra.launcher.n_jobs=20", "hydra.launcher.timeout=18"],
    18_000,
  ],
] as const;

describe.concurrent("a time limit", () => {
  for (const [name, launcher, limit] of OTHERS) timeLimitCases(name, launcher, limit);
});

const ROUNDS = Number(process.env["HYDRACONF_TIME_LIMIT_ROUNDS"] ?? 60);

/** How a sweep runs its jobs: each has one that takes too long, and others behind it. */
const WAYS = [
  ["hydra/launcher=local", "hydra.launcher.n_jobs=1", "hydra.launcher.timeout_min=0.05"],
  ["hydra/launcher=local", "hydra.launcher.n_jobs=2", "hydra.launcher.timeout_min=0.05"],
  [
    ...["hydra/launcher=local", "hydra.launcher.n_jobs=1", "hydra.launcher.timeout_min=0.05"],
    "hydra.launcher.reuse_workers=false",
  ],
  [
    ...["hydra/launcher=local", "hydra.launcher.n_jobs=1", "hydra.launcher.timeout_min=0.05"],
    "hydra.launcher.max_retries=1",
  ],
  ["hydra/launcher=joblib", "hydra.launcher.n_jobs=1", "hydra.launcher.timeout=3"],
  [
    "hydra/launcher=local",
    "hydra.launcher.n_jobs=1",
    "hydra.launcher.timeout_min=0.05",
    "--detach",
  ],
] as const;
const LATE = ["dies", "exits_1", "exits_143", "python", "node"] as const;

test(`of ${ROUNDS} sweeps with a time limit none ends before its last job`, {
  timeout: 3_600_000,
}, async () => {
  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);
  const one = async (round: number): Promise<void> => {
    const way = WAYS[round % WAYS.length] ?? [];
    const late = LATE[round % LATE.length] ?? "dies";
    const sweep = answeringSweep([late, "well", "by_itself_143"], way);
    const { exitCode, stderr } = await sweep.start();
    if (way.some((word) => word === "--detach")) {
      const waited = await sweep.hydraconf("sweep", "wait", "s");
      expect(waited.exitCode, String(waited.stdout)).toBe(1);
    } else expect(exitCode, String(stderr)).toBe(1);
    sweep.expectEnds(endsBy("timed_out", { by: "time_limit", limit_ms: 3000 }));
  };
  // Two at a time: they mostly wait.
  const next = rounds.values();
  await Promise.all(
    [0, 1].map(async () => {
      for (const round of next) await one(round);
    }),
  );
});
