/** Runs one job in its directory, as Hydra does. */
import { join, resolve } from "node:path";
import { type Config, createConfig, toPlain } from "../../engine/compose/index.ts";
import { maskSecrets, type Secrets } from "../../engine/compose/secrets.ts";
import type { Dialect } from "../../engine/values/dialect.ts";
import { ConfigError, isConfigError } from "../../engine/values/errors.ts";
import { limitsOf } from "../../engine/values/limits.ts";
import {
  type ConfigNode,
  child,
  editTree,
  getAt,
  isMissing,
  type MapNode,
  map,
} from "../../engine/values/node.ts";
import { pyStr, pyTypeName } from "../../engine/values/python-text.ts";
import { asDeclared, type ResolveContext } from "../../engine/values/resolution/context.ts";
import { resolveAt } from "../../engine/values/resolution/select.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { removeDeadDrafts, writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { makeDirectory } from "../../foundation/system/files.ts";
import type { Callbacks } from "./callbacks.ts";
import { makeCheckpoint } from "./checkpoint.ts";
import { processCode } from "./ender.ts";
import { requiredAt, requiredNode, textAt } from "./hydra-values.ts";
import { failedJob, type Job, type JobResult, readReturn, type Task } from "./job.ts";
import type { Locate } from "./logging/log-config.ts";
import type { Logging } from "./logging/logging.ts";
import { openMetrics } from "./metrics.ts";
import { CHDIR_WARNING } from "./options.ts";
import type { PlannedJob } from "./plan-job.ts";
import { claimRunDirectory, kindOfJob, makeRunDirectory } from "./run-directory.ts";

/** What all jobs of one program run share. */
export interface JobContext {
  /** The name of the task's own logger. */
  readonly program: string;
  readonly task: Task;
  readonly context: ResolveContext;
  /** Called with the tree for the `hydra` resolver. */
  readonly publish: (root: MapNode) => void;
  readonly logging: Logging;
  readonly callbacks: Callbacks;
  /** Whether the task runs a program that sets the job up itself. */
  readonly isDelegated: boolean;
  readonly cwd: string;
  readonly resultFiles: readonly string[];
  /** The meaning of `hydra.job.chdir: null`: false since Hydra 1.2. */
  readonly chdirByDefault: boolean;
  /** Warns the user, each message once. */
  readonly warn: (message: string) => void;
  readonly flags: ReadonlyMap<string, string | true>;
  readonly restArgs: readonly string[];
}

/** What a job shows of its surroundings. */
type JobView = Pick<JobContext, "context" | "flags" | "logging" | "program" | "restArgs"> &
  Partial<Pick<Job, "positionals">>;

/** Runs a task where it was called, without a directory, a log file and callbacks. */
export const runBare = (
  planned: PlannedJob,
  task: Task,
  config: Config,
  view: JobView,
): Promise<JobResult> => callTask(task, config, describeJob(planned, view));

/**
 * Makes and claims the directory of a job; the claim is only for programs with results.
 *
 * @param mode as in `makeRunDirectory`
 * @returns releases the claim
 * @throws ConfigError `app.run_directory`
 */
export function takeDirectory(
  job: PlannedJob,
  resultFiles: readonly string[],
  mode?: number,
): () => void {
  const { outputDir } = job;
  const kind = kindOfJob(job);
  makeRunDirectory(outputDir, resultFiles, { kind, ...(mode !== undefined && { mode }) });
  // Hydra lets runs share a directory; only results must not mix.
  return resultFiles.length === 0 ? () => {} : claimRunDirectory(outputDir, kind);
}

/**
 * Runs one job in its claimed directory, as Hydra does: opens the job's log, saves the three files, changes into the
 * directory if `hydra.job.chdir` says so, sets `hydra.job.env_set`, and calls the task. The result includes an error
 * that the task throws.
 *
 * @throws ConfigError for any error before the task is called
 */
