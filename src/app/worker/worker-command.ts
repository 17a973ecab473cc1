import { ConfigError } from "../../values/errors.ts";
import type { SweepFacts, SweepProgram } from "../sweep/record/manifest.ts";
import { type WorkerRequest, workerEnvironment } from "./worker-request.ts";

/** How to start the worker of a job: a process of its own, in this directory. */
export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** To be added to the environment of the launcher. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The command line of a job's worker.
 *
 * @throws ConfigError `app.unsupported` for a program that nothing can start again
 */
export function workerCommand({ cwd, program }: SweepFacts, request: WorkerRequest): WorkerCommand {
  const [file, ...first] = program.command ?? [];
  if (file === undefined) throw unstartable(program);
  return { file, args: [...first, ...program.argv], cwd, env: workerEnvironment(request) };
}

/** @throws ConfigError `app.unsupported` for sweeps whose jobs no other process can run */
export function refuseUnstartable({ holds_secrets, program }: SweepFacts): void {
  if (holds_secrets)
    throw new ConfigError({
      code: "app.unsupported",
      message: "A secret on the command line cannot be passed to jobs in other processes",
      key: "hydra.launcher",
      hint: "put it into an environment variable and write KEY='${oc.env:NAME}'",
    });
  if (program.command === null) throw unstartable(program);
}

const unstartable = ({ name }: SweepProgram): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message: `'${name}' was not started from a file, so other processes cannot run its jobs`,
    key: "hydra.launcher",
    hint: "use hydra/launcher=basic",
  });
