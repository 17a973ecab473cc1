/**
 * `hydraconf gc DIR`: finds old output directories of runs and sweeps, and removes them if asked to.
 *
 * @see https://github.com/facebookresearch/hydra/issues/700
 */
import {
  type Dirent,
  existsSync,
  lstatSync,
  readdirSync,
  rmdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { fileProblem, isFileProblem, readablePath } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { type CommandLine, commandHelp, usage } from "../command-line/command-line.ts";
import { parseCommandLine } from "../command-line/parse.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { hasEnded, isScheduled, lookAtJob } from "../record/job-state.ts";
import { claimToOrder, launcherOf } from "../record/launcher-claim.ts";
import { jobsFolder, manifestFile, sweepFolder } from "../record/layout.ts";

export const GC_LINE: CommandLine = {
  name: "hydraconf gc",
  takes: { shown: "DIR", expected: "one directory", least: 1, most: 1 },
  about: `Lists the output directories of runs and sweeps below DIR that nothing was written to for a while; --delete removes them.
A directory of a run has .hydra/config.yaml, that of a sweep multirun.yaml or .sweep. DIR itself, sweeps that are running, and directories
with sources in them (.git, or programs beside the output) stay.`,
  options: {
    "older-than": {
      value: "AGE",
      help: "the least time since the last write: 30d, 12h, 2w; default: 30d",
    },
    keep: { value: "N", help: "keep the N newest, however old they are; default: none" },
    delete: { help: "remove them; without it nothing is changed" },
    json: { help: "print the result as JSON" },
  },
  epilogue: "Exit code: 0, 1 if something could not be removed, 2 wrong usage.",
};

/** An output directory. Bytes are those of its files, as they are on the disk. */
interface Output {
  readonly path: string;
  readonly kind: "run" | "sweep";
  /** The time of the last write in it, in milliseconds since 1970. */
  readonly written: number;
  readonly bytes: number;
}

/** @returns the exit code */
export function runGc(args: readonly string[], { console, cwd, now }: Invocation): number {
  const parsed = parseCommandLine(GC_LINE, args);
  if (parsed.has("help")) {
    console.stdout(commandHelp(GC_LINE));
    return 0;
  }
  const [directory = ""] = parsed.positionals;
  const root = resolve(cwd, directory);
  if (statSync(root, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw usage(`there is no directory '${printable(directory)}'`);
  const least = ageOf(parsed.value("older-than") ?? "30d");
  const keep = parsed.count("keep") ?? 0;
  const latest = now.getTime() - least;
  const all = outputsBelow(root).sort((a, b) => b.written - a.written);
  const aged = all.slice(keep).filter((output) => output.written <= latest);
  const old = aged.filter((output) => !isInUse(output));
  let exitCode = 0;
  const isRemoved = (output: Output): boolean => {
    try {
      return remove(output, root);
    } catch (error) {
      if (!isFileProblem(error)) throw error;
      exitCode = 1;
      const path = printable(readablePath(output.path, cwd));
      console.stderr(`Cannot remove '${path}': ${fileProblem(error)}\n`);
      return false;
    }
  };
  const shown = parsed.has("delete") ? old.filter(isRemoved) : old;
  const bytes = shown.reduce((sum, output) => sum + output.bytes, 0);
  if (parsed.has("json")) {
    const outputs = shown.map(({ written, ...output }) => ({
      ...output,
      written: new Date(written).toISOString(),
    }));
    const { runs, sweeps } = countsOf(all);
    const seen = { runs, sweeps, running: aged.length - old.length };
    console.stdout(
      `${JSON.stringify({ version: 1, deleted: parsed.has("delete"), bytes, seen, outputs }, null, 2)}\n`,
    );
    return exitCode;
  }
  for (const { kind, path, written } of shown) {
    const days = Math.floor((now.getTime() - written) / DAY);
    console.stdout(
      `${kind.padEnd(5)}  ${printable(readablePath(path, cwd))}  ${plural(days, "day")}\n`,
    );
  }
  console.stdout(
    ruleText(all, {
      root: printable(readablePath(root, cwd)),
      age: parsed.value("older-than") ?? "30d",
      keep,
      running: aged.length - old.length,
    }),
  );
  const what = `${plural(shown.length, "directory", "directories")}, ${megabytes(bytes)} MB`;
  console.stdout(
    parsed.has("delete")
      ? `removed ${what}\n`
      : `${what}${shown.length > 0 ? "; --delete removes them" : ""}\n`,
  );
  return exitCode;
}

const countsOf = (outputs: readonly Output[]) => ({
  runs: outputs.filter(({ kind }) => kind === "run").length,
  sweeps: outputs.filter(({ kind }) => kind === "sweep").length,
});

/** What was looked at, and by which rule it is old. */
function ruleText(
  all: readonly Output[],
  {
    age,
    keep,
    root,
    running,
  }: {
    readonly age: string;
    readonly keep: number;
    readonly root: string;
    readonly running: number;
  },
): string {
  const { runs, sweeps } = countsOf(all);
  if (all.length === 0)
    return `Below ${root} is no output directory: one of a run has .hydra/config.yaml, one of a sweep multirun.yaml or .sweep\n`;
  const kept = keep === 0 ? "" : `, and is not among the ${keep} newest`;
  const busy = running === 0 ? "" : `; ${plural(running, "sweep")} may still run, and stay`;
  return `Below ${root}: ${plural(runs, "run")} and ${plural(sweeps, "sweep")}; old is what nothing was written to for ${age}${kept}${busy}\n`;
}

const DAY = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY, w: 7 * DAY };

/** In milliseconds. */
function ageOf(text: string): number {
  const [, count, unit = ""] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  if (count === undefined)
    throw usage(`--older-than: '${printable(text)}' is no age`, "write 12h, 30d or 2w");
  return Number(count) * (UNITS[unit] ?? DAY);
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

/** Output directories below a directory; nothing is searched within one of them, nor behind a link. */
function outputsBelow(root: string): Output[] {
  const outputs: Output[] = [];
  const open = [root];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const entry of entriesOf(folder)) {
      if (!entry.isDirectory() || entry.name === "node_modules" || entry.name === ".git") continue;
      const path = join(folder, entry.name);
      const kind = kindOf(path);
      if (kind === undefined || holdsSources(path)) open.push(path);
      else outputs.push({ path, kind, ...contentOf(path) });
    }
  return outputs;
}

function kindOf(path: string): Output["kind"] | undefined {
  if (existsSync(manifestFile(sweepFolder(path))) || existsSync(join(path, "multirun.yaml")))
    return "sweep";
  return existsSync(join(path, ".hydra", "config.yaml")) ? "run" : undefined;
}

/** With `hydra.run.dir=.` a run's directory is that of the program. */
const holdsSources = (path: string): boolean =>
  entriesOf(path).some(({ name }) => name === ".git" || SOURCE.test(name));

const SOURCE =
  /\.(py|ipynb|[cm]?[jt]s)$|^(pyproject\.toml|package\.json|setup\.(py|cfg)|hydraconf\.yaml)$/;

function contentOf(path: string): Pick<Output, "bytes" | "written"> {
  let { mtimeMs: written } = lstatSync(path);
  let bytes = 0;
  const open = [path];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop())
    for (const entry of entriesOf(folder)) {
      const below = join(folder, entry.name);
      const status = lstatSync(below, { throwIfNoEntry: false });
      if (status === undefined) continue;
      written = Math.max(written, status.mtimeMs);
      if (entry.isDirectory()) open.push(below);
      else bytes += status.size;
    }
  return { written, bytes };
}

/** None for a directory that cannot be read. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Whether a scheduler may still have a job of a sweep that no process here drives. */
const mayBeScheduled = (folder: string): boolean =>
  entriesOf(jobsFolder(folder)).some(({ name }) => {
    const [, number] = /^(\d+)\.json$/.exec(name) ?? [];
    const state = number === undefined ? undefined : lookAtJob(folder, Number(number));
    const attempts = state !== undefined && "attempts" in state ? state.attempts : [];
    return attempts.some(isScheduled) && !hasEnded(state);
  });

/** Whether a sweep is running, or may go on. */
function isInUse({ kind, path }: Output): boolean {
  const folder = sweepFolder(path);
  if (kind !== "sweep" || !existsSync(manifestFile(folder))) return false;
  return launcherOf(folder) !== undefined || mayBeScheduled(folder);
}

/** Removes an output, and the directories above it that are then empty. @returns false for a sweep that is running */
function remove({ kind, path }: Output, root: string): boolean {
  const folder = sweepFolder(path);
  if (kind === "sweep" && existsSync(manifestFile(folder))) {
    // Nobody can start to run it while it is removed.
    const claim = claimToOrder(folder);
    if (claim === undefined) return false;
    if (mayBeScheduled(folder)) {
      claim.release();
      return false;
    }
  }
  rmSync(path, { recursive: true, force: true });
  for (let above = join(path, ".."); above !== root; above = join(above, "..")) {
    if (entriesOf(above).length > 0) break;
    rmdirSync(above);
  }
  return true;
}