export async function runJob(planned: PlannedJob, surroundings: JobContext): Promise<JobResult> {
  const { composition, outputDir, root, tree } = planned;
  const { callbacks, chdirByDefault, context, isDelegated, logging, publish, task } = surroundings;
  publish(root);
  const config = createConfig(tree, { ...composition, root, config: tree }, context);
  const job = describeJob(planned, surroundings);
  if (isDelegated) return callTask(task, config, job);
  const hydraConfig = hydraAlone(root);
  // Before any file is made.
  const variables = context.dialect.setsVariablesInTurn
    ? undefined
    : resolvedVariables(root, context);
  const chosen = requiredAt(hydraConfig, "hydra.job.chdir", context) ?? undefined;
  if (chosen === undefined && chdirByDefault) surroundings.warn(CHDIR_WARNING);
  const chdir = chosen ?? chdirByDefault;
  const workingDirectory = chdir === true ? { cwd: outputDir } : {};
  const settingsOfLog = logSettings(root, "hydra.job_logging", context);
  logging.configure(...settingsOfLog(workingDirectory.cwd ?? surroundings.cwd));
  const subdirectory = requiredAt(root, "hydra.output_subdir", context) ?? undefined;
  const saved =
    variables === undefined ? planned : { composition, tree, root: withVariables(root, variables) };
  if (subdirectory !== undefined) saveJobFiles(resolve(outputDir, String(subdirectory)), saved);
  // As in Hydra, an error in `env_set` appears only after the files are saved.
  const settings = {
    env: environmentAt(
      variables === undefined ? hydraConfig : withVariables(hydraConfig, variables),
      context,
    ),
    ...workingDirectory,
  };
  return withEnvironment(settings, async () => {
    await callbacks.notify("onJobStart", { config, job });
    const isNotified =
      context.dialect.notifiesOfInterrupts && callbacks.hasAny(["onJobEnd", "onRunEnd"]);
    const result = await (isNotified
      ? untilInterrupted(() => callTask(task, config, job), job)
      : callTask(task, config, job));
    if (result.status === "failed" && context.dialect.logsFailures && !isInterrupted(result))
      logging.errorToFiles("hydra.core.utils", "Job failed", result.error);
    await callbacks.notify("onJobEnd", { config, job, result });
    return result;
  });
}

/** Hydra sets a job up from a copy of its own node, where interpolations cannot reach the job's config. */
function hydraAlone(root: MapNode): MapNode {
  const hydra = root.entries.get("hydra");
  return { ...root, entries: new Map(hydra === undefined ? [] : [["hydra", hydra]]) };
}

const ENV_SET = ["hydra", "job", "env_set"] as const;

/**
 * Python sets the variables one by one, so that `oc.env` in a value sees those above it.
 * @throws ConfigError `value.missing`, and of interpolations
 */
