import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { JobResult } from "../../../../src/app/job/job.ts";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type { LauncherRequest } from "../../../../src/app/launch/launcher.ts";
import { basicLauncher } from "../../../../src/app/launch/local/basic-launcher.ts";
import { jobsFolder } from "../../../../src/app/record/layout.ts";
import { isRunning } from "../../../../src/foundation/system/process-identity.ts";
import { until } from "../../../wait.ts";
import { endWorkersAfterEach, eventsOf, reusedWorker, sweepOf, told } from "./shell-sweep.ts";

const BATCH = [0, 1, 2].map((number) => ({
  ...{ number, overrides: [`x=${number}`], swept: [`x=${number}`, "hydra.a=1"] },
})) as unknown as readonly SweepJob[];

const result = (number: number, of = "here") => ({ number, of }) as unknown as JobResult;

/** What the basic launcher says of three jobs, and does with them. */
async function launched(
  request: Partial<LauncherRequest> = {},
  internals: object = {},
  facts: object = {},
) {
  const logged: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-basic-"));
  const program = { name: "prog", command: ["/nowhere/prog"], argv: [] };
  const launcher = basicLauncher.open({
    settings: {},
    directory: folder,
    env: {},
    logger: (name: string) => ({ info: (line: string) => logged.push(`${name}: ${line}`) }),
    mayStart: () => true,
    runHere: async ({ number }: SweepJob) => result(number),
    resultOf: ({ number }: SweepJob) => result(number, "a worker"),
    endOfEarlier: async () => undefined,
    internals: {
      ...{ failsFast: false, isRun: false, reusesWorkers: false, invocation: { env: {} } },
      record: {
        folder,
        facts: () => ({ directory: folder, cwd: folder, program, holds_secrets: false, ...facts }),
        endedSince: () => undefined,
      },
      ...internals,
    },
    ...request,
  } as unknown as LauncherRequest);
  const events: string[] = [];
  for await (const event of launcher.launch?.(BATCH) ?? []) {
    const said = event.kind === "ended" ? (event.result as unknown as { of: string }).of : "";
    if ("job" in event) events.push(`${event.kind} ${event.job.number} ${said}`.trim());
  }
  launcher.close?.();
  return { events, logged };
}

const ALL_HERE = [0, 1, 2].flatMap((number) => [`started ${number}`, `ended ${number} here`]);

test("the basic launcher runs one job after the other in this process, and logs as Hydra does", async () => {
  const logger = "hydra._internal.core_plugins.basic_launcher";
  expect(await launched()).toEqual({
    events: ALL_HERE,
    logged: [
      `${logger}: Launching 3 jobs locally`,
      ...[0, 1, 2].map((number) => `${logger}: \t#${number} : x=${number}`),
    ],
  });
});

test("it starts none that it may not, and may say that before", async () => {
  const mayStart = vi.fn(() => mayStart.mock.calls.length < 3);
  const { events, logged } = await launched({ mayStart }, { failsFast: true });
  expect(events).toEqual(ALL_HERE.slice(0, 4));
  expect(logged[0]).toMatch(/: Launching up to 3 jobs locally$/);
});

test("it takes the end of a job that an earlier process still ran", async () => {
  const runHere = vi.fn(async ({ number }: SweepJob) => result(number));
  const endOfEarlier = async ({ number }: SweepJob) =>
    number === 1 ? result(number, "earlier") : undefined;
  const { events } = await launched({ runHere, endOfEarlier });
  expect(events).toEqual(ALL_HERE.with(3, "ended 1 earlier"));
  expect(runHere.mock.calls.map(([{ number }]) => number)).toEqual([0, 2]);
});

test("programs of their own run in workers, unless the sweep cannot tell a worker how", async () => {
  const apart = { reusesWorkers: true };
  const { events, logged } = await launched({}, apart);
  expect(events).toEqual(ALL_HERE.map((event) => event.replace("here", "a worker")));
  expect(logged).toEqual((await launched()).logged);
  expect((await launched({}, apart, { holds_secrets: true })).events).toEqual(ALL_HERE);
  const program = { name: "prog", command: null, argv: [] };
  expect((await launched({}, apart, { program })).events).toEqual(ALL_HERE);
});

test("a job in this process cannot be ended early", async () => {
  await expect(launched({}, { pruning: {} })).rejects.toMatchObject({
    code: "app.unsupported",
    details: {
      key: "hydra.sweeper.pruner",
      hint: "use hydra/launcher=local, whose jobs are processes of their own",
    },
  });
});

test("it offers the launcher of processes in place of settings that are none of it", () => {
  expect(basicLauncher.insteadOf?.("n_jobs")).toEqual({
    hint: "use hydra/launcher=local to run jobs in parallel",
  });
});

endWorkersAfterEach();

test("the worker of its programs prints on the console, is kept, and ends with the launcher", async () => {
  const sweep = sweepOf(reusedWorker("echo $$ >> pids"), {}, { reusesWorkers: true });
  const resultOf = ({ number }: SweepJob) => result(number);
  const launcher = basicLauncher.open(Object.assign(sweep.request, { resultOf }));
  const [first, ...others] = sweep.jobs(3);
  if (first === undefined) return expect.unreachable("there are three");
  for (const batch of [[first], others]) await told(eventsOf(launcher, batch));
  const pids = sweep.read("pids").trimEnd().split("\n");
  expect(pids).toEqual(Array<string | undefined>(3).fill(pids[0]));
  expect(readdirSync(jobsFolder(sweep.folder)).filter((name) => name.endsWith(".log"))).toEqual([]);
  const [process] = sweep.state(0)?.attempts ?? [];
  if (process === undefined) return expect.unreachable("it has run");
  expect(isRunning(process)).toBe(true);
  launcher.close?.();
  await until(() => isRunning(process) === false);
});
