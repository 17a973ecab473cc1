/** The call that began a sweep, for `--resume` and `--retry-failed`. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { type ConfigPlugin, optionTarget } from "../../engine/compose/index.ts";
import { isSweep, overrideKeyElement, parseOverrides } from "../../engine/overrides/index.ts";
import { dialectNamed } from "../../engine/values/dialect.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import type { Invocation } from "../job/process/invocation.ts";
import type { ParsedArguments } from "../job/session.ts";
import { basicLauncher } from "../launch/local/basic-launcher.ts";
import { tidyRecord } from "../record/cleanup.ts";
import { sweepFolder } from "../record/layout.ts";
import { readFacts, readManifest, type SweepFacts } from "../record/manifest.ts";
import { OF_LAUNCHER } from "./registry.ts";

/**
 * The invocation that `--resume DIR` and `--retry-failed DIR` stand for: the call that began the sweep, with its time
 * and working directory, and which jobs to run. It may add overrides of the launcher, overrides that change how a
 * search evaluates results, and other values of what the sweep varies.
 *
 * @throws ConfigError `app.sweep_record` if there is no such sweep, `app.usage` for conflicting flags and any other
 * override, `app.unsupported` for a sweep whose overrides held secrets
 */
export function resumedInvocation(
  { flags, overrides }: ParsedArguments,
  invocation: Invocation,
  plugins: readonly ConfigPlugin[],
): Invocation {
  const named = ["resume", "retry-failed"].flatMap((id) => flags.get(id) ?? []).map(String);
  const directories = new Set(named.map((name) => resolve(invocation.cwd, name)));
  const [directory] = directories;
  if (directory === undefined || directories.size > 1)
    throw new ConfigError({
      code: "app.usage",
      message:
        directory === undefined
          ? `argument --${flags.has("accept-damaged") ? "accept-damaged" : "accept-changes"}: only allowed with --resume DIR or --retry-failed DIR`
          : "argument --retry-failed: it must name the same sweep as --resume",
    });
  const folder = sweepFolder(directory);
  const accepted = flags.get("accept-damaged");
  tidyRecord(folder);
  const manifest = readFacts(folder);
  const { cwd, dialect, now } = manifest;
  if (manifest.holds_secrets)
    throw new ConfigError({
      code: "app.unsupported",
      message: `The sweep in '${directory}' had a secret among its overrides, which was not stored`,
      hint: "put secrets into environment variables: KEY='${oc.env:NAME}'",
    });
  const isOtherSpace = changesSpace(overrides, manifest);
  enter(cwd);
  const added = overrides.map((override) => withTotal(override, manifest, folder));
  return {
    ...invocation,
    argv: withOverrides(manifest, [...added, ...shownBy(flags)], plugins),
    cwd,
    now: new Date(now),
    dialect,
    resumed: {
      directory,
      missing: flags.has("resume"),
      failed: flags.has("retry-failed"),
      acceptChanges: flags.has("accept-changes"),
      ...(accepted !== undefined && { acceptDamaged: jobNumbers(String(accepted)) }),
      detach: flags.has("detach"),
      added,
      judgesAnew: added.some((override) => OF_JUDGEMENT.test(override)),
      changesSpace: isOtherSpace,
      changedSpaceInPart: manifest.earlier_jobs !== undefined && manifest.more_to_come === true,
      ...(manifest.earlier_jobs !== undefined && { earlierJobs: manifest.earlier_jobs }),
    },
  };
}

/** The flags that only show what would run. */
const shownBy = (flags: ParsedArguments["flags"]): readonly string[] =>
  flags.has("dry-run")
    ? ["dry-run", "json"].flatMap((id) => (flags.has(id) ? [`--${id}`] : []))
    : [];

/** @throws ConfigError `app.usage` */
function jobNumbers(text: string): readonly number[] {
  return text.split(",").map((word) => {
    if (/^\s*\d+\s*$/.test(word)) return Number(word);
    throw new ConfigError({
      code: "app.usage",
      message: `argument --accept-damaged: '${word}' is not the number of a job`,
      hint: "e.g. --accept-damaged 3 or --accept-damaged 3,5",
    });
  });
}

/**
 * Other values for what the sweep varies are allowed: `lr=1,2,3` after `lr=1,2`. Any other override would change all jobs.
 *
 * @returns whether any differs from what the sweep has
 * @throws ConfigError `app.usage`
 */
