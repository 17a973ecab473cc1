/** Sweeps of the local launcher in this process, whose workers are shell scripts that record nothing themselves. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { SweepJob } from "../../../../src/app/job/plan-job.ts";
import type {
  LaunchEvent,
  Launcher,
  LauncherInternals,
  LauncherRequest,
} from "../../../../src/app/launch/launcher.ts";
import { localLauncher } from "../../../../src/app/launch/local/local-launcher.ts";
import { readLocalSettings } from "../../../../src/app/launch/local/local-settings.ts";
import { hasEnded, type JobState, readJobState } from "../../../../src/app/record/job-state.ts";
import { jobLog, jobsFolder } from "../../../../src/app/record/layout.ts";
import { isRunning } from "../../../../src/foundation/system/process-identity.ts";

/** The number of a worker's first job, in its shell. */
export const NUMBER = "n=${HYDRACONF_WORKER%%:*}";

/**
 * A worker that runs one job after the other, as a shell: `job` is called for each, with its number in `$n`. Node's messages are lines of
 * JSON on the socket that `NODE_CHANNEL_FD` names.
 */
export const reusedWorker = (job: string): string => `job() { ${job}
}
${NUMBER}
while :; do
  job
  echo '{"done":'$n'}' >&$NODE_CHANNEL_FD
  read -r next <&$NODE_CHANNEL_FD || exit 0
  n=\${next#*number?:}; n=\${n%%,*}
  echo '{"begun":'$n'}' >&$NODE_CHANNEL_FD
done`;

const MOST_JOBS = 6;
const folders: string[] = [];

/** Ends what a test that failed has left. */
export const endWorkersAfterEach = (): void =>
  void afterEach(() => {
    for (const folder of folders.splice(0))
      for (let number = 0; number < MOST_JOBS; number++) {
        const last = readJobState(folder, number)?.attempts.at(-1);
        if (last === undefined || last.pid === process.pid) continue;
        if (isRunning(last) === true) process.kill(-last.pid, "SIGKILL");
      }
  });

type Appearance = Parameters<typeof localLauncher>[3];

export function sweepOf(
  script: string,
  settings: Readonly<Record<string, unknown>> = {},
  internals: Partial<LauncherInternals> & { readonly command?: readonly string[] } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-launcher-"));
  mkdirSync(jobsFolder(folder));
  folders.push(folder);
  const logged: string[] = [];
  const said: string[] = [];
  const shown: string[] = [];
  const { command = ["/bin/sh", "-c", script], ...others } = internals;
  const program = { name: "prog", command, argv: [] };
  const facts = { directory: folder, cwd: folder, program, holds_secrets: false };
  const request = {
    settings: { slot_scope: "sweep", n_jobs: 2, ...settings },
    directory: folder,
    env: process.env,
    logger: (name: string) => ({ info: (line: string) => logged.push(`${name}: ${line}`) }),
    say: (line: string) => said.push(line),
    mayStart: () => true,
    resultOf({ number }: SweepJob) {
      const state = readJobState(folder, number);
      return hasEnded(state) ? state : undefined;
    },
    internals: {
      record: { folder, facts: () => facts, endedSince: () => undefined },
      invocation: {
        cwd: folder,
        env: process.env,
        command: ["/bin/sh", "/opt/prog.sh"],
        console: { stdout: (text: string) => shown.push(text) },
      },
      reusesWorkers: false,
      failsFast: false,
      isRun: false,
      ...others,
    },
  } as unknown as LauncherRequest;
  const open = (appearance: Appearance = {}) =>
    localLauncher("local", "Local", readLocalSettings, appearance).open(request);
  /** @param own settings of each job that differ from the sweep's */
  const jobs = (count: number, own: readonly Readonly<Record<string, unknown>>[] = []) =>
    Array.from({ length: count }, (_, number) => ({
      ...{ number, overrides: [`x=${number}`], swept: [`x=${number}`, "hydra.a=1"] },
      ...(own[number] && { launcher: { ...request.settings, ...own[number] } }),
    })) as unknown as SweepJob[];
  return {
    folder,
    logged,
    said,
    shown,
    request,
    open,
    jobs,
    state: (number: number): JobState | undefined => readJobState(folder, number),
    has: (name: string) => existsSync(join(folder, name)),
    write: (name: string, text = "") => writeFileSync(join(folder, name), text),
    read: (name: string) => readFileSync(join(folder, name), "utf8"),
    log: (number: number) => readFileSync(jobLog(folder, number), "utf8"),
    launch: (batch: number | readonly SweepJob[], appearance: Appearance = {}) =>
      eventsOf(open(appearance), typeof batch === "number" ? jobs(batch) : batch),
  };
}

/** What a launcher says of a batch, step by step. */
export const eventsOf = (launcher: Launcher, batch: readonly SweepJob[]) =>
  launcher.launch?.(batch) as AsyncGenerator<LaunchEvent>;

/** The events of a batch, each with the number of its job. */
export async function told(events: AsyncIterable<LaunchEvent>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const event of events)
    all.push("job" in event ? `${event.kind} ${event.job.number}` : event.kind);
  return all;
}
