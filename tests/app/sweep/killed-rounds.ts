/** Sweeps of programs whose launcher is killed again and again, and resumed. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { execa } from "execa";
import { readJobState } from "../../../src/app/record/job-state.ts";
import { isRecorded } from "../../../src/app/record/sweep-record.ts";
import { commandPath } from "../../e2e/command.ts";

/** How many rounds of each launcher; `npm run nightly` has more. */
export const KILL_ROUNDS = Number(process.env["HYDRACONF_KILL_ROUNDS"] ?? 8);

const JOBS = 4;
const MOST_KILLS = 4;
/** Longer than a sweep takes to begin its first jobs. */
const MOST_MS = 2_500;

/** Notes when a job begins, when it ends, and if it finds that it runs already. */
const PROGRAM = `
running=$2/running-$1
[ ! -e "$running" ] || ! kill -0 "$(cat "$running")" 2>/dev/null || echo "twice $1" >>"$2/ran"
echo $$ >"$running"
echo "begin $1" >>"$2/ran"
sleep 0.$((2 * $1 + 1))
echo "end $1" >>"$2/ran"
rm "$running"
`;

export interface Killed {
  readonly kills: number;
  /** What must not be, a line each. */
  readonly problems: readonly string[];
}

/**
 * One round: a sweep whose launcher is killed up to four times, at any moment, and resumed each time, until it is left
 * in peace. Nobody kills the jobs, so each program must have run exactly once.
 */
export async function killedRound(
  overrides: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Killed> {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-killed-round-"));
  writeFileSync(join(cwd, "ran"), "");
  writeFileSync(join(cwd, "prog.sh"), PROGRAM);
  const run = (...argv: readonly string[]) =>
    execa(process.execPath, [commandPath("hydraconf"), "run", ...argv], {
      ...{ cwd, env, reject: false, stdin: "ignore" },
    });
  const begin = () =>
    isRecorded(join(cwd, "s"))
      ? run("--resume", "s")
      : run(
          ...["-m", `x=range(0,${JOBS})`, "hydra.sweep.dir=s", ...overrides],
          ...["--", "sh", "./prog.sh", "${x}", cwd],
        );
  const plan = Array.from({ length: 1 + Math.floor(Math.random() * MOST_KILLS) }, () =>
    Math.floor(Math.random() * MOST_MS),
  );
  let kills = 0;
  for (const after of plan) {
    const launcher = begin();
    await Promise.race([sleep(after), launcher]);
    if (launcher.kill("SIGKILL")) kills++;
    await launcher;
  }
  const last = await begin();
  const lines = readFileSync(join(cwd, "ran"), "utf8").split("\n");
  const told = `kills after ${plan.join(", ")} ms: ${lines.join(" ")}\n${last.stderr}`;
  const problems = last.exitCode === 0 ? [] : [`exit code ${last.exitCode}: ${told}`];
  for (let number = 0; number < JOBS; number++) {
    const times = (word: string) => lines.filter((line) => line === `${word} ${number}`).length;
    const state = readJobState(join(cwd, "s/.sweep"), number);
    const is = [times("twice"), times("begin"), times("end"), state?.status];
    if (is.join(" ") !== "0 1 1 completed") problems.push(`#${number}: ${is.join(" ")}; ${told}`);
  }
  return { kills, problems };
}

/** @returns what was wrong in any of the rounds, some of which run at the same time */
export async function killedRounds(
  name: string,
  overrides: readonly string[],
  env: Readonly<Record<string, string>> = {},
  together = 2,
): Promise<readonly string[]> {
  const problems: string[] = [];
  let kills = 0;
  const rounds = Array.from({ length: KILL_ROUNDS }).values();
  const some = async () => {
    for (const _ of rounds) {
      const round = await killedRound(overrides, env);
      kills += round.kills;
      problems.push(...round.problems);
    }
  };
  await Promise.all(Array.from({ length: together }, some));
  console.log(`${name}: ${KILL_ROUNDS} rounds, ${kills} kills, ${problems.length} problems`);
  return problems;
}
