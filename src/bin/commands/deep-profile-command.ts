/** The command `deep-profile`, as a function of its invocation. */
import { resolve } from "node:path";
import type { HydraMainOptions } from "../../app/cli/check-main.ts";
import { startProgram } from "../../app/cli/main.ts";
import { configLines } from "../../app/cli/show-explanation.ts";
import { usageText } from "../../app/command-line/command-line.ts";
import { exitCode, type Job, type Task } from "../../app/job/job.ts";
import type { Invocation } from "../../app/job/process/invocation.ts";
import { type Config, maskSecrets } from "../../engine/compose/index.ts";
import { isConfigError } from "../../engine/values/errors.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import { packageInfo } from "../../engine/values/package-info.ts";
import { toObject } from "../../engine/values/plain-objects.ts";
import { resolveTree } from "../../engine/values/resolution/resolve-tree.ts";
import { once } from "../../foundation/system/get-or-create.ts";
import { terminalWidth } from "../../foundation/system/standard-streams.ts";
import type { OpenRun } from "../../profiler/cli/measured-side.ts";
import type { MainRequest } from "../../profiler/cli/profile-task.ts";
import { subcommandsOf } from "../../profiler/cli/subcommands.ts";
import { ARGUMENT_KEYS, commandOverrides } from "../../profiler/run/command-override.ts";
import type { ProfileConfig } from "../../profiler/tools/profiler-config.ts";
import { RESULT_FILES } from "../../profiler/tools/tool-table.ts";

/** The command `deep-profile`: profiles, or runs a subcommand. @returns the exit code */
export function deepProfile(invocation: Invocation): Promise<number> {
  const isLaunched = Object.keys(invocation.env).some((name) => OF_RANKS.test(name));
  return isLaunched
    ? asRank(invocation)
    : startProgram(createProgram(invocation), profileTask(invocation), invocation);
}

function createProgram(invocation: Invocation): HydraMainOptions {
  const { root, version } = packageInfo();
  /** Shared by all jobs that this command plans. */
  const gpuQueries = once(async () =>
    (await import("../../profiler/machine/gpu.ts")).createGpuQueries(),
  );
  const requestCheck = once(async () => {
    const { createRequestCheck } = await import("../../profiler/cli/check-request.ts");
    return createRequestCheck(invocation.cwd, await gpuQueries());
  });

  const program: HydraMainOptions = {
    name: "deep-profile",
    version,
    base: invocation.cwd,
    configPath: ownConfigPath(),
    configName: CONFIG_NAME,
    schema: `${root}/schemas/config.schema.json`,
    hasUserCode: false,
    settingsFiles: true,
    trustCommand: "deep-profile trust",
    resultFiles: RESULT_FILES,
    launchesRuns: true,
    restAsOverrides: commandOverrides,
    programUse: "profile",
    freeKeys: [ARGUMENT_KEYS],
    textLists: [
      "workload.command",
      "workload.overrides",
      "pipeline.nsys.extra_args",
      "pipeline.ncu.ncu_cli.extra_args",
    ],
    subcommands: [
      ...subcommandsOf((argv, measure) =>
        startProgram(program, measuredBy(measure, invocation), { ...invocation, argv }),
      ),
      {
        name: "trust",
        summary: "lets a project run what its settings file names, such as plugins",
        commandLine: async () =>
          (await import("../../app/cli/trust-command.ts")).trustLine("deep-profile"),
        run: async (args, io) =>
          (await import("../../app/cli/trust-command.ts")).runTrust("deep-profile", args, io),
      },
    ],
    check: async (resolved, how) => (await requestCheck())(profileConfig(resolved), how),
    planJob: async (resolved, outputDir) => {
      const { planProfile } = await import("../../profiler/run/plan-run.ts");
      const say = (line: string) => invocation.console.stderr(`${line}\n`);
      return planProfile(profileConfig(resolved), {
        queries: await gpuQueries(),
        cwd: invocation.cwd,
        runDirectory: outputDir,
        say,
      });
    },
    helpTopic: async (name) =>
      IS_METRIC.test(name)
        ? (await import("../../profiler/cli/metric-help.ts")).metricHelp(name, {
            env: invocation.env,
            color: invocation.console.stdoutColor === true,
          })
        : null,
    keyValues: async (key, typed) =>
      key === "pipeline.ncu.ncu_cli.metrics"
        ? (await import("../../profiler/cli/metric-help.ts")).metricsBeginning(typed, invocation)
        : [],
    summarizeSweep: async (rows, page) =>
      (await import("../../profiler/cli/jobs-table.ts")).jobsTable(rows, page),
  };
  return program;
}

const CONFIG_NAME = "config";
const ownConfigPath = (): string => `${packageInfo().root}/conf`;

/** `unit__counter`, with or without a rollup: no key of a config has two underscores. */
const IS_METRIC = /^[a-z0-9]+__\w+(\.\w+)*$/;

/** Environment variables that show that a launcher started this process as one of several ranks. */
const OF_RANKS =
  /^(?:OMPI_COMM_WORLD_RANK|MV2_COMM_WORLD_RANK|PMIX?_RANK|LOCAL_RANK|SLURM_STEP_ID)$/;

