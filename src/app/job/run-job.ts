import { resolve } from "node:path";
import { type Config, createConfig } from "../../compose/index.ts";
import { ConfigError } from "../../values/errors.ts";
import { type ConfigNode, isMissing, type MapNode } from "../../values/node.ts";
import { pyStr, pyTypeName } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { asDeclared } from "../../values/resolution/context.ts";
import { resolveAt } from "../../values/resolution/select.ts";
import type { Callbacks } from "../callbacks/callbacks.ts";
import type { Logging } from "../logging/logging.ts";
import { CHDIR_WARNING } from "../version-base.ts";
import { requiredAt, textAt } from "./hydra-values.ts";
import { failedJob, type Job, type JobResult, readReturn, type Task } from "./job.ts";
import { logSettings } from "./log-settings.ts";
import type { PlannedJob } from "./plan-job.ts";
import { claimRunDirectory, makeRunDirectory } from "./run-directory.ts";
import { saveJobFiles } from "./save-files.ts";
import { withEnvironment } from "./with-environment.ts";

/** What all jobs of one call of a program share. */
export interface JobSurroundings {
  /** Names the task's own logger. */
  readonly program: string;
  readonly task: Task;
  readonly context: ResolveContext;
  /** Is told the tree that `${hydra:...}` is to read. */
  readonly publish: (root: MapNode) => void;
  readonly logging: Logging;
  readonly callbacks: Callbacks;
  readonly cwd: string;
  readonly resultFiles: readonly string[];
  /** What `hydra.job.chdir: null` means: false since Hydra 1.2. */
  readonly chdirByDefault: boolean;
  /** Tells the user, each message once. */
  readonly warn: (message: string) => void;
  readonly flags: ReadonlyMap<string, string | true>;
  readonly restArgs: readonly string[];
}

/**
 * Takes the directory of a job: makes it and, for a program with results, keeps others out.
 *
 * @returns gives it up
 * @throws ConfigError `app.run_directory`
 */
export function takeDirectory({ outputDir }: PlannedJob, resultFiles: readonly string[]) {
  makeRunDirectory(outputDir, resultFiles);
  // Hydra lets runs share a directory; only results must not mix.
  return resultFiles.length === 0 ? () => {} : claimRunDirectory(outputDir);
}

/**
 * Runs one job in the directory that was taken for it, as Hydra does: opens the job's log, saves the
 * three files, changes into the directory if `hydra.job.chdir` says so, sets `hydra.job.env_set`, and
 * calls the task. What the task throws is in the result.
 *
 * @throws ConfigError for anything wrong before the task is called
 */
export async function runJob(
  planned: PlannedJob,
  surroundings: JobSurroundings,
): Promise<JobResult> {
  const { composition, outputDir, root, tree } = planned;
  const { callbacks, chdirByDefault, context, logging, publish, task } = surroundings;
  publish(root);
  const own = hydraAlone(root);
  const chosen = requiredAt(own, "hydra.job.chdir", context) ?? undefined;
  if (chosen === undefined && chdirByDefault) surroundings.warn(CHDIR_WARNING);
  const chdir = chosen ?? chdirByDefault;
  const workingDirectory = chdir === true ? { cwd: outputDir } : {};
  const settingsOfLog = logSettings(root, "hydra.job_logging", context);
  logging.configure(...settingsOfLog(workingDirectory.cwd ?? surroundings.cwd));
  const subdirectory = requiredAt(root, "hydra.output_subdir", context) ?? undefined;
  if (subdirectory !== undefined) saveJobFiles(resolve(outputDir, String(subdirectory)), planned);
  const config = createConfig(tree, { ...composition, root, config: tree }, context);
  const job = describeJob(planned, surroundings);
  // What is wrong with it shows when the files are there, as in Hydra.
  const settings = { env: environmentAt(own, context), ...workingDirectory };
  return withEnvironment(settings, async () => {
    await callbacks.notify("onJobStart", { config, job });
    const result = await callTask(task, config, job);
    await callbacks.notify("onJobEnd", { config, job, result });
    return result;
  });
}

/** Hydra sets a job up from a copy of its own node: the job's config cannot be referred to there. */
function hydraAlone(root: MapNode): MapNode {
  const hydra = root.entries.get("hydra");
  return { ...root, entries: new Map(hydra === undefined ? [] : [["hydra", hydra]]) };
}

const ENV_SET = ["hydra", "job", "env_set"] as const;

/**
 * Python sets the variables one by one, so that `oc.env` in a value knows those above it.
 * @throws ConfigError `value.missing`, and of interpolations
 */
function environmentAt(own: MapNode, context: ResolveContext): Readonly<Record<string, string>> {
  const settings = resolveAt(own, ENV_SET, asDeclared(context));
  const variables: Record<string, string> = {};
  if (settings.kind !== "map") return variables;
  const env = { ...context.env };
  for (const { key } of settings.entries.values()) {
    const name = pyStr(key);
    const value = resolveAt(own, [...ENV_SET, key], { ...context, env });
    if (isMissing(value))
      throw new ConfigError({
        code: "value.missing",
        message: `Missing mandatory value: hydra.job.env_set.${name}`,
        key: `hydra.job.env_set.${name}`,
      });
    if (value.kind !== "scalar") throw noText(name, value);
    env[name] = variables[name] = pyStr(value);
  }
  return variables;
}

const noText = (name: string, value: ConfigNode): ConfigError =>
  new ConfigError({
    code: "value.wrong_type",
    message: `An environment variable must be a string, not ${pyTypeName(value)}`,
    origin: value.origin,
    key: `hydra.job.env_set.${name}`,
  });

async function callTask(task: Task, config: Config, job: Job): Promise<JobResult> {
  const { number, outputDir, overrides } = job;
  try {
    const returned = readReturn(await runUserTask(task, config, job));
    return {
      status: "completed",
      ...(number !== undefined && { number }),
      outputDir,
      overrides,
      ...returned,
      error: undefined,
    };
  } catch (error) {
    return failedJob(job, error);
  }
}

/** Its name marks the border in stacks: what lies below it is ours, not the user's. */
async function runUserTask(task: Task, config: Config, job: Job): Promise<unknown> {
  return await task(config, job);
}

function describeJob(planned: PlannedJob, surroundings: JobSurroundings): Job {
  const { number, outputDir, overrides, resolved, root } = planned;
  const { context, flags, logging, program, restArgs } = surroundings;
  return {
    // Whether it has a value matters to tasks that ask for it.
    get name() {
      return textAt(root, "hydra.job.name", context) ?? "None";
    },
    ...(number !== undefined && { number }),
    outputDir,
    overrides,
    flags,
    restArgs,
    root,
    get: <T>(key: string) => requiredAt(root, key, context) as T | undefined,
    resolved,
    log: logging.logger(program),
    logger: logging.logger,
  };
}