function changesSpace(overrides: readonly string[], facts: SweepFacts): boolean {
  const dialect = dialectNamed(facts.dialect);
  const parsed = parseOverrides(
    facts.overrides.filter((text) => !OF_HYDRA.test(text)),
    { dialect },
  );
  const swept = new Set(parsed.filter(isSweep).map(overrideKeyElement));
  const current = new Map(
    parsed.map((override) => [overrideKeyElement(override), override.origin.text]),
  );
  let isChanged = false;
  for (const text of overrides) {
    if (OF_LAUNCHER.test(text) || OF_JUDGEMENT.test(text)) continue;
    const [key = text] = OF_HYDRA.test(text)
      ? []
      : parseOverrides([text], { dialect }).map(overrideKeyElement);
    if (facts.mode === "run" || !swept.has(key)) throw notAllowed(text, swept);
    isChanged ||= current.get(key) !== text;
  }
  return isChanged;
}

const notAllowed = (override: string, swept: ReadonlySet<string>): ConfigError =>
  new ConfigError({
    code: "app.usage",
    message: `'${override}' cannot be given here: a resumed sweep keeps its overrides`,
    hint: `allowed are hydra/launcher, hydra.launcher.KEY, other values of what its command line swept${swept.size === 0 ? "" : ` (${[...swept].join(", ")})`} and, for a search, hydra.sweeper.objective, .direction, .max_failure_rate and .n_trials`,
  });

const OF_HYDRA = /^[+~]*hydra[./]/;

/** Relative paths start from the directory where the sweep began. */
function enter(cwd: string): void {
  if (process.cwd() === cwd) return;
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new ConfigError({
      code: "app.sweep_record",
      message: `The directory '${cwd}', where the sweep was started, does not exist`,
    });
  process.chdir(cwd);
}

/**
 * Adds overrides. If they choose another launcher, the settings of the earlier launcher are dropped, because the new
 * one would refuse them.
 */
function withOverrides(
  facts: SweepFacts,
  more: readonly string[],
  plugins: readonly ConfigPlugin[],
): readonly string[] {
  const { argv } = facts.program;
  const dashes = argv.indexOf("--");
  const rest = dashes < 0 ? [] : argv.slice(dashes);
  const began = dashes < 0 ? argv : argv.slice(0, dashes);
  const chosen = choiceIn(more);
  const isOther = chosen !== undefined && !isChoiceOf(facts, chosen, plugins);
  const kept = isOther ? began.filter((word) => !OF_LAUNCHER.test(word)) : began;
  return [...kept, ...more, ...rest];
}

/**
 * Whether a sweep began with an option of `hydra/launcher`. If it chose none, the plugins' options are distinguished by
 * class.
 */
function isChoiceOf(
  { launcher, launcher_choice }: SweepFacts,
  option: string,
  plugins: readonly ConfigPlugin[],
): boolean {
  if (launcher_choice !== null) return launcher_choice === option;
  return option === "basic"
    ? basicLauncher.targets.includes(launcher)
    : launcher === optionTarget(plugins, `hydra/launcher/${option}`);
}

const choiceIn = (overrides: readonly string[]): string | undefined =>
  overrides.findLast((override) => CHOICE.test(override))?.replace(CHOICE, "");

const CHOICE = /^\+*hydra\/launcher=/;
/** Overrides that change how a search evaluates results, or how many trials it has: they do not change its space. */
const OF_JUDGEMENT = /^\+*hydra\.sweeper\.(objective|direction|max_failure_rate|n_trials)=/;

const OF_TRIALS = /^\+*hydra\.sweeper\.n_trials=/;

/**
 * `n_trials=+N` with the number that it stands for: so many more than the command line gave the sweep or, where a file did, than it
 * has jobs.
 */
function withTotal(override: string, { program }: SweepFacts, folder: string): string {
  const [, more] = /^\+*hydra\.sweeper\.n_trials=\+(\d+)$/.exec(override) ?? [];
  if (more === undefined) return override;
  const written = program.argv.findLast((word) => OF_TRIALS.test(word))?.replace(OF_TRIALS, "");
  const jobsBefore = /^\d+$/.test(written ?? "")
    ? Number(written)
    : readManifest(folder).jobs.length;
  return `hydra.sweeper.n_trials=${jobsBefore + Number(more)}`;
}
