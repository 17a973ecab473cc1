/** Makes the directories of runs, sweeps and jobs. */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { getAt, isMissingOrNull, type MapNode } from "../../engine/values/node.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { removeDeadDrafts } from "../../foundation/system/atomic-write.ts";
import { fileProblem, makeDirectory } from "../../foundation/system/files.ts";
import { DIRECTORY_CLAIM, tryClaim } from "../../foundation/system/process-claim.ts";
import { textAt } from "./hydra-values.ts";
import { METRICS_FILE } from "./metrics.ts";

/** What a directory is for: a single run, a job of a sweep, a sweep, or one that is resumed. */
type DirectoryKind = "run" | "job" | "sweep" | "resumed sweep";

/** The setting that names the directory. */
const keyOf = (kind: DirectoryKind): string =>
  kind === "run" ? "hydra.run.dir" : "hydra.sweep.dir";

/** Whether a planned job is a single run or one of a sweep: only the config of the latter has its number. */
export const kindOfJob = ({ root }: { readonly root: MapNode }): "run" | "job" => {
  const number = getAt(root, ["hydra", "job", "num"]);
  return number === undefined || isMissingOrNull(number) ? "run" : "job";
};

/**
 * Makes the directory of a run. Results of two runs in one directory would be read as one, so a directory that already
 * holds results of the program is refused; one that holds only the configuration of an earlier attempt is accepted.
 *
 * @param options.mode rights to give in addition to the umask's: those of `hydra.sweep.mode`
 * @throws ConfigError `app.run_directory`
 */
export function makeRunDirectory(
  path: string,
  resultFiles: readonly string[],
  { kind = "run", mode }: { readonly kind?: "run" | "job"; readonly mode?: number } = {},
): void {
  refuseResults(path, resultFiles, kind);
  makeOrRefuse(path, kind);
  if (mode !== undefined) chmodSync(path, (statSync(path).mode | mode) & 0o7777);
}

/**
 * `hydra.sweep.mode`, octal as in Hydra: `+hydra.sweep.mode=770`; undefined if there is none.
 *
 * @throws ConfigError `value.wrong_type`
 */
export function sweepMode(root: MapNode, context: ResolveContext): number | undefined {
  const text = textAt(root, SWEEP_MODE, context);
  if (text === undefined) return undefined;
  if (/^(0o?)?[0-7]{1,4}$/.test(text)) return Number.parseInt(text.replace("o", ""), 8);
  throw new ConfigError({
    code: "value.wrong_type",
    message: `${SWEEP_MODE} cannot be '${text}'`,
    key: SWEEP_MODE,
    hint: "rights in octal digits, as of chmod: 770",
  });
}

const SWEEP_MODE = "hydra.sweep.mode";

/**
 * Makes the directory of a sweep; the sweep's record decides what to do with its contents.
 *
 * @param sweep.isResumed whether the directory already holds the sweep
 * @param sweep.mode its rights, whatever the umask is: those of `hydra.sweep.mode`
 * @throws ConfigError `app.run_directory`
 */
export const makeSweepDirectory = (
  path: string,
  { isResumed = false, mode }: { readonly isResumed?: boolean; readonly mode?: number } = {},
): void => {
  makeOrRefuse(path, isResumed ? "resumed sweep" : "sweep");
  if (mode !== undefined && !isResumed) chmodSync(path, mode);
};

function makeOrRefuse(path: string, kind: DirectoryKind): void {
  try {
    const isNew = makeDirectory(path);
    if (!isNew) accessSync(path, constants.W_OK);
  } catch (cause) {
    throw unusable(path, kind, cause);
  }
}

/** @throws ConfigError `app.run_directory` for a directory that holds another run's results */
function refuseResults(path: string, resultFiles: readonly string[], kind: "run" | "job"): void {
  // Most jobs have no directory yet: one check instead of one for each file.
  if (!existsSync(path)) return;
  const results = resultFiles.filter((name) => existsSync(join(path, name)));
  if (results.length === 0) return;
  throw new ConfigError({
    code: "app.run_directory",
    message: `The ${kind} directory '${path}' holds the results of another run: ${results.join(", ")}`,
    key: keyOf(kind),
    hint: `choose another directory with ${keyOf(kind)}=DIR, or move this one away`,
  });
}

/** Where the results of an earlier attempt at a job are, from 1 on. */
export const asideOf = (path: string, attempt: number): string =>
  join(path, ".attempts", String(attempt));

