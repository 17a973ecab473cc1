/** Sweeps of programs that answer a request to end in every way, and what must become of each. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { expect } from "vitest";
import type { Ender } from "../../../src/app/job/ender.ts";
import type { SweepRow } from "../../../src/app/job/options.ts";
import { readJobState } from "../../../src/app/record/job-state.ts";
import { commandPath } from "../../e2e/command.ts";
import { until } from "../../wait.ts";

const PROGRAM = fileURLToPath(new URL("answers.sh", import.meta.url));

/** What a program does that is asked to end. */
export const ANSWERS = ["dies", "ignores", "exits_0", "exits_1", "exits_143", "python", "node"];
/** What it does that is not. */
export const ALONE = ["by_itself_143", "by_itself_3", "well"];

/** How a job ended: status, who ended it, exit code. */
type End = readonly [status: string, endedBy: Ender, exitCode?: number | null];

const ITSELF: Ender = { by: "itself" };

/** The end of each job if this is who asked for it; a program that then ends well is done. */
export const endsBy = (status: string, ender: Ender): Readonly<Record<string, End>> => ({
  dies: [status, ender],
  ignores: [status, ender],
  exits_0: ["completed", ITSELF, 0],
  exits_1: [status, ender],
  exits_143: [status, ender],
  python: [status, ender],
  node: [status, ender],
  by_itself_143: ["failed", ITSELF, 143],
  by_itself_3: ["failed", ITSELF, 3],
  well: ["completed", ITSELF, 0],
});

const hydraconfIn = (cwd: string, env: Readonly<Record<string, string>>, argv: readonly string[]) =>
  execa(process.execPath, [commandPath("hydraconf"), ...argv], {
    ...{ cwd, env, reject: false, stdin: "ignore" },
    // A sweep has its own time to end in.
    forceKillAfterDelay: false,
  });

export interface AnsweringSweep {
  readonly cwd: string;
  readonly folder: string;
  readonly answers: readonly string[];
  /** Runs `hydraconf` there. */
  hydraconf(...argv: readonly string[]): ReturnType<typeof hydraconfIn>;
  /** Starts the sweep. */
  start(): ReturnType<typeof hydraconfIn>;
  /** Each start of a program so far: its answer and its process. */
  started(): readonly { readonly answer: string; readonly pid: number }[];
  /** Waits until a program of each answer is ready. */
  ready(answers?: readonly string[]): Promise<void>;
  expectEnds(ends: Readonly<Record<string, End>>): void;
}

/** @param launcher the overrides of the sweep */
export function answeringSweep(
  answers: readonly string[],
  launcher: readonly string[],
  env: Readonly<Record<string, string>> = {},
): AnsweringSweep {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-enders-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), "answer: dies\n");
  const noted = join(cwd, "started.txt");
  const folder = join(cwd, "s/.sweep");
  const hydraconf = (...argv: readonly string[]) => hydraconfIn(cwd, env, argv);
  const started = () =>
    (existsSync(noted) ? readFileSync(noted, "utf8") : "")
      .split("\n")
      .slice(0, -1)
      .map((line) => {
        const [answer = "", pid] = line.split(" ");
        return { answer, pid: Number(pid) };
      });
  return {
    cwd,
    folder,
    answers,
    hydraconf,
    start: () =>
      hydraconf(
        ...["run", "-m", `answer=${answers.join(",")}`, "hydra.sweep.dir=s", ...launcher],
        ...["--", "sh", PROGRAM, "${answer}", noted],
      ),
    started,
    ready: (those = answers) =>
      until(() => those.every((one) => started().some(({ answer }) => answer === one))),
    expectEnds(ends) {
      const rows = tableOf(cwd);
      const csv = readFileSync(join(cwd, "s/sweep.csv"), "utf8");
      const seen = answers.map((answer, number) => {
        const state = readJobState(folder, number);
        const last = state?.attempts.at(-1);
        const row = rows.find((one) => one.number === number);
        const [, , exitCode] = ends[answer] ?? [];
        // One word for it in every place.
        expect([row?.status, row?.ended_by, csv]).toEqual([
          state?.status,
          last?.ended_by,
          expect.stringMatching(new RegExp(`^${number},${answer},${state?.status},`, "m")),
        ]);
        const code = exitCode === undefined ? [] : [last?.exit_code];
        return [answer, state?.status, last?.ended_by, ...code];
      });
      expect(seen).toEqual(answers.map((answer) => [answer, ...(ends[answer] ?? [])]));
    },
  };
}

export const tableOf = (cwd: string): readonly SweepRow[] =>
  JSON.parse(readFileSync(join(cwd, "s/sweep.json"), "utf8")).jobs;

/** How many jobs came to each status, as a summary counts them. */
export const countOf =
  (ends: Readonly<Record<string, End>>, answers: readonly string[]) =>
  (status: string): number =>
    answers.filter((answer) => ends[answer]?.[0] === status).length;
