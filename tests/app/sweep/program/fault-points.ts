import { cpSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ended, writeJobState } from "../../../../src/app/record/job-state.ts";
import { launcherOf } from "../../../../src/app/record/launcher-claim.ts";
import { launcherFile } from "../../../../src/app/record/layout.ts";
import { thisProcess } from "../../../../src/foundation/system/process-identity.ts";
import { until } from "../../../wait.ts";
import { forgetJob, rewriteSealed } from "../../record/written.ts";
import {
  atPoints,
  begun,
  changesOf,
  expectDone,
  expectTidy,
  expectWhole,
  goOn,
  killAt,
  type Place,
  type Role,
  WITHIN,
} from "./killed.ts";
import { workplace } from "./start.ts";

const LOCAL = ["hydra/launcher=local", "hydra.launcher.n_jobs=2"];

/** A process of a sweep, and the command that starts a sweep in which there is one. */
interface Case {
  readonly role: Role;
  readonly how: string;
  readonly argv: readonly string[];
}

const CASES: readonly Case[] = [
  { role: "launcher", how: "basic", argv: ["-m", "x=1,2"] },
  { role: "launcher", how: "local", argv: ["-m", "x=1,2", ...LOCAL] },
  { role: "worker", how: "local", argv: ["-m", "x=1,2", ...LOCAL] },
  { role: "launcher", how: "in batches", argv: ["-m", "x=1,2", "hydra.sweeper.max_batch_size=1"] },
  { role: "launcher", how: "detaching", argv: ["-m", "x=1,2", ...LOCAL, "--detach"] },
  { role: "driver", how: "detached", argv: ["-m", "x=1,2", ...LOCAL, "--detach"] },
];

const RESUME = ["--resume", "s", "--retry-failed", "s"];

/** The same of what resumes a sweep. */
const RESUMED: readonly Case[] = [
  { role: "launcher", how: "basic", argv: [...RESUME, "hydra/launcher=basic"] },
  { role: "launcher", how: "local", argv: [...RESUME, ...LOCAL] },
  { role: "worker", how: "local", argv: [...RESUME, ...LOCAL] },
  { role: "launcher", how: "detaching", argv: [...RESUME, ...LOCAL, "--detach"] },
  { role: "driver", how: "detached", argv: [...RESUME, ...LOCAL, "--detach"] },
];

/** Points that are tried side by side. */
const sideBySide = 3;

/** Until nobody drives the sweep and no worker runs. */
const atRest = async (place: Place, jobs: readonly number[]) => {
  const isLive = (number: number) =>
    existsSync(`/proc/${place.state(number)?.attempts.at(-1)?.pid ?? 0}/stat`);
  const isRunning = (number: number) => place.state(number)?.status === "running" && isLive(number);
  await until(() => launcherOf(place.folder) === undefined && !jobs.some(isRunning));
};

/** Of how many changes one is tried: of a sweep that starts, and of one that is resumed. */
interface Steps {
  readonly started: number;
  readonly resumed: number;
}

/** Kills each process of a sweep at the changes that it makes to files, and resumes the sweep. */
export function describeFaultPoints({ started, resumed }: Steps): void {
  test.each(CASES)(
    "the $role of a sweep ($how): resumed, all is done, and nothing twice",
    async ({ argv, role }) => {
      const jobs = [0, 1];
      const whole = workplace();
      const run = (place: Place) => (env: Readonly<Record<string, string>>) =>
        place.startHooked(argv, { ...WITHIN, ...env });
      const changes = await changesOf(whole, role, run(whole), role === "worker" ? 2 : 1);
      await atRest(whole, jobs);
      expect(changes).toBeGreaterThan(4);
      await atPoints(changes, { sideBySide, step: started }, async (at) => {
        const place = workplace();
        const where = `killed at change ${at} of the ${role}`;
        await run(place)({ KILL_AT: killAt(role, at) });
        expectWhole(place);
        await goOn(place, argv, where);
        expectWhole(place);
        expectTidy(place, where);
        expectDone(place, jobs, where);
      });
    },
  );

  test.each(RESUMED)(
    "the $role of a sweep that goes on ($how): resumed again, all is done, and nothing twice",
    async ({ argv, role }) => {
      const jobs = [0, 1, 2];
      const run = (place: Place) => (env: Readonly<Record<string, string>>) =>
        place.startHooked(argv, { ...WITHIN, ...env });
      const whole = await interrupted();
      const changes = await changesOf(whole, role, run(whole), role === "worker" ? 2 : 1);
      await atRest(whole, jobs);
      expect(changes).toBeGreaterThan(4);
      await atPoints(changes, { sideBySide, step: resumed }, async (at) => {
        const place = await interrupted();
        const where = `killed at change ${at} of the ${role} that goes on`;
        await run(place)({ KILL_AT: killAt(role, at) });
        expectWhole(place);
        await goOn(place, argv, where);
        expectWhole(place);
        expectTidy(place, where);
        expectDone(place, jobs, where);
        expect(begun(place, 0), where).toBe(1);
      });
    },
  );
}

let template: Promise<Place> | undefined;

/** A sweep whose launcher was killed: #0 is completed, #1 has failed, #2 has not started, and the claim is there. */
async function interrupted(): Promise<Place> {
  template ??= (async () => {
    const made = workplace();
    await made.start(["-m", "x=1,2,3"]);
    return made;
  })();
  const { cwd } = await template;
  const place = workplace();
  cpSync(join(cwd, "s"), join(place.cwd, "s"), { recursive: true });
  for (const name of readdirSync(place.folder).filter((one) => /^manifest.*\.jsonl?$/.test(one)))
    rewriteSealed(join(place.folder, name), (text) => text.replaceAll(cwd, place.cwd));
  const second = place.state(1);
  if (second === undefined) throw new Error("the sweep did not run");
  writeJobState(
    place.folder,
    ended(second, { endedBy: { by: "itself" }, exitCode: 1, error: "boom" }),
  );
  forgetJob(place.folder, 2);
  const dead = { ...thisProcess(), birth: "dead" };
  writeFileSync(launcherFile(place.folder), JSON.stringify(dead));
  writeFileSync(join(place.cwd, "ran.txt"), "begin 0\n");
  return place;
}
