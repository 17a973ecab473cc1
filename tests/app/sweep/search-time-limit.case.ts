import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import type { SweepRow } from "../../../src/app/job/options.ts";
import { commandPath } from "../../e2e/command.ts";

/** Returns its number; a large one is never done while there is a file `slow`. */
const PROGRAM = `
echo "$1" >>started.txt
[ ! -e slow ] || [ "$1" -lt 5 ] || sleep 1000
echo "$1" >"$HYDRACONF_RESULT"
`;

interface Outcome {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

interface SearchOutcome extends Outcome {
  /** The values that programs began with in this call. */
  readonly started: readonly string[];
  readonly jobs: readonly SweepRow[];
  readonly best: string | undefined;
}

/** A search in a directory of its own; its programs are slow until `beQuick`. */
function searchOf(sweeper: readonly string[], python: string | undefined) {
  const cwd = mkdtempSync(join(tmpdir(), "hydraconf-search-limit-"));
  mkdirSync(join(cwd, "conf"));
  writeFileSync(join(cwd, "conf/config.yaml"), "x: 0\nsteps: 1\n");
  if (python !== undefined) writeFileSync(join(cwd, "hydraconf.yaml"), `python: ${python}\n`);
  writeFileSync(join(cwd, "prog.sh"), PROGRAM);
  writeFileSync(join(cwd, "slow"), "");
  const noted = join(cwd, "started.txt");
  const textOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : undefined);
  const hydraconf = async (...argv: readonly string[]): Promise<Outcome> => {
    const command = [commandPath("hydraconf"), ...argv];
    const { exitCode, stderr, stdout } = await execa(process.execPath, command, {
      ...{ cwd, reject: false, stdin: "ignore" },
      // The settings name a Python, which is run.
      env: { HYDRACONF_TRUST: "1" },
    });
    return { exitCode, stderr: String(stderr), stdout: String(stdout) };
  };
  const play = async (...argv: readonly string[]): Promise<SearchOutcome> => {
    writeFileSync(noted, "");
    const outcome = await hydraconf("run", ...argv);
    const table = textOf(join(cwd, "s/sweep.json")) ?? '{"jobs":[]}';
    return {
      ...outcome,
      started: (textOf(noted) ?? "").split("\n").slice(0, -1),
      jobs: JSON.parse(table).jobs,
      best: textOf(join(cwd, "s/optimization_results.yaml")),
    };
  };
  return {
    hydraconf,
    play,
    beQuick: () => writeFileSync(join(cwd, "prog.sh"), PROGRAM.replace("[ ! -e slow ]", "true")),
    search: (...more: readonly string[]) =>
      play(
        ...["-m", "x=range(1,7)", "hydra.sweep.dir=s", ...sweeper],
        ...["hydra/launcher=local", "hydra.launcher.n_jobs=4", ...more],
        ...["--", "sh", "./prog.sh", "${x}"],
      ),
  };
}

const xOf = ({ swept }: SweepRow): string => String(swept["x"]);

/** What each job was given. */
const given = ({ jobs }: SearchOutcome) => jobs.map(({ swept }) => swept);

const isSlow = (value: string): boolean => Number(value) >= 5;

const statuses = ({ jobs }: SearchOutcome) => jobs.map(({ status }) => status);

const LIMIT = "hydra.launcher.timeout_min=0.15";

/**
 * What a search does with jobs that exceed the time limit of their launcher. The best job is told of those that were done; once the
 * others are done, too, the search came to what it comes to without a limit.
 They wait for the limit, at the same time.
 */
export function searchTimeLimitCases(
  name: string,
  sweeper: readonly string[],
  { python }: { readonly python?: string } = {},
): void {
  test.concurrent(`a ${name} search that tolerates failures goes on after jobs that exceeded their time limit`, async () => {
    const undisturbed = searchOf(sweeper, python);
    undisturbed.beQuick();
    const wanted = await undisturbed.search();
    expect(wanted.exitCode).toBe(0);

    const { beQuick, hydraconf, play, search } = searchOf(sweeper, python);
    const limited = await search(LIMIT, "hydra.sweeper.max_failure_rate=1");
    const late = limited.jobs.filter((job) => isSlow(xOf(job)));
    const count = late.length;
    const all = limited.jobs.length;
    expect(count).toBeGreaterThan(0);
    expect(late.map(({ ended_by, status }) => [status, ended_by])).toEqual(
      late.map(() => ["timed_out", { by: "time_limit", limit_ms: 9_000 }]),
    );
    expect(limited.jobs.filter(({ status }) => status === "completed")).toHaveLength(all - count);
    expect(limited.exitCode).toBe(0);
    // Optuna's sweeper logs what Hydra's plugin does.
    const best =
      python === undefined ? `Best of ${all} trials, ${count} timed_out: ` : "Best value: ";
    expect(limited.stdout).toContain(best);
    expect(limited.stderr).toContain(`\n${count} of ${all} jobs timed_out:\n`);
    const status = await hydraconf("sweep", "status", "s");
    const words = count === 1 ? "timed_out job" : "timed_out jobs";
    expect(status.stdout).toMatch(
      new RegExp(` --retry-failed \\S+ {3}runs the ${words} again$`, "m"),
    );
    const waited = await hydraconf("sweep", "wait", "s");
    expect(waited.exitCode).toBe(0);
    // Such an end is final.
    const resumed = await play("--resume", "s");
    expect([resumed.exitCode, resumed.started, statuses(resumed), resumed.best]).toEqual([
      ...[0, [], statuses(limited), limited.best],
    ]);
    beQuick();
    const retried = await play("--retry-failed", "s");
    expect(retried.exitCode).toBe(0);
    expect(retried.started.slice(0, count).toSorted()).toEqual(late.map(xOf).toSorted());
    expect(retried.best).toBe(wanted.best);
    expect(given(retried)).toEqual(given(wanted));
    expect(new Set(statuses(retried))).toEqual(new Set(["completed"]));
  });

  test.concurrent(`a ${name} search ends with the batch in which a job exceeded its time limit, and goes on once that is done`, async () => {
    const undisturbed = searchOf(sweeper, python);
    undisturbed.beQuick();
    const wanted = await undisturbed.search("hydra.sweeper.n_jobs=2");

    const { beQuick, hydraconf, play, search } = searchOf(sweeper, python);
    const limited = await search(LIMIT, "hydra.sweeper.n_jobs=2");
    const late = limited.jobs.filter(({ status }) => status === "timed_out");
    expect(late.map(xOf)).toEqual(limited.jobs.map(xOf).filter(isSlow));
    expect(limited.exitCode).toBe(1);
    expect(limited.jobs.length).toBeLessThan(wanted.jobs.length);
    const words = late.length === 1 ? "timed_out job" : "timed_out jobs";
    expect(limited.stderr).toMatch(
      new RegExp(`^Run the ${words} again with .* --retry-failed s$`, "m"),
    );
    const status = await hydraconf("sweep", "status", "s");
    expect(status.stdout).toMatch(new RegExp(`runs the ${words} again$`));
    const resumed = await play("--resume", "s");
    expect([resumed.exitCode, resumed.started, statuses(resumed)]).toEqual([
      ...[1, [], statuses(limited)],
    ]);
    beQuick();
    const retried = await play("--retry-failed", "s");
    expect([retried.exitCode, retried.best]).toEqual([0, wanted.best]);
    expect(given(retried)).toEqual(given(wanted));
    const done = limited.jobs.length - late.length;
    expect(retried.started).toHaveLength(wanted.jobs.length - done);
  });
}
