import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type { LauncherRequest } from "../../../../src/app/launch/launcher.ts";
import { createSlurm, type SlurmClient } from "../../../../src/app/plugins/slurm/client.ts";
import { shareLimit } from "../../../../src/app/plugins/slurm/launch.ts";
import { noAnswer } from "../../../../src/app/plugins/slurm/slurm-errors.ts";
import { slurmLauncher } from "../../../../src/app/plugins/slurm/slurm-launcher.ts";
import { adoptSubmissions, slurmSweep } from "../../../../src/app/plugins/slurm/slurm-sweep.ts";
import {
  noteOver,
  noteSubmissions,
  readSubmissions,
  type Submission,
  slurmFolder,
} from "../../../../src/app/plugins/slurm/submissions.ts";
import { begun, ended, readJobState, writeJobState } from "../../../../src/app/record/job-state.ts";
import { readSweepStatus } from "../../../../src/app/sweep/status.ts";
import { workplace } from "../../sweep/program/start.ts";

const unexpected = () => {
  throw new Error("nobody should ask that");
};

const slurm = (answers: Partial<SlurmClient>): SlurmClient => ({
  submit: unexpected,
  maxArraySize: unexpected,
  tasks: unexpected,
  recentTasks: unexpected,
  cancel: unexpected,
  setParallelism: unexpected,
  arrayOf: unexpected,
  ...answers,
});

const PENDING: Submission = { script: "/s/2.sh", array: null, jobs: [{ number: 1, attempts: 0 }] };
const NOTED: Submission = { script: "/s/1.sh", array: "7", jobs: [{ number: 0, attempts: 0 }] };

function sweepFolder(...submissions: readonly Submission[]): string {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-slurm-"));
  mkdirSync(slurmFolder(folder));
  noteSubmissions(folder, submissions);
  return folder;
}

test("a process that looks while a launcher submits does not disturb its notes", async () => {
  const folder = sweepFolder(NOTED, PENDING);
  const submitted = { ...PENDING, array: "8" };
  const client = slurm({
    // Slurm was asked before sbatch was done, and answers after it.
    arrayOf: async () => {
      noteSubmissions(folder, [{ script: PENDING.script, array: submitted.array }]);
      return undefined;
    },
    tasks: async () => [{ array: "7", index: 0, state: "RUNNING", reason: null, exitCode: null }],
  });
  expect(await slurmSweep(folder, client).status()).toEqual([
    { number: 0, id: "7_0", phase: "running", state: "RUNNING", pendingReason: null },
  ]);
  expect(readSubmissions(folder)).toEqual([NOTED, submitted]);
});

test("the launcher notes arrays that a dead one submitted, and forgets what it did not", async () => {
  const scripts = mkdtempSync(join(tmpdir(), "hydraconf-scripts-"));
  const [came = "", never = ""] = ["2.sh", "3.sh"].map((name) => join(scripts, name));
  for (const script of [came, never]) writeFileSync(script, "");
  const pending = { ...PENDING, script: came };
  const folder = sweepFolder(NOTED, pending, { ...PENDING, script: never });
  await adoptSubmissions(
    folder,
    slurm({ arrayOf: async (script) => (script === came ? "9" : undefined) }),
  );
  expect(readSubmissions(folder)).toEqual([NOTED, { ...pending, array: "9" }]);
  // Should what is forgotten still come, it runs nothing without its script.
  expect(readdirSync(scripts)).toEqual(["2.sh"]);
});

test("an array that comes after it was given up is cancelled: it may have begun", async () => {
  const folder = sweepFolder(PENDING);
  let asked = 0;
  const cancelled: (readonly string[])[] = [];
  const client = slurm({
    arrayOf: async () => (++asked === 1 ? undefined : "9"),
    cancel: async (ids) => void cancelled.push(ids),
  });
  await adoptSubmissions(folder, client);
  expect(cancelled).toEqual([["9"]]);
  expect(readSubmissions(folder)).toEqual([]);
});

test("without an answer, arrays are not forgotten and jobs are not taken for gone", async () => {
  const folder = sweepFolder(NOTED, PENDING);
  const silent = slurm({
    arrayOf: async () => {
      throw noAnswer("Unable to contact slurm controller");
    },
    tasks: async () => undefined,
  });
  await expect(adoptSubmissions(folder, silent)).rejects.toThrow("Unable to contact");
  expect(readSubmissions(folder)).toEqual([NOTED, PENDING]);
  noteSubmissions(folder, [{ script: PENDING.script, given_up: true }]);
  await expect(slurmSweep(folder, silent).status()).rejects.toMatchObject({
    code: "slurm/no_answer",
  });
});

