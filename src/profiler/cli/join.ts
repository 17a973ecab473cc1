/** One run for all ranks: the first rank leads it, and the others record into its directory. */

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { ConfigError } from "../../engine/values/errors.ts";
import { writeFileAtomic } from "../../foundation/system/atomic-write.ts";
import { makeDirectory } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import { isEnabled, terminalProgress } from "../tools/tool.ts";
import { TOOL_NAMES } from "../tools/tool-table.ts";
import type { MainRequest } from "./profile-task.ts";

/** The rank of this process among several deep-profile processes. */
export interface LaunchedRank {
  readonly rank: number;
  readonly size: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The same variables as in `native/region_recorder/rank.cc`, for the same reasons. */
const LAUNCHERS = [
  { rank: "RANK", size: "WORLD_SIZE", required: "LOCAL_RANK" },
  { rank: "OMPI_COMM_WORLD_RANK", size: "OMPI_COMM_WORLD_SIZE" },
  { rank: "MV2_COMM_WORLD_RANK", size: "MV2_COMM_WORLD_SIZE" },
  { rank: "PMI_RANK", size: "PMI_SIZE" },
  { rank: "PMIX_RANK", size: "SLURM_STEP_NUM_TASKS" },
  { rank: "SLURM_PROCID", size: "SLURM_STEP_NUM_TASKS", required: "SLURM_STEP_ID" },
] as const;

/** Its value `separate` gives each rank a run of its own, to be merged later. */
const SEPARATE = "HYDRACONF_RANKS";

/** Null if there is only one rank, or if each is to have its own run. */
export function launchedRank(env: Environment): LaunchedRank | null {
  if (env[SEPARATE] === "separate") return null;
  for (const { rank: ofRank, size: ofSize, ...launcher } of LAUNCHERS) {
    if ("required" in launcher && env[launcher.required] === undefined) continue;
    const [rank, size] = [numberIn(env[ofRank]), numberIn(env[ofSize])];
    if (rank !== null && size !== null && rank < size) return size > 1 ? { rank, size } : null;
  }
  return null;
}

const numberIn = (text: string | undefined): number | null =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : null;

/** The override with the directory of the run. */
const DIRECTORY = /^hydra\.run\.dir=(.*)$/s;

/**
 * The command line of a rank that joins, with a directory of its own below that of the run. Null if it runs no program:
 * a subcommand, or a line with a flag.
 *
 * @throws ConfigError `app.usage` if no directory is given that all ranks know
 */
export function joiningArgv(
  argv: readonly string[],
  { rank }: LaunchedRank,
): readonly string[] | null {
  const dashes = argv.includes("--") ? argv.indexOf("--") : argv.length;
  const words = argv.slice(0, dashes);
  if (words.some((word) => word.startsWith("-") || !/[=~]/.test(word))) return null;
  const directory = words.flatMap((word) => DIRECTORY.exec(word)?.[1] ?? []).at(-1);
  const plain = directory === undefined ? undefined : /^(['"]?)([\w./@%+ -]+)\1$/.exec(directory);
  if (plain?.[2] === undefined)
    throw new ConfigError({
      code: "app.usage",
      message: `this is one of several ranks, and they need one directory for their run${directory === undefined ? "" : `; '${directory}' is not plain text`}`,
      hint: "mpirun -n 4 deep-profile hydra.run.dir=DIR -- PROG ARG...; or profile the launcher: deep-profile -- mpirun -n 4 PROG ARG...",
    });
  return [
    ...words.filter((word) => !DIRECTORY.test(word)),
    `hydra.run.dir='${join(plain[2], RANKS, String(rank))}'`,
    "hydra.output_subdir=null",
    "hydra/job_logging=disabled",
    ...argv.slice(dashes),
  ];
}

/** The folder below the directory of the run with a folder for each rank that joined. */
const RANKS = "ranks";
const LEADER = "leader.json";
const ENDED = "ended.json";

/** Allows the other ranks to begin. */
export async function lead(runDirectory: string, { size }: LaunchedRank): Promise<void> {
  makeDirectory(join(runDirectory, RANKS));
  await writeFileAtomic(join(runDirectory, RANKS, LEADER), `${JSON.stringify({ size })}\n`);
}

/** How long the others may take after the first rank has ended. */
const WAIT_MS = 60_000;
const PAUSE_MS = 50;

/**
 * Waits until all ranks have ended.
 *
 * @returns notes about ranks that failed or did not end in time
 */
export async function awaitRanks(
  runDirectory: string,
  { size }: LaunchedRank,
  stop: AbortSignal,
  waitMs = WAIT_MS,
): Promise<readonly string[]> {
  const deadline = performance.now() + waitMs;
  const ranks = Array.from({ length: size - 1 }, (_, index) => index + 1);
  const fileOf = (rank: number) => join(runDirectory, RANKS, String(rank), ENDED);
  const waiting = () => ranks.filter((rank) => !existsSync(fileOf(rank)));
  while (waiting().length > 0 && performance.now() < deadline && !stop.aborted)
    await setTimeout(PAUSE_MS);
  const late = waiting();
  return [
    ...ranks.flatMap((rank) => {
      if (late.includes(rank)) return [];
      const { failure } = JSON.parse(readFileSync(fileOf(rank), "utf8")) as Ended;
      return failure === null ? [] : [`rank ${rank}: ${failure}`];
    }),
    ...(late.length === 0
      ? []
      : [
          `${plural(late.length, "rank")} had not ended ${Math.round(waitMs / 1000)} s after rank 0 (${late.slice(0, 10).join(", ")}): what they recorded later is missing`,
        ]),
  ];
}

interface Ended {
  readonly failure: string | null;
}

/** How long a rank waits for the first one, which may have to build the native part. */
const LEADER_MS = 600_000;
/** A tolerance, because the clocks of hosts differ and ranks start one after the other. */
const OLDER_MS = 120_000;

/**
 * Runs the program as one rank of a run that the first rank leads.
 *
 * @param request its directory is that of the rank
 * @returns the exit code of a run
 */
export async function joinRun(request: MainRequest): Promise<number> {
  const { runDirectory: directory, config } = request;
  const run = dirname(dirname(directory));
  refuseOtherTools(config);
  const leader = join(run, RANKS, LEADER);
  const begin = Date.now();
  const isLed = () =>
    (statSync(leader, { throwIfNoEntry: false })?.mtimeMs ?? 0) > begin - OLDER_MS;
  const { listenForInterrupt, interruptOf, signalExitCode } = await import(
    "../machine/stop-signals.ts"
  );
  const interrupt = listenForInterrupt(request.isOfSweep);
  try {
    while (!isLed() && Date.now() - begin < LEADER_MS && !interrupt.stop.aborted)
      await setTimeout(PAUSE_MS);
    if (interrupt.stop.aborted) return signalExitCode(interruptOf(interrupt.stop));
    if (!isLed())
      throw new ConfigError({
        code: "app.run_directory",
        message: `rank 0 did not begin a run in ${run}`,
        hint: "all ranks need the same directory, on a file system that all hosts share",
      });
    const { prepareRun } = await import("../run/run.ts");
    const { recordRank } = await import("../tools/recorder/recorder-collector.ts");
    const { describeOutcome, succeeded } = await import("../machine/process.ts");
    const prepared = await prepareRun({
      ...request,
      say: request.log.info,
      progress: terminalProgress(),
      interrupt,
    });
    const outcome = await recordRank(prepared, prepared.workload, {
      directory,
      recordings: join(run, "recorder"),
      interrupt,
    });
    const failure = succeeded(outcome) ? null : describeOutcome(outcome);
    await writeFileAtomic(
      join(directory, ENDED),
      `${JSON.stringify({ failure } satisfies Ended)}\n`,
    );
    if (interrupt.stop.aborted) return signalExitCode(interruptOf(interrupt.stop));
    return failure === null ? 0 : 1;
  } finally {
    interrupt.dispose();
  }
}

/** @throws ConfigError for tools that several ranks cannot run at once */
export function refuseOtherTools({ pipeline, repeats }: MainRequest["config"]): void {
  const others = TOOL_NAMES.filter((name) => name !== "recorder" && isEnabled(pipeline, name));
  if (isEnabled(pipeline, "recorder") && others.length === 0 && repeats === 1) return;
  const settings = [...others.map((name) => `pipeline.${name}.enable=false`), "repeats=1"];
  throw new ConfigError({
    code: "profile.unsupported",
    message: "several ranks make one run with the recorder alone, and once",
    hint: `${settings.join(" ")}; or profile the launcher: deep-profile -- mpirun -n 4 PROG ARG...`,
  });
}
