import { randomUUID } from "node:crypto";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomicSync } from "../../../atomic-write.ts";
import { makeDirectory } from "../../../make-directory.ts";
import { shellQuote } from "../../../shell-quote.ts";
import { ConfigError, isConfigError } from "../../../values/errors.ts";
import { readJobState } from "../../sweep/record/job-state.ts";
import type { SweepFacts } from "../../sweep/record/manifest.ts";
import { WORKER_VARIABLE } from "../../worker/worker-request.ts";
import { batchScript } from "./batch-script.ts";
import type { SlurmClient } from "./client.ts";
import { keyGiven, MEMORY_OPTIONS, sbatchOptions } from "./sbatch-options.ts";
import type { SlurmSettings } from "./settings.ts";
import { noteSubmissions, slurmFolder, timeoutFolder } from "./submissions.ts";

export interface SubmitRequest {
  readonly client: SlurmClient;
  readonly settings: SlurmSettings;
  readonly facts: SweepFacts;
  /** The absolute path of the sweep's `.sweep` folder. */
  readonly folder: string;
  /** The jobs to be submitted. */
  readonly numbers: readonly number[];
}

/**
 * Hands jobs to Slurm: an array for each `MaxArraySize` of them. An array waits for the one before,
 * so that no more than `array_parallelism` jobs run at a time. Each array is noted before and after
 * it is submitted: whatever happens between, it is found again by its script.
 *
 * @returns Slurm's numbers of the arrays
 * @throws ConfigError `slurm.missing`, `slurm.rejected`, `slurm.no_answer`; then none of the arrays stays that is known
 */
export async function submitJobs(request: SubmitRequest): Promise<readonly string[]> {
  const { client, folder, facts, numbers, settings } = request;
  const command = restartable(facts);
  makeDirectory(timeoutFolder(folder));
  const size = await client.maxArraySize();
  const arrays: string[] = [];
  for (let first = 0; first < numbers.length; first += size) {
    const chunk = numbers.slice(first, first + size);
    const script = join(slurmFolder(folder), `${randomUUID()}.sh`);
    const options = sbatchOptions(settings, {
      size: chunk.length,
      cwd: facts.cwd,
      log: { folder: slurmFolder(folder), name: "%A_%a.log" },
      ...(arrays.length !== 0 && { after: arrays.at(-1) as string }),
    });
    const text = batchScript(settings, {
      jobs: chunk,
      command: [...command, ...facts.program.argv],
      variable: { name: WORKER_VARIABLE, rest: folder },
      path: script,
      timeoutFolder: timeoutFolder(folder),
      slurmLog: `${shellQuote(slurmFolder(folder))}/"$id".log`,
    });
    writeFileAtomicSync(script, text);
    chmodSync(script, 0o700);
    const jobs = chunk.map((number) => ({
      number,
      attempts: readJobState(folder, number)?.attempts.length ?? 0,
    }));
    const memory_key = keyGiven(options, MEMORY_OPTIONS);
    const made = { script, array: null, jobs, logs: settings.submitit_folder };
    noteSubmissions(folder, [{ ...made, ...(memory_key !== undefined && { memory_key }) }]);
    try {
      const array = await client.submit(options, script);
      arrays.push(array);
      noteSubmissions(folder, [{ script, array }]);
    } catch (error) {
      // First: of a disk that is full, nothing more may be noted.
      await client.cancel(arrays);
      // An array that there is, or may be, is looked for by its script.
      const isRefused = isConfigError(error) && error.code !== "slurm.no_answer";
      if (isRefused) noteSubmissions(folder, [{ script, given_up: true }]);
      throw error;
    }
  }
  return arrays;
}

/** @throws ConfigError `app.launcher` for a program that a cluster cannot start */
function restartable({ holds_secrets, program }: SweepFacts): readonly string[] {
  if (program.command === null)
    throw new ConfigError({
      code: "app.launcher",
      message: `The Slurm launcher cannot start '${program.name}' again: it was not started as a script`,
      key: "hydra/launcher",
      hint: "use hydra/launcher=basic",
    });
  if (holds_secrets)
    throw new ConfigError({
      code: "app.launcher",
      message: "A secret stands in the command line, and a batch script would show it",
      key: "hydra/launcher",
      hint: "pass it by the environment: password=${oc.env:PASSWORD}",
    });
  return program.command;
}
