import { join, resolve } from "node:path";
import { type Composition, type Config, createConfig, toPlain } from "../../compose/index.ts";
import { setAt } from "../../compose/tree-edit.ts";
import { isConfigError } from "../../values/errors.ts";
import type { ResolveContext } from "../../values/interpolation/context.ts";
import { resolveTree } from "../../values/interpolation/index.ts";
import { type ConfigNode, type MapNode, scalar } from "../../values/node.ts";
import { fromCode } from "../../values/origin.ts";
import { pyRepr, pyStr } from "../../values/python-text.ts";
import { selectNode } from "../../values/select.ts";
import type { Invocation } from "../invocation.ts";
import { type Logger, type Logging, openLogging } from "../logging/logging.ts";
import { reportError } from "../report-error.ts";
import { without } from "../show-config.ts";
import { claimRunDirectory, makeRunDirectory, nextFreeDirectory } from "./run-directory.ts";
import { saveJobFiles } from "./save-files.ts";
import { withEnvironment } from "./with-environment.ts";

/** What a task may know about the job it is. */
export interface Job {
  /** `hydra.job.name`. */
  readonly name: string;
  /** The absolute path of the run directory, `hydra.runtime.output_dir`. */
  readonly outputDir: string;
  /** The overrides of the task's own config, as typed. */
  readonly overrides: readonly string[];
  /** The program's own flags that were given, by id. */
  readonly flags: ReadonlyMap<string, string | true>;
  /** What stood after `--`. */
  readonly restArgs: readonly string[];
  /** The composed tree with its `hydra` node, unresolved. */
  readonly root: MapNode;
  /**
   * The task's config with every interpolation resolved, with exact types and origins; worked out
   * on first use.
   * @throws ConfigError of the first interpolation that cannot be resolved
   */
  resolved(): ConfigNode;
  /** The logger of the program's name. */
  readonly log: Logger;
  logger(name: string): Logger;
}

/** What runs once the job is set up. A number is the exit code; nothing is 0. */
export type Task = (config: Config, job: Job) => number | undefined | Promise<number | undefined>;

export interface JobRequest {
  /** Names the task's own logger. */
  readonly program: string;
  readonly composition: Composition;
  readonly context: ResolveContext;
  /** Is told the tree once the job's own values stand in it. */
  readonly publish: (root: MapNode) => void;
  /** Looks at the job's config before anything is made; `false` after telling what is wrong. */
  readonly check: (resolved: () => ConfigNode) => Promise<boolean>;
  readonly resultFiles: readonly string[];
  readonly flags: ReadonlyMap<string, string | true>;
  readonly restArgs: readonly string[];
}

/**
 * Runs one job as Hydra does: fills in where its output goes, checks the config, makes the
 * directory, opens the log, saves the three files, sets `hydra.job.env_set`, changes into the
 * directory if `hydra.job.chdir` says so, and calls the task.
 *
 * @returns the exit code: the task's own, or 1 when it failed
 * @throws ConfigError for anything wrong before the task is called
 */
export async function runJob(
  request: JobRequest,
  task: Task,
  invocation: Invocation,
): Promise<number> {
  const { composition, context, resultFiles } = request;
  const wished = resolve(
    invocation.cwd,
    text(composition.root, "hydra.run.dir", context) ?? "None",
  );
  for (;;) {
    const job = prepare(request, chooseDirectory(wished, request));
    if (!(await request.check(job.resolved))) return 1;
    let release: () => void;
    try {
      release = takeDirectory(job.outputDir, resultFiles);
    } catch (error) {
      // Another run took the name between the look and the claim.
      if (isRunDirectoryError(error) && chooseDirectory(wished, request) !== job.outputDir)
        continue;
      throw error;
    }
    return runInDirectory(request, task, invocation, job).finally(release);
  }
}

function takeDirectory(path: string, resultFiles: readonly string[]): () => void {
  makeRunDirectory(path, resultFiles);
  // Hydra lets runs share a directory; only results must not mix.
  return resultFiles.length === 0 ? () => {} : claimRunDirectory(path);
}

