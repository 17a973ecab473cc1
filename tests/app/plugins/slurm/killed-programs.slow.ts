import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readJobState } from "../../../../src/app/record/job-state.ts";
import { isRecorded } from "../../../../src/app/record/sweep-record.ts";
import { commandPath } from "../../../e2e/command.ts";
import { runs } from "../../../runs.ts";
import { hasSlurm, type SlurmCluster, startSlurm } from "../../../slurm.ts";

const JOBS = 7;
const NUMBERS = Array.from({ length: JOBS }, (_, number) => number);

/** Notes when a job begins and ends; its result is its number. */
const PROGRAM = `#!/bin/sh
echo "begin $1" >>"$2"
sleep 0.$((3 + $1))
echo "{\\"x\\": $1}" >"$HYDRACONF_RESULT"
echo "end $1" >>"$2"
`;

/** What is killed while a sweep runs, and after how many milliseconds. */
interface Blow {
  readonly what: "launcher" | "job" | "task";
  readonly after: number;
  readonly job: number;
}

const blow: fc.Arbitrary<Blow> = fc.record({
  what: fc.constantFrom("launcher", "job", "task"),
  after: fc.integer({ min: 100, max: 6_000 }),
  job: fc.nat(JOBS - 1),
});

describe.skipIf(!hasSlurm("killed sweeps of programs on a real Slurm"))(
  "hydraconf run on Slurm",
  { timeout: 1_800_000 },
  () => {
    let slurm: SlurmCluster;
    beforeAll(async () => {
      slurm = await startSlurm();
    });
    afterAll(() => slurm?.stop());

    function place() {
      const cwd = mkdtempSync(join(tmpdir(), "hydraconf-killed-program-"));
      const folder = join(cwd, "s/.sweep");
      const ran = join(cwd, "ran.txt");
      writeFileSync(ran, "");
      writeFileSync(join(cwd, "prog.sh"), PROGRAM);
      chmodSync(join(cwd, "prog.sh"), 0o755);
      const start = (...argv: readonly string[]) =>
        execa(process.execPath, [commandPath("hydraconf"), "run", ...argv], {
          cwd,
          env: slurm.env,
          reject: false,
        });
      const lines = (word: string, number: number) =>
        readFileSync(ran, "utf8")
          .split("\n")
          .filter((line) => line === `${word} ${number}`).length;
      return {
        begin: () =>
          start(
            ...["-m", `x=range(0,${JOBS})`, "hydra.sweep.dir=s", "hydra/launcher=slurm"],
            ...["hydra.launcher.array_parallelism=3", "--", "./prog.sh", "${x}", ran],
          ),
        resume: () => start("--resume", "s", "--retry-failed", "s"),
        state: (number: number) => readJobState(folder, number),
        begun: (number: number) => lines("begin", number),
        ended: (number: number) => lines("end", number),
        isThere: () => isRecorded(join(cwd, "s")),
      };
    }
    type Place = ReturnType<typeof place>;

    /** Kills the process of a job, or has Slurm end its task, if it runs. */
    function strike({ state }: Place, { job, what }: Blow): void {
      const found = state(job);
      const last = found?.attempts.at(-1);
      if (found?.status !== "running" || last === undefined) return;
      try {
        if (what === "job") process.kill(last.pid, "SIGKILL");
        else slurm.command("scancel", last.details?.["scheduler"] ?? "");
      } catch {
        // It has ended meanwhile.
      }
    }

    test("killed at random and resumed: nothing is lost, and what is done does not run again", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(blow, { minLength: 1, maxLength: 4 }), async (blows) => {
          const at = place();
          const isDone = (number: number) => at.state(number)?.status === "completed";
          // How often those had begun that are done by now.
          const known = new Map<number, number>();
          const look = () => {
            for (const number of NUMBERS.filter(isDone))
              if (!known.has(number)) known.set(number, at.begun(number));
          };
          let launcher = at.begin();
          for (const one of blows) {
            await Promise.race([sleep(one.after), launcher]);
            if (one.what !== "launcher") strike(at, one);
            else {
              launcher.kill("SIGKILL");
              await launcher;
              look();
              launcher = at.isThere() ? at.resume() : at.begin();
            }
          }
          await launcher;
          // What was killed is done by who comes next.
          for (let tries = 0; tries < 5 && !NUMBERS.every(isDone); tries++) {
            look();
            await at.resume();
          }
          for (const [number, times] of known) expect(at.begun(number), "begun again").toBe(times);
          for (const number of NUMBERS) {
            const state = at.state(number);
            expect(state, `job #${number}`).toMatchObject({
              status: "completed",
              return_value: { x: number },
            });
            // Each start that came to the program is an attempt of the record, and the last one was whole.
            expect(at.begun(number)).toBeLessThanOrEqual(state?.attempts.length ?? 0);
            expect(at.ended(number)).toBeGreaterThanOrEqual(1);
            const completed = state?.attempts.filter(({ exit_code }) => exit_code === 0);
            expect(completed).toHaveLength(1);
          }
        }),
        { numRuns: runs(4), endOnFailure: true },
      );
    });
  },
);
