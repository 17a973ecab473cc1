import { expect, test } from "vitest";
import { killedRounds } from "./killed-rounds.ts";

test.each([
  ["basic", []],
  ["local", ["hydra/launcher=local", "hydra.launcher.n_jobs=2"]],
  [
    "local, a process for each job",
    ["hydra/launcher=local", "hydra.launcher.n_jobs=2", "hydra.launcher.reuse_workers=false"],
  ],
])(
  "however often its launcher (%s) is killed, each job of a resumed sweep runs once",
  { timeout: 4 * 3_600_000 },
  async (name, overrides) => {
    expect(await killedRounds(name, overrides)).toEqual([]);
  },
);
