import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSubmissions } from "../../../../src/app/plugins/slurm/submissions.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";
import {
  atPoints,
  begun,
  changesOf,
  expectDone,
  expectWhole,
  goOn,
  killAt,
  type Place,
  type Role,
  WITHIN,
} from "../../sweep/program/killed.ts";
import { workplace } from "../../sweep/program/start.ts";

const SWEEP = ["-m", "x=1,2", "hydra/launcher=slurm"];
const JOBS = [0, 1];

/** A share of the points: each takes some seconds of Slurm's. */
const CASES: readonly {
  readonly role: Role;
  readonly how: string;
  readonly argv: readonly string[];
  readonly step: number;
}[] = [
  { role: "launcher", how: "followed", argv: SWEEP, step: 8 },
  { role: "launcher", how: "left", argv: [...SWEEP, "--detach"], step: 8 },
  { role: "worker", how: "left", argv: [...SWEEP, "--detach"], step: 6 },
  {
    role: "driver",
    how: "left with a decision to make",
    argv: [...SWEEP, "hydra.sweeper.max_batch_size=1", "--detach"],
    step: 16,
  },
];

/** Points that are tried side by side. */
const sideBySide = 2;

describe.skipIf(!hasSlurm("killed processes of sweeps on a real Slurm"))(
  "killed at each change that it makes to a file",
  { timeout: 1_800_000, concurrent: true },
  () => {
    let slurm: SlurmCluster | undefined;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm?.stop());

    test.each(CASES)(
      "the $role of a sweep on Slurm ($how): resumed, all is done, and nothing twice",
      async ({ argv, role, step }) => {
        const cluster = slurm?.env ?? {};
        const run = (place: Place) => (env: Readonly<Record<string, string>>) =>
          place.startHooked(argv, { ...cluster, ...WITHIN, ...env });
        const whole = workplace();
        const count = role === "worker" ? JOBS.length : 1;
        const changes = await changesOf(whole, role, run(whole), count);
        expect((await whole.sweep(["wait", "s"], { env: cluster })).exitCode).toBe(0);
        expect(changes).toBeGreaterThan(4);
        await atPoints(changes, { sideBySide, step }, async (at) => {
          const place = workplace();
          const where = `killed at change ${at} of the ${role}`;
          await run(place)({ KILL_AT: killAt(role, at) });
          expectWhole(place);
          await goOn(place, argv, where, cluster);
          expectWhole(place);
          expectDone(place, JOBS, where);
          // Slurm has the jobs whatever becomes of who submitted them: nobody else submits them again.
          if (role === "worker") return;
          for (const number of JOBS) expect(begun(place, number), where).toBe(1);
          const submitted = readSubmissions(place.folder).flatMap(({ jobs }) => jobs);
          expect(submitted.map(({ number }) => number).sort(), where).toEqual(JOBS);
        });
      },
    );
  },
);