const isRunDirectoryError = (error: unknown): boolean =>
  isConfigError(error) && error.code === "app.run_directory";

/** The tree and the config of a job in a directory. */
function prepare({ composition, context, publish }: JobRequest, outputDir: string): PreparedJob {
  const root = setAt(composition.root, ["hydra", "runtime", "output_dir"], {
    ...scalar(outputDir, fromCode("hydra.run.dir")),
    type: { kind: "str" },
  });
  publish(root);
  const tree = without(root, ["hydra"]);
  return { outputDir, root, tree, resolved: once(() => resolveTree(tree, context)) };
}

/** A directory that an override names is meant; one that the config makes up may step aside. */
function chooseDirectory(path: string, { composition, context, resultFiles }: JobRequest): string {
  if (resultFiles.length === 0) return path;
  const node = selectNode(composition.root, "hydra.run.dir", context);
  return isFromOverride(node) ? path : nextFreeDirectory(path, resultFiles);
}

/** Whether an override set a value, itself or the interpolation that it came from. */
function isFromOverride(node: ConfigNode | undefined): boolean {
  for (let at = node; at !== undefined; at = at.replaced)
    if (at.origin.kind === "override") return true;
  return false;
}

interface PreparedJob {
  readonly outputDir: string;
  readonly root: MapNode;
  readonly tree: MapNode;
  readonly resolved: () => ConfigNode;
}

async function runInDirectory(
  request: JobRequest,
  task: Task,
  invocation: Invocation,
  { outputDir, root, tree, resolved }: PreparedJob,
): Promise<number> {
  const { composition, context } = request;
  const logging = openLogging({
    config: plain(root, "hydra.job_logging", context),
    verbose: plain(root, "hydra.verbose", context),
    console: invocation.console,
    cwd: invocation.cwd,
  });
  try {
    const subdirectory = text(root, "hydra.output_subdir", context);
    if (subdirectory !== undefined) saveJobFiles(join(outputDir, subdirectory), root, tree);
    const config = createConfig(tree, { ...composition, root, config: tree }, context);
    const job = { ...describeJob(request, root, outputDir, logging), resolved };
    const settings = {
      env: plain(root, "hydra.job.env_set", context),
      ...(plain(root, "hydra.job.chdir", context) === true ? { cwd: outputDir } : {}),
    };
    return await withEnvironment(settings, () => runUserTask(task, config, job, invocation));
  } finally {
    logging.close();
  }
}

/** Its name marks the border in stacks: what lies below it is ours, not the user's. */
async function runUserTask(
  task: Task,
  config: Config,
  job: Job,
  invocation: Invocation,
): Promise<number> {
  try {
    return (await task(config, job)) ?? 0;
  } catch (error) {
    const overrides = `[${job.overrides.map((override) => pyRepr(override)).join(", ")}]`;
    invocation.console.stderr(`Error executing job with overrides: ${overrides}\n`);
    reportError(error, invocation);
    return 1;
  }
}

function describeJob(
  request: JobRequest,
  root: MapNode,
  outputDir: string,
  logging: Logging,
): Omit<Job, "resolved"> {
  const { context, flags, restArgs } = request;
  const name = text(root, "hydra.job.name", context) ?? "None";
  const overrides = selectNode(root, "hydra.overrides.task", context);
  return {
    name,
    outputDir,
    overrides: overrides?.kind === "list" ? overrides.items.map((item) => pyStr(item)) : [],
    flags,
    restArgs,
    root,
    log: logging.logger(request.program),
    logger: logging.logger,
  };
}

/** The text of a value; undefined for null and what is missing. */
function text(root: MapNode, key: string, context: ResolveContext): string | undefined {
  const node = selectNode(root, key, context);
  if (node === undefined || (node.kind === "scalar" && node.value === null)) return undefined;
  return pyStr(node);
}

function plain(root: MapNode, key: string, context: ResolveContext): unknown {
  const node = selectNode(root, key, context, { deep: true });
  return node === undefined ? undefined : toPlain(node);
}

function once<T>(compute: () => T): () => T {
  let done: { readonly value: T } | undefined;
  return () => {
    done ??= { value: compute() };
    return done.value;
  };
}
