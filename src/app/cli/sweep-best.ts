/** `hydraconf sweep best`: the best jobs of a sweep, and the command lines that run them again. */
import { floatRepr } from "../../engine/values/python-text.ts";
import { plural } from "../../foundation/text/plural.ts";
import { printable } from "../../foundation/text/printable.ts";
import { shellCommand } from "../../foundation/text/shell-words.ts";
import { withoutResumption } from "../job/checkpoint.ts";
import type { Invocation } from "../job/process/invocation.ts";
import { sweepFolder } from "../record/layout.ts";
import { type ManifestJob, readManifest, type SweepManifest } from "../record/manifest.ts";
import {
  bestJobs,
  type JudgedJobs,
  type Judgement,
  type JudgementReplacement,
  readJudgement,
} from "../sweep/best.ts";
import { readSweepStatus, type StatusRequest, type SweepView } from "../sweep/status.ts";
import { HYDRA_FLAGS, OWN_FLAGS } from "./arguments/hydra-flags.ts";
import { flagIn } from "./arguments/parse-argv.ts";

/** The output of `hydraconf sweep best --json`. */
export interface BestView {
  readonly version: 1;
  readonly directory: string;
  /** The keys of the numbers; null for what the jobs returned itself. */
  readonly objective: string | readonly string[] | null;
  readonly directions: Judgement["directions"];
  /** How many jobs are completed, and how many of them have a number. */
  readonly completed: number;
  readonly judged: number;
  readonly best: readonly BestJobView[];
}

export interface BestJobView extends JudgedJobs {
  /** By key, with types, as in `sweep.json`. */
  readonly swept: Readonly<Record<string, unknown>>;
  /** Of each job. */
  readonly output_dirs: readonly string[];
  /** Of the first of the jobs, for a shell; null if the sweep held secrets, which are not stored. */
  readonly command: string | null;
}

/** Options of the command. */
export interface BestOptions extends JudgementReplacement {
  readonly averageOver: readonly string[];
  readonly json: boolean;
}

/**
 * @param programOf the program as typed, with a change to its directory
 * @returns the exit code
 * @throws ConfigError `app.objective`, `app.usage`, `app.sweep_record` if there is no best job
 */
export async function showBest(
  sweep: StatusRequest,
  { averageOver, json, ...replacement }: BestOptions,
  { console }: Pick<Invocation, "console">,
  programOf: (view: SweepView) => string,
): Promise<number> {
  const { directory, env } = sweep;
  const { rows, view } = await readSweepStatus(sweep);
  const manifest = readManifest(sweepFolder(directory));
  const judgement = readJudgement(directory, manifest, env, replacement);
  const { best, ...counts } = bestJobs(directory, manifest, rows, judgement, averageOver);
  const jobOf = new Map(manifest.jobs.map((job) => [job.number, job]));
  const rowOf = new Map(rows.map((row) => [row.number, row]));
  const shown = best.map((judged): BestJobView => {
    const [first = -1] = judged.jobs;
    const job = jobOf.get(first);
    const swept = Object.entries(rowOf.get(first)?.swept ?? {});
    return {
      ...judged,
      swept: Object.fromEntries(swept.filter(([key]) => !averageOver.includes(key))),
      output_dirs: judged.jobs.flatMap((number) => rowOf.get(number)?.output_dir ?? []),
      command:
        job === undefined || manifest.holds_secrets
          ? null
          : `${programOf(view)} ${shellCommand(wordsOfRun(manifest, job, withoutResumption(job.task_overrides, job.continues)))}`.trimEnd(),
    };
  });
  const { directions, objective } = judgement;
  const all = {
    version: 1,
    directory,
    objective: objective ?? null,
    directions,
    ...counts,
    best: shown,
  } as const;
  console.stdout(json ? `${JSON.stringify(all, null, 2)}\n` : bestText(all));
  return 0;
}