/**
 * Moves the results and the metrics of an earlier attempt at the same job to `.attempts/N`, so that they are neither taken for those
 * of the next attempt nor lost.
 *
 * @param attempt the number of the earlier attempt, from 1
 */
export function setAside(path: string, resultFiles: readonly string[], attempt: number): void {
  const aside = asideOf(path, attempt);
  const names = new Set([METRICS_FILE, ...resultFiles]);
  for (const name of [...names].filter((name) => existsSync(join(path, name)))) {
    makeDirectory(dirname(join(aside, name)));
    rmSync(join(aside, name), { recursive: true, force: true });
    renameSync(join(path, name), join(aside, name));
    removeDeadDrafts(join(aside, name), { recursive: true });
  }
  removeDeadDrafts(path);
}

/**
 * Checks the directories of a sweep's jobs before any is made.
 *
 * @throws ConfigError `app.run_directory` if results would mix with earlier ones or with each other's
 */
export function checkJobDirectories(
  jobs: readonly {
    readonly number?: number;
    readonly outputDir: string;
    readonly root: MapNode;
  }[],
  resultFiles: readonly string[],
  owners = new Map<string, number | undefined>(),
): void {
  if (resultFiles.length === 0) return;
  /** Where there is no folder, there is nothing in it: of a new sweep that is one look for all its jobs. */
  const absent = new Set<string>();
  for (const { number, outputDir, root } of jobs) {
    const parent = dirname(outputDir);
    if (!absent.has(parent)) {
      if (existsSync(parent)) refuseResults(outputDir, resultFiles, kindOfJob({ root }));
      else absent.add(parent);
    }
    if (owners.has(outputDir))
      throw new ConfigError({
        code: "app.run_directory",
        message: `Jobs #${owners.get(outputDir)} and #${number} would share the directory '${outputDir}'`,
        key: "hydra.sweep.subdir",
        hint: "give each job its own directory, e.g. with hydra.sweep.subdir='${hydra.job.num}'",
      });
    owners.set(outputDir, number);
  }
}

/**
 * Moves a directory that no override names (its name may come from the time of the run) on to the next free name:
 * `20260102-030405`, `20260102-030405-2`, ...
 */
export function nextFreeDirectory(path: string, resultFiles: readonly string[]): string {
  const isTaken = (directory: string) =>
    [...resultFiles, DIRECTORY_CLAIM].some((name) => existsSync(join(directory, name)));
  let free = path;
  for (let number = 2; isTaken(free); number++) free = `${path}-${number}`;
  return free;
}

/**
 * Claims a run directory for this process, so that two runs named by the same second do not mix. The claim of a dead
 * process does not count.
 *
 * @returns releases the claim
 * @throws ConfigError `app.run_directory` while another process holds it
 */
export function claimRunDirectory(path: string, kind: "run" | "job" = "run"): () => void {
  const file = join(path, DIRECTORY_CLAIM);
  const attempt = tryClaim(file);
  if (attempt.kind === "taken") return attempt.claim.release;
  const { alive, holder } = attempt;
  throw new ConfigError({
    code: "app.run_directory",
    message: `The ${kind} directory '${path}' is in use by process ${holder.pid} on ${holder.host}`,
    key: keyOf(kind),
    hint: `${alive === "elsewhere" ? `if that process has ended, remove ${file}; otherwise ` : ""}choose another directory with ${keyOf(kind)}=DIR`,
  });
}

/**
 * Removes the claim of an earlier attempt at a job, whatever machine made it: for jobs of a scheduler, which starts
 * none again before it has ended.
 */
export const dropClaim = (path: string): void =>
  rmSync(join(path, DIRECTORY_CLAIM), { force: true });

function unusable(path: string, kind: DirectoryKind, cause: unknown): ConfigError {
  const isThere = existsSync(path);
  const key = keyOf(kind);
  return new ConfigError({
    code: "app.run_directory",
    message: `Cannot ${isThere ? "use" : "create"} the ${kind === "resumed sweep" ? "sweep" : kind} directory '${path}': ${fileProblem(cause)}`,
    key,
    hint:
      kind === "resumed sweep"
        ? "a sweep is recorded in its own directory: make it writable, or copy the directory and resume the copy"
        : `choose another directory with ${key}=DIR`,
    cause,
  });
}