function environmentAt(
  hydraConfig: MapNode,
  context: ResolveContext,
): Readonly<Record<string, string>> {
  const settings = resolveAt(hydraConfig, ENV_SET, asDeclared(context));
  const variables: Record<string, string> = {};
  if (settings.kind !== "map") return variables;
  const env = { ...context.env };
  for (const { key } of settings.entries.values()) {
    const name = pyStr(key);
    const value = resolveAt(hydraConfig, [...ENV_SET, key], { ...context, env });
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

/** The variables with their interpolations resolved, before any is set. */
function resolvedVariables(hydraConfig: MapNode, context: ResolveContext): ConfigNode {
  const settings = resolveAt(hydraConfig, ENV_SET, asDeclared(context));
  if (settings.kind !== "map") return settings;
  const entries = [...settings.entries].map(([id, { key, value }]) => {
    const isOpen = isMissing(value);
    return [
      id,
      { key, value: isOpen ? value : resolveAt(hydraConfig, [...ENV_SET, key], context) },
    ] as const;
  });
  return { ...settings, entries: new Map(entries) };
}

function withVariables(root: MapNode, variables: ConfigNode): MapNode {
  const tree = editTree(root);
  tree.set(ENV_SET, variables);
  return tree.root;
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

/**
 * Runs a job until it ends or Ctrl-C arrives: then the task is abandoned, and the caller ends the process after the
 * callbacks (`endInterrupted`). If the program handles the signal itself, Ctrl-C is left to it.
 */
async function untilInterrupted(call: () => Promise<JobResult>, job: Job): Promise<JobResult> {
  if (process.listenerCount(CTRL_C) > 0) return call();
  let onSignal = (): void => {};
  const interrupted = new Promise<JobResult>((settle) => {
    onSignal = () => {
      if (process.listenerCount(CTRL_C) > 1) return;
      const error = new ConfigError({ code: "app.interrupted", message: `interrupted: ${CTRL_C}` });
      const endedBy = { by: "launcher", signal: CTRL_C } as const;
      settle({ ...failedJob(job, error), endedBy, exitCode: processCode(endedBy, 1) });
    };
    process.on(CTRL_C, onSignal);
  });
  try {
    return await Promise.race([call(), interrupted]);
  } finally {
    process.off(CTRL_C, onSignal);
  }
}

const CTRL_C = "SIGINT";

/** Whether Ctrl-C ended a job. */
export const isInterrupted = ({ error }: Pick<JobResult, "error">): boolean =>
  isConfigError(error) && error.code === "app.interrupted";

/** Ends this process as Ctrl-C does if a job was abandoned, because its task may still run. */
export function endInterrupted(results: readonly JobResult[]): void {
  if (results.some(isInterrupted)) process.kill(process.pid, CTRL_C);
}

/** The name of this function marks the border in stacks: frames below it are ours, not the user's. */
async function runUserTask(task: Task, config: Config, job: Job): Promise<unknown> {
  return await task(config, job);
}

function describeJob(planned: PlannedJob, surroundings: JobView): Job {
  const { continuation, number, outputDir, overrides, resolved, root } = planned;
  const { context, flags, logging, positionals = {}, program, restArgs } = surroundings;
  return {
    // A missing value matters only to tasks that read it.
    get name() {
      return textAt(root, "hydra.job.name", context) ?? "None";
    },
    ...(number !== undefined && { number }),
    outputDir,
    overrides,
    flags,
    positionals,
    restArgs,
    root,
    get: <T>(key: string) => requiredAt(root, key, context) as T | undefined,
    resolved,
    report: openMetrics(outputDir),
    // Only tasks that ask for it have the directory.
    get checkpoint() {
      return makeCheckpoint(planned);
    },
    ...(continuation !== undefined && { continues: continuation.job }),
    log: logging.logger(program),
    logger: logging.logger,
  };
}

/** Changes to the process while a job runs. */
interface ProcessSettings {
  /** Variables to set (`hydra.job.env_set`). */
  readonly env?: Readonly<Record<string, string>>;
  /** Directory to work in (`hydra.job.chdir`). */
  readonly cwd?: string;
}

/** Runs a function with other variables or another directory, and restores both afterwards. */
async function withEnvironment<T>(settings: ProcessSettings, run: () => Promise<T>): Promise<T> {
  const variables = Object.entries(settings.env ?? {});
  const previous = variables.map(([name]) => [name, process.env[name]] as const);
  const cwd = process.cwd();
  for (const [name, value] of variables) process.env[name] = value;
  if (settings.cwd !== undefined) process.chdir(settings.cwd);
  try {
    return await run();
  } finally {
    if (settings.cwd !== undefined) process.chdir(cwd);
    for (const [name, value] of previous) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

/**
 * Saves the three files of every Hydra job, in Hydra's formatting, with interpolations unresolved and secrets masked.
 */
function saveJobFiles(
  directory: string,
  job: {
    readonly root: MapNode;
    readonly tree: MapNode;
    readonly composition: Secrets & { readonly dialect: Dialect };
  },
): void {
  const { dialect } = job.composition;
  const root = maskSecrets(job.root, job.composition);
  const config = maskSecrets(job.tree, job.composition);
  const hydra = root.entries.get("hydra")?.value;
  if (hydra === undefined) return;
  const files: Readonly<Record<string, ConfigNode | undefined>> = {
    "config.yaml": config,
    "hydra.yaml": map([["hydra", hydra]], hydra.origin),
    "overrides.yaml": getAt(hydra, ["overrides", "task"]),
  };
  // Not left to the first write, which treats a missing directory as an error to recover from.
  makeDirectory(directory);
  removeDeadDrafts(directory);
  for (const [name, node] of Object.entries(files))
    if (node !== undefined)
      writeFileAtomicSync(
        join(directory, name),
        writeYaml(node, { dialect, limits: limitsOf(process.env) }),
      );
}

/** The arguments of `Logging.configure`. */
type LogSettings = (cwd: string) => Parameters<Logging["configure"]>;

/**
 * Reads a log config and `hydra.verbose`.
 *
 * @param key `hydra.job_logging` or `hydra.hydra_logging`
 * @throws ConfigError `value.missing`, and of interpolations
 */
export function logSettings(root: MapNode, key: string, context: ResolveContext): LogSettings {
  const node = requiredNode(root, key, context);
  const config = node === undefined ? undefined : toPlain(node);
  const verbose = requiredAt(root, "hydra.verbose", context);
  return (cwd) => [config, verbose, cwd, locateIn(node, key)];
}

/** The key and the origin of the value at a path, or of the nearest existing map around it. */
const locateIn =
  (node: ConfigNode | undefined, key: string): Locate =>
  (path) => {
    let current = node;
    let place = key;
    for (const name of path) {
      const next = current && child(current, name);
      if (next === undefined) break;
      current = next;
      place += `.${name}`;
    }
    return { key: place, ...(current !== undefined && { origin: current.origin }) };
  };