test("a job that failed before it was submitted again is what Slurm says of it", async () => {
  const folder = sweepFolder({ ...NOTED, jobs: [{ number: 0, attempts: 1 }] });
  writeJobState(folder, ended(begun(0, undefined, {}), { endedBy: { by: "itself" }, exitCode: 1 }));
  const report = { array: "7", index: 0, state: "PENDING", reason: null, exitCode: null };
  const sweep = slurmSweep(folder, slurm({ tasks: async () => [report] }));
  expect(await sweep.status()).toMatchObject([{ number: 0, phase: "waiting" }]);
  expect(sweep.handedOver()).toEqual(new Set([0]));
});

test("a task that is known to be over is handed over no more, whatever its record says", () => {
  const folder = sweepFolder(NOTED);
  writeJobState(folder, begun(0, undefined, {}));
  const sweep = slurmSweep(folder, slurm({}));
  expect(sweep.handedOver()).toEqual(new Set([0]));
  noteOver(folder, { array: "7", index: 0 });
  expect(sweep.handedOver()).toEqual(new Set());
});

// These wait for looks, seconds apart: at the same time.

/** A sweep of two jobs that wait, and what Slurm says of each of them, look by look. */
async function eventsOf(...answers: readonly (readonly [string, string | null][])[]) {
  const folder = sweepFolder({
    ...NOTED,
    jobs: [
      { number: 4, attempts: 0 },
      { number: 5, attempts: 0 },
    ],
  });
  const looks = answers.values();
  const client = slurm({
    tasks: async () =>
      looks.next().value?.map(([state, reason], index) => ({
        array: "7",
        index,
        state,
        reason,
        exitCode: 1,
      })),
  });
  const stop = new AbortController();
  const events = [];
  for await (const event of slurmSweep(folder, client).watch({ signal: stop.signal })) {
    events.push(event);
    if (event.kind === "held" && event.pendingReason === null) stop.abort();
  }
  return events;
}

test.concurrent("jobs that Slurm holds are told once, all that it holds for the same, and that it does no more", async () => {
  const held = ["PENDING", "JobHeldUser"] as [string, string];
  const turn = ["PENDING", "Resources"] as [string, string];
  expect(await eventsOf([held, held], [held, held], [turn, held])).toEqual([
    { kind: "held", numbers: [4, 5], pendingReason: expect.stringContaining("release 7_[0-1]") },
    { kind: "held", numbers: [4], pendingReason: null },
  ]);
});

test.concurrent("a node that is drained is told once, whichever of its two reasons Slurm has at a look", async () => {
  const unavailable = ["PENDING", "ReqNodeNotAvail, UnavailableNodes:n1"] as [string, string];
  const drained = [
    "PENDING",
    "Nodes required for job are DOWN, DRAINED or reserved for jobs in higher priority partitions",
  ] as [string, string];
  const turn = ["PENDING", "Priority"] as [string, string];
  expect(
    await eventsOf(
      [unavailable, drained],
      [drained, unavailable],
      [unavailable, drained],
      [turn, turn],
    ),
  ).toEqual([
    { kind: "held", numbers: [4], pendingReason: expect.stringContaining("(ReqNodeNotAvail") },
    {
      kind: "held",
      numbers: [5],
      pendingReason: expect.stringContaining("(Nodes required for job"),
    },
    { kind: "held", numbers: [4, 5], pendingReason: null },
  ]);
});

test.concurrent("cancelling names ranges of tasks, however many there are", async () => {
  const jobs = Array.from({ length: 5000 }, (_, number) => ({ number, attempts: 0 }));
  const folder = sweepFolder({ ...NOTED, jobs });
  const asked: (readonly string[])[] = [];
  const client = slurm({ cancel: async (ids) => void asked.push(ids) });
  await slurmSweep(folder, client).cancel();
  await slurmSweep(folder, client).cancel({ numbers: new Set([3, 7, 8, 9]) });
  expect(asked).toEqual([["7_[0-4999]"], ["7_[3,7-9]"]]);
});

test.concurrent("Slurm is asked once about an array that has left its queue; where it falls silent, about no other", async () => {
  const array = (name: string): Submission => ({
    script: `/s/${name}.sh`,
    array: name,
    jobs: Array.from({ length: 50 }, (_, index) => ({
      number: 50 * Number(name) + index,
      attempts: 0,
    })),
  });
  const folder = sweepFolder(array("1"), array("2"), array("3"));
  const asked: string[] = [];
  const client = slurm({
    tasks: async () => [],
    recentTasks: async (name) => {
      asked.push(name);
      return name === "1" ? [] : undefined;
    },
  });
  const dropped = new Set<number>();
  const stop = new AbortController();
  for await (const event of slurmSweep(folder, client).watch({ signal: stop.signal })) {
    if (event.kind === "dropped") dropped.add(event.number);
    if (dropped.size === 50) stop.abort();
  }
  expect([...dropped].every((number) => number >= 50 && number < 100)).toBe(true);
  expect(new Set(asked)).toEqual(new Set(["1", "2"]));
});

