/**
 * How a launcher tells a program that it is to run one job of a sweep: the program is started again
 * with the arguments of the sweep, and with this variable, `NUMBER:FOLDER`. A variable and not a
 * flag, since then the program reads its own arguments as it did the first time.
 */
export const WORKER_VARIABLE = "HYDRACONF_WORKER";

/** One job of a sweep, to be run in this process. */
export interface WorkerRequest {
  /** The absolute path of the sweep's `.sweep` folder. */
  readonly folder: string;
  readonly number: number;
}

export const workerEnvironment = ({
  folder,
  number,
}: WorkerRequest): Readonly<Record<string, string>> => ({
  [WORKER_VARIABLE]: `${number}:${folder}`,
});

/**
 * Reads the request and takes it out of the environment: programs that a job starts are no workers.
 * Undefined where there is none.
 */
export function takeWorkerRequest(
  env: Record<string, string | undefined>,
): WorkerRequest | undefined {
  const [, number, folder] = /^(\d+):(.+)$/.exec(env[WORKER_VARIABLE] ?? "") ?? [];
  delete env[WORKER_VARIABLE];
  return number === undefined || folder === undefined
    ? undefined
    : { number: Number(number), folder };
}
