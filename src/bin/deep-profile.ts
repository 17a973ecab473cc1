import { resolve } from "node:path";
import { configLines } from "../app/cli/explain.ts";
import { hydraMain } from "../app/cli/hydra-main.ts";
import { usageText } from "../app/command-line/command-line.ts";
import { type ExitCode, exitCode, type Job } from "../app/job/job.ts";
import { processInvocation } from "../app/job/process/invocation.ts";
import { claimRunDirectory, makeRunDirectory } from "../app/job/run-directory.ts";
import { type Config, maskSecrets } from "../engine/compose/index.ts";
import { isConfigError } from "../engine/values/errors.ts";
import type { ConfigNode } from "../engine/values/node.ts";
import { packageInfo } from "../engine/values/package-info.ts";
import { toObject } from "../engine/values/plain-objects.ts";
import { resolveTree } from "../engine/values/resolution/resolve-tree.ts";
import { once } from "../foundation/system/get-or-create.ts";
import { terminalWidth } from "../foundation/system/standard-streams.ts";
import type { MainRequest } from "../profiler/cli/main.ts";
import type { OpenRun } from "../profiler/cli/measured-side.ts";
import { subcommandsOf } from "../profiler/cli/subcommands.ts";
import { ARGUMENT_KEYS, commandOverrides } from "../profiler/run/command-override.ts";
import type { ProfileConfig } from "../profiler/tools/config.ts";
import { RESULT_FILES } from "../profiler/tools/table.ts";

const { root, version } = packageInfo();
const invocation = processInvocation();

/** Shared by all jobs that this command plans. */
const gpuQueries = once(async () =>
  (await import("../profiler/machine/gpu.ts")).createGpuQueries(),
);
const requestCheck = once(async () => {
  const { createRequestCheck } = await import("../profiler/cli/check-request.ts");
  return createRequestCheck(invocation.cwd, await gpuQueries());
});

const program: Parameters<typeof hydraMain>[0] = {
  name: "deep-profile",
  version,
  base: invocation.cwd,
  configPath: `${root}/conf`,
  configName: "config",
  schema: `${root}/schemas/config.schema.json`,
  hasUserCode: false,
  settingsFiles: true,
  trustCommand: "deep-profile trust",
  resultFiles: RESULT_FILES,
  restAsOverrides: commandOverrides,
  programUse: "profile",
  freeKeys: [ARGUMENT_KEYS],
  subcommands: [
    ...subcommandsOf((...run) => openRun(...run)),
    {
      name: "trust",
      summary: "lets a project run what its settings file names, such as plugins",
      commandLine: async () =>
        (await import("../app/cli/trust-command.ts")).trustLine("deep-profile"),
      run: async (args, io) =>
        (await import("../app/cli/trust-command.ts")).runTrust("deep-profile", args, io),
    },
  ],
  check: async (resolved, how) => (await requestCheck())(profileConfig(resolved), how),
  planJob: async (resolved, outputDir) => {
    const { planProfile } = await import("../profiler/run/plan.ts");
    const say = (line: string) => invocation.console.stderr(`${line}\n`);
    return planProfile(profileConfig(resolved), {
      queries: await gpuQueries(),
      cwd: invocation.cwd,
      runDirectory: outputDir,
      say,
    });
  },
  summarizeSweep: async (rows, page) =>
    (await import("../profiler/cli/jobs-table.ts")).jobsTable(rows, page),
};

/** Environment variables that show that a launcher started this process as one of several ranks. */
const OF_RANKS =
  /^(?:OMPI_COMM_WORLD_RANK|MV2_COMM_WORLD_RANK|PMIX?_RANK|LOCAL_RANK|SLURM_STEP_ID)$/;
const isLaunched = Object.keys(invocation.env).some((name) => OF_RANKS.test(name));
void (isLaunched ? asRank() : hydraMain(program, profileTask, invocation)).then((code) => {
  process.exitCode = code;
});

/**
 * Runs as one of several processes that an MPI launcher, Slurm or torchrun started: the first leads, the others join.
 */
async function asRank(): Promise<number> {
  const { awaitRanks, joiningArgv, joinRun, launchedRank, lead, refuseOtherTools } = await import(
    "../profiler/cli/join.ts"
  );
  const rank = launchedRank(invocation.env);
  if (rank === null) return hydraMain(program, profileTask, invocation);
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
  if (argv === null) return hydraMain(program, profileTask, invocation);
  const task = async (composed: Config, job: Job) => {
    const { request, release } = await requestOf(composed, job);
    const measured = async () => {
      if (!isFirst) return exitCode(await joinRun(request));
      const { profileMain } = await import("../profiler/cli/main.ts");
      refuseOtherTools(request.config);
      await lead(request.runDirectory, rank);
      const awaitOthers = (stop: AbortSignal) => awaitRanks(request.runDirectory, rank, stop);
      const { exitCode: code, reason, result } = await profileMain({ ...request, awaitOthers });
      return exitCode(code, { returnValue: result, reason });
    };
    return measured().finally(release);
  };
  return hydraMain(program, task, isFirst ? invocation : { ...invocation, argv });
}

async function profileTask(composed: Config, job: Job): Promise<ExitCode> {
  // The profiler is loaded only when something is profiled, to keep `--cfg job` fast.
  const { profileMain } = await import("../profiler/cli/main.ts");
  const { request, release } = await requestOf(composed, job);
  const { exitCode: code, reason, result } = await profileMain(request).finally(release);
  return exitCode(code, { returnValue: result, reason });
}

/** A run whose measurement is done by the caller. */
const openRun: OpenRun = (argv, measure) =>
  hydraMain(
    program,
    async (composed: Config, job: Job) => {
      const { request, release } = await requestOf(composed, job);
      return exitCode(await measure(request).finally(release));
    },
    { ...invocation, argv },
  );

async function requestOf(
  composed: Config,
  job: Job,
): Promise<{ readonly request: MainRequest; readonly release: () => void }> {
  const { configFingerprint } = await import("../engine/values/fingerprint.ts");
  const { idleSettings } = await import("../profiler/cli/check-request.ts");
  const config = profileConfig(job.resolved());
  for (const note of await idleSettings(config.pipeline, job.overrides)) job.log.info(note);
  const { directory, release } = resultDirectory(config, job);
  const request: MainRequest = {
    config,
    fingerprint: configFingerprint(job.resolved(), job.outputDir),
    runDirectory: directory,
    isBrief: job.number !== undefined && job.get("hydra.verbose") === false,
    cwd: invocation.cwd,
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
function resultDirectory(config: ProfileConfig, job: Job) {
  const directory = resolve(invocation.cwd, config.runner.artifacts.stage2_dir);
  if (directory === job.outputDir) return { directory, release: () => {} };
  makeRunDirectory(directory, RESULT_FILES);
  return { directory, release: claimRunDirectory(directory) };
}