test.concurrent("a job that has left the queue is not lost while Slurm does not say what became of it", async () => {
  const folder = sweepFolder(NOTED);
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-scontrol-"));
  writeFileSync(join(bin, "squeue"), "#!/bin/sh\necho '{\"jobs\": []}'\n", { mode: 0o755 });
  writeFileSync(
    join(bin, "scontrol"),
    `#!/bin/sh
    for n in 1 2; do
      [ -e '${bin}/asked'$n ] && continue
      : > '${bin}/asked'$n
      echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2
      exit 1
    done
    echo 'JobId=7 ArrayJobId=7 ArrayTaskId=0 JobState=OUT_OF_MEMORY Reason=OutOfMemory ExitCode=0:125'\n`,
    { mode: 0o755 },
  );
  const events = [];
  for await (const event of slurmSweep(folder, createSlurm({ PATH: bin })).watch())
    events.push(event.kind);
  expect(events).toEqual(["started", "ended"]);
  expect(readJobState(folder, 0)?.attempts.at(-1)?.error).toBe(
    "out of memory: it used more than Slurm allotted; hydra.launcher.mem_gb=GB gives each job more",
  );
});

test("a job that ends while Slurm is asked is shown as it ended", async () => {
  const place = workplace();
  // It begins, and dies before it can record its end.
  await place.start(["-m", "x=1", "do=kill"]);
  mkdirSync(slurmFolder(place.folder));
  noteSubmissions(place.folder, [NOTED]);
  const bin = mkdtempSync(join(tmpdir(), "hydraconf-squeue-"));
  writeFileSync(
    join(bin, "squeue"),
    `#!/bin/sh
    case "$*" in *--json*) echo "unrecognized option '--json'" >&2; exit 1 ;; esac
    if [ -e '${bin}/asked' ]; then echo '7|0|FAILED|NonZeroExitCode'; exit; fi
    : > '${bin}/asked'
    echo '7|0|RUNNING|None'\n`,
    { mode: 0o755 },
  );
  const { view } = await readSweepStatus({
    directory: join(place.cwd, "s"),
    env: { PATH: bin },
    launchers: [slurmLauncher],
  });
  const { counts, exit_code } = view;
  expect({ counts, exit_code }).toEqual({ counts: { failed: 1 }, exit_code: 1 });
});

describe("what an array no longer needs of the limit", () => {
  /** Two arrays of four jobs, two of each at a time, and a stand-in for scontrol that notes what it is told. */
  function twoArrays(exitCode: number) {
    const array = (name: string, first: number) => ({
      ...NOTED,
      script: `/s/${name}.sh`,
      array: name,
      parallelism: 2,
      jobs: [0, 1, 2, 3].map((index) => ({ number: first + index, attempts: 0 })),
    });
    const folder = sweepFolder(array("7", 0), array("8", 4));
    const bin = mkdtempSync(join(tmpdir(), "hydraconf-scontrol-"));
    const told = join(bin, "told");
    writeFileSync(told, "");
    const script = `#!/bin/sh\necho "$@" >>'${told}'\nexit ${exitCode}\n`;
    writeFileSync(join(bin, "scontrol"), script, { mode: 0o755 });
    const batch = Array.from({ length: 8 }, (_, number) => ({ number }) as SweepJob);
    const request = { env: { PATH: bin }, internals: { record: { folder } } };
    const shares = shareLimit(batch, 4, request as unknown as LauncherRequest);
    return {
      end: async (...numbers: readonly number[]) => {
        for (const number of numbers) await shares.passOn(number);
      },
      told: () => readFileSync(told, "utf8").trim().split("\n").filter(Boolean),
    };
  }

  test("goes to the others by scontrol, once for each change", async () => {
    const { end, told } = twoArrays(0);
    await end(0, 1);
    expect(told()).toEqual([]);
    await end(2);
    expect(told()).toEqual(["update JobId=8 ArrayTaskThrottle=3"]);
    await end(3);
    expect(told().slice(1)).toEqual(["update JobId=8 ArrayTaskThrottle=4"]);
    await end(4, 5, 6, 7);
    expect(told()).toHaveLength(2);
  });

  test("stays where Slurm does not take the change, which is then not asked again", async () => {
    const { end, told } = twoArrays(1);
    await end(0, 1, 2, 3, 4);
    expect(told()).toEqual(["update JobId=8 ArrayTaskThrottle=3"]);
  });
});
