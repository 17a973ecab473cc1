import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JobResult } from "../../../src/app/job/job.ts";
import { readJobReport, reportJob } from "../../../src/app/record/job-report.ts";

const ENDED: JobResult = {
  status: "completed",
  outputDir: "/out/1",
  overrides: [],
  returnValue: { loss: 0.5, steps: 10n, bad: Number.NaN },
  error: undefined,
  exitCode: 0,
};

function place() {
  const file = join(mkdtempSync(join(tmpdir(), "hydraconf-job-report-")), "report.json");
  return { file, env: { HYDRACONF_JOB_REPORT: file, HYDRACONF_OUTPUT_DIR: "/out/1" } };
}

describe("the report of a job to the process that started its program", () => {
  test("has what the task returned, and why it ended", () => {
    const { env, file } = place();
    reportJob({ ...ENDED, exitCode: 3, reason: "no data" }, env);
    const result = { loss: 0.5, steps: 10, bad: "NaN" };
    expect(readJobReport(file)).toEqual({ result, reason: "no data" });
  });

  test.each([
    ["another job", { outputDir: "/out/2" }],
    ["a job that failed", { error: new Error("diverged") }],
  ])("is not written for %s", (_, change) => {
    const { env, file } = place();
    reportJob({ ...ENDED, ...change }, env);
    expect(existsSync(file)).toBe(false);
    expect(readJobReport(file)).toBeUndefined();
  });

  test("is not written where nobody asked for it", () => {
    expect(() => reportJob(ENDED, { HYDRACONF_OUTPUT_DIR: "/out/1" })).not.toThrow();
  });

  test("has NaN and infinities as Python writes them", () => {
    const { file } = place();
    writeFileSync(file, '{"result": {"loss": NaN, "grads": [1.5, -Infinity]}}');
    expect(readJobReport(file)).toEqual({
      result: { loss: Number.NaN, grads: [1.5, Number.NEGATIVE_INFINITY] },
    });
  });

  test("has an error of Python with its place", () => {
    const { file } = place();
    writeFileSync(file, '{"error": {"message": "ValueError: no", "file": "a.py", "line": 3}}');
    expect(readJobReport(file)).toMatchObject({
      error: { message: "ValueError: no", file: "a.py", line: 3 },
    });
  });

  test("is no report, but not missing, where it cannot be read", () => {
    const { file } = place();
    expect(readJobReport(file)).toBeUndefined();
    for (const text of ["{", "", "null", "3"]) {
      writeFileSync(file, text);
      expect(readJobReport(file)?.broken).toMatchObject({
        message: expect.stringMatching(/^the result that the task returned cannot be read: ./),
        hint: expect.stringContaining("return"),
      });
    }
    rmSync(file);
    mkdirSync(file);
    expect(readJobReport(file)?.broken?.message).toContain("directory");
  });
});