function bestText({ best, completed, directions, judged, objective }: BestView): string {
  const names = directions.map((direction, index) =>
    [direction, typeof objective === "string" ? objective : objective?.[index]]
      .filter((word) => word !== undefined)
      .join(" "),
  );
  const without = judged === completed ? "" : `, ${completed - judged} more without a number`;
  const what =
    directions.length === 1
      ? "Best"
      : `${plural(best.length, "job")} that no other is better than,`;
  const head = `${what} of ${plural(judged, "job")}${without} (${names.join(", ")}):\n`;
  return [head, ...best.map((view) => jobText(view))].join("");
}

function jobText({ command, intervals, jobs, overrides, values }: BestJobView): string {
  const numbers = values.map((value, index) => {
    const [low, high] = intervals?.[index] ?? [];
    const isInterval = low !== undefined && high !== undefined;
    return `${floatRepr(value)}${isInterval ? ` (95 %: ${shortNumber(low)} to ${shortNumber(high)})` : ""}`;
  });
  const name = jobs.map((number) => `#${number}`).join(" ");
  const swept = overrides.length === 0 ? "" : ` ${printable(overrides.join(" "))}`;
  const mean = jobs.length === 1 ? "" : `mean of ${jobs.length}: `;
  const again =
    command === null
      ? "cannot be run again from here: its command line held a secret, which was not stored"
      : command;
  return `${name}${swept}: ${mean}${numbers.join(", ")}\n  ${again}\n`;
}

/** The ends of an interval need no more digits than tell it from its neighbours. */
const shortNumber = (value: number): string => String(Number(value.toPrecision(6)));

/** Flags of the sweep that a run of one job does not have. */
const OF_SWEEP = new Set([
  "multirun",
  "detach",
  "dry-run",
  "json",
  "resume",
  "retry-failed",
  "accept-changes",
  "accept-damaged",
]);

/** Overrides of Hydra that say how a sweep runs. */
const SWEEP_OVERRIDE = /^[+~]*hydra(?:[./](?:launcher|sweep|sweeper)\b|\.mode=)/;

const FLAGS = [...HYDRA_FLAGS, ...OWN_FLAGS];

const flagOf = (word: string): string | undefined => flagIn(word, FLAGS)?.flag.id;

const isMultirun = (word: string): boolean => flagOf(word) === "multirun";

/** The command line, without the program, that runs a job of a sweep by itself. */
export function wordsOfRun(
  { overrides, program: { argv } }: Pick<SweepManifest, "overrides" | "program">,
  job: Pick<ManifestJob, "overrides" | "task_overrides">,
  ofTask: readonly string[],
): readonly string[] {
  const dashes = argv.indexOf("--");
  const head = dashes < 0 ? argv : argv.slice(0, dashes);
  const rest = dashes < 0 ? [] : argv.slice(dashes);
  const flags: string[] = [];
  for (let index = 0; index < head.length; index++) {
    const word = head[index] ?? "";
    const found = flagIn(word, FLAGS);
    const takesNext = found?.flag.takes === "value" && found.glued === undefined;
    const words = head.slice(index, index + (takesNext ? 2 : 1));
    // Of flags that only the program knows, the values are the words that are no overrides.
    const isKept = found === undefined ? !overrides.includes(word) : !OF_SWEEP.has(found.flag.id);
    if (isKept) flags.push(...words);
    index += words.length - 1;
  }
  // `hydraconf run -- python train.py -m lr=0.1,0.2`: the sweep may be told behind the program.
  const multirun = head.some(isMultirun) ? -1 : rest.findLastIndex(isMultirunOfProgram);
  const ofRest = rest.filter(
    (word, index) => index !== multirun && !(overrides.includes(word) && !head.includes(word)),
  );
  const isOfLine =
    multirun >= 0 || head.some((word) => isMultirun(word) || word.startsWith("hydra.mode="));
  const ofHydra = job.overrides.filter(
    (override) => !job.task_overrides.includes(override) && !SWEEP_OVERRIDE.test(override),
  );
  return [...flags, ...ofHydra, ...ofTask, ...(isOfLine ? [] : ["hydra.mode=RUN"]), ...ofRest];
}

/** Whether a word behind `--` is the program's `-m`, and not Python's: `python -m train -m`. */
const isMultirunOfProgram = (word: string, index: number, rest: readonly string[]): boolean =>
  isMultirun(word) && rest.slice(2, index).some((earlier) => !earlier.startsWith("-"));
