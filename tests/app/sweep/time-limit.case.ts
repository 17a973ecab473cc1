import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readJobState } from "../../../src/app/record/job-state.ts";
import { until } from "../../wait.ts";
import { ALONE, ANSWERS, answeringSweep, countOf, endsBy } from "./enders.ts";

/**
 * What a launcher of this machine does with jobs that take longer than they may, whatever their programs answer.
 *
 * @param launcher its overrides, with a time limit in which all programs have begun
 */
export function timeLimitCases(name: string, launcher: readonly string[], limit_ms: number): void {
  test(`of ${name} ends its jobs and no others, whatever they answer; --retry-failed runs them again`, async () => {
    const answers = [...ANSWERS, ...ALONE];
    const sweep = answeringSweep(answers, launcher);
    const { exitCode, stderr } = await sweep.start();
    const ends = endsBy("timed_out", { by: "time_limit", limit_ms });
    sweep.expectEnds(ends);
    // The first that failed by itself has a code that is none of its own.
    expect(exitCode).toBe(1);
    const count = countOf(ends, answers);
    const counted = `${count("completed")} of ${answers.length} jobs completed, ${count("failed")} failed, ${count("timed_out")} timed_out`;
    expect(stderr).toContain(`${counted};`);
    expect(stderr).toContain(
      `\n${count("failed")} of ${answers.length} jobs failed, ${count("timed_out")} timed_out:\n`,
    );
    expect(stderr).toMatch(
      /^Run the failed and timed_out jobs again with .* run --retry-failed s$/m,
    );
    expect(stderr).not.toContain("--resume");
    const status = await sweep.hydraconf("sweep", "status", "s");
    expect(status.stdout).toContain(`${counted}\n  `);
    expect(status.stdout).toContain("--retry-failed");
    const json = await sweep.hydraconf("sweep", "status", "s", "--json");
    expect(JSON.parse(String(json.stdout))).toMatchObject({
      exit_code: 1,
      counts: { failed: count("failed"), timed_out: count("timed_out") },
    });
    // Nothing is left to be done.
    const before = sweep.started().length;
    const resumed = await sweep.hydraconf("run", "--resume", "s");
    expect([resumed.exitCode, sweep.started().length]).toEqual([1, before]);
    const again = sweep.hydraconf("run", "--retry-failed", "s");
    const due = answers.filter((answer) => ends[answer]?.[0] !== "completed");
    await until(() => sweep.started().length === before + due.length);
    expect(
      sweep
        .started()
        .slice(before)
        .map(({ answer }) => answer)
        .sort(),
    ).toEqual(due.toSorted());
    again.kill("SIGKILL");
    await again;
    await sweep.hydraconf("sweep", "cancel", "s");
    for (const name of readdirSync(join(sweep.folder, "jobs")))
      expect(readFileSync(join(sweep.folder, "jobs", name), "utf8")).not.toContain('"running"');
    expect(readJobState(sweep.folder, 0)?.attempts).toHaveLength(2);
  });
}