/**
 * Runs as one of several processes that an MPI launcher, Slurm or torchrun started: the first leads, the others join.
 */
async function asRank(invocation: Invocation): Promise<number> {
  const program = createProgram(invocation);
  const { awaitRanks, joiningArgv, joinRun, launchedRank, lead, refuseOtherTools } = await import(
    "../../profiler/cli/join.ts"
  );
  const rank = launchedRank(invocation.env);
  if (rank === null) return startProgram(program, profileTask(invocation), invocation);
  const isFirst = rank.rank === 0;
  let argv: readonly string[] | null;
  try {
    argv = joiningArgv(invocation.argv, rank);
  } catch (error) {
    if (!isConfigError(error)) throw error;
    // One message of several ranks is enough.
    if (isFirst) invocation.console.stderr(usageText("deep-profile", error));
    return 2;
  }
  if (argv === null) return startProgram(program, profileTask(invocation), invocation);
  const task = async (composed: Config, job: Job) => {
    const { request, release } = await requestOf(composed, job, invocation);
    const measured = async () => {
      if (!isFirst) return exitCode(await joinRun(request));
      const { profileMain } = await import("../../profiler/cli/profile-task.ts");
      refuseOtherTools(request.config);
      await lead(request.runDirectory, rank);
      const awaitOthers = (stop: AbortSignal) => awaitRanks(request.runDirectory, rank, stop);
      const { exitCode: code, reason, result } = await profileMain({ ...request, awaitOthers });
      return exitCode(code, { returnValue: result, reason });
    };
    return measured().finally(release);
  };
  return startProgram(program, task, isFirst ? invocation : { ...invocation, argv });
}

/** Profiles what the config says. */
const profileTask =
  (invocation: Invocation): Task =>
  async (composed, job) => {
    // The profiler is loaded only when something is profiled, to keep `--cfg job` fast.
    const { profileMain } = await import("../../profiler/cli/profile-task.ts");
    const { request, release } = await requestOf(composed, job, invocation);
    const { exitCode: code, reason, result } = await profileMain(request).finally(release);
    return exitCode(code, { returnValue: result, reason });
  };

/** A task whose measurement is done by a subcommand. */
const measuredBy =
  (measure: Parameters<OpenRun>[1], invocation: Invocation): Task =>
  async (composed, job) => {
    const { request, release } = await requestOf(composed, job, invocation);
    return exitCode(await measure(request).finally(release));
  };

async function requestOf(
  composed: Config,
  job: Job,
  invocation: Invocation,
): Promise<{ readonly request: MainRequest; readonly release: () => void }> {
  const { configFingerprint } = await import("../../engine/values/fingerprint.ts");
  const { idleSettings } = await import("../../profiler/cli/check-request.ts");
  const config = profileConfig(job.resolved());
  for (const note of await idleSettings(config.pipeline, job.overrides)) job.log.info(note);
  const { directory, release } = await resultDirectory(config, job, invocation.cwd);
  const request: MainRequest = {
    config,
    fingerprint: configFingerprint(job.resolved(), job.outputDir),
    runDirectory: directory,
    isOfSweep: job.number !== undefined,
    isBrief: job.number !== undefined && job.get("hydra.verbose") === false,
    cwd: invocation.cwd,
    ...(isOfOwnConfigs(job) && { overrides: job.overrides }),
    ...(invocation.command !== undefined && { command: invocation.command }),
    shownConfig: shownConfig(composed),
    log: { ...job.log, failure: job.logger("deep-profile.failure").error },
    terminal: {
      write: invocation.console.stdout,
      writeError: invocation.console.stderr,
      width: terminalWidth(process.env),
      color: invocation.console.stdoutColor ?? false,
    },
  };
  return { request, release };
}

/** Whether overrides alone make this config: no other config directory or primary config takes part. */
function isOfOwnConfigs(job: Job): boolean {
  const sources = job.get("hydra.runtime.config_sources");
  return (
    job.get("hydra.job.config_name") === CONFIG_NAME &&
    Array.isArray(sources) &&
    sources.every(({ provider, path }: Readonly<Record<string, unknown>>) =>
      provider === "main"
        ? path === ownConfigPath()
        : /^(?:hydra(?:-.*)?|schema)$/.test(String(provider)),
    )
  );
}

/** The schema has checked the tree, so that it fits the type. */
const profileConfig = (resolved: ConfigNode): ProfileConfig =>
  toObject(resolved) as unknown as ProfileConfig;

/** Masked before it is resolved, because other values may refer to a secret. */
function shownConfig({ root, composition, context }: Config) {
  return {
    config: toObject(resolveTree(maskSecrets(root, composition, { resolving: true }), context)),
    lines: configLines({ root: maskSecrets(root, composition) }),
  };
}

/** The run directory, unless the config sets another directory for artifacts. */
async function resultDirectory(config: ProfileConfig, job: Job, cwd: string) {
  const directory = resolve(cwd, config.runner.artifacts.stage2_dir);
  if (directory === job.outputDir) return { directory, release: () => {} };
  const { claimRunDirectory, makeRunDirectory } = await import("../../app/job/run-directory.ts");
  makeRunDirectory(directory, RESULT_FILES);
  return { directory, release: claimRunDirectory(directory) };
}
