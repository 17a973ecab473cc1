/**
 * What the process that started a program tells it in the environment: to run one job of a sweep, or to drive the
 * sweep.
 */
import type { ProcessIdentity } from "../../system/process-identity.ts";

/**
 * How a launcher tells a program that it is to run one job of a sweep: the program is started again
 * with the arguments of the sweep, and with this variable, `NUMBER:FOLDER`. A variable and not a
 * flag, since then the program reads its own arguments as it did the first time.
 */
export const WORKER_VARIABLE = "HYDRACONF_WORKER";

/** How a launcher that notes the start itself names it: a `NotedStart` as JSON. */
const START_VARIABLE = "HYDRACONF_WORKER_START";

/** One job of a sweep, to be run in this process. */
export interface WorkerRequest {
  /** The absolute path of the sweep's `.sweep` folder. */
  readonly folder: string;
  readonly number: number;
  /** Not there where this process records its start by itself. */
  readonly start?: NotedStart;
}

/** A start that the launcher notes in the job's record, with the process that it started. */
export interface NotedStart {
  /** As the record names it. */
  readonly id: string;
  readonly launcher: ProcessIdentity;
}

export const workerEnvironment = ({
  folder,
  number,
  start,
}: WorkerRequest): Readonly<Record<string, string>> => ({
  [WORKER_VARIABLE]: `${number}:${folder}`,
  ...(start !== undefined && { [START_VARIABLE]: JSON.stringify(start) }),
});

/**
 * Reads the request and takes it out of the environment: programs that a job starts are no workers.
 * Undefined where there is none.
 */
export function takeWorkerRequest(
  env: Record<string, string | undefined>,
): WorkerRequest | undefined {
  const [, number, folder] = /^(\d+):(.+)$/s.exec(env[WORKER_VARIABLE] ?? "") ?? [];
  const start = env[START_VARIABLE];
  delete env[WORKER_VARIABLE];
  delete env[START_VARIABLE];
  if (number === undefined || folder === undefined) return undefined;
  return {
    number: Number(number),
    folder,
    ...(start !== undefined && { start: JSON.parse(start) as NotedStart }),
  };
}

/**
 * How `--detach` tells a program that it is started to carry a sweep on without anybody waiting for it: this
 * variable, and a channel on which it says that it does.
 */
export const DRIVER_VARIABLE = "HYDRACONF_DRIVER";

/** What the program says once it drives the sweep. */
export const DRIVES = "drives";

/**
 * Reads the mark and takes it out of the environment: programs that a job starts drive nothing.
 *
 * @returns what says that this process drives the sweep now; undefined if it was not asked
 */
export function takeDriverRequest(
  env: Record<string, string | undefined>,
): (() => void) | undefined {
  if (env[DRIVER_VARIABLE] === undefined) return undefined;
  delete env[DRIVER_VARIABLE];
  return () => {
    if (!process.connected) return;
    // The process that asked may be gone: then no answer is needed.
    process.send?.(DRIVES, () => process.disconnect());
  };
}
