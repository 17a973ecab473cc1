import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { createJobLogs } from "../../../../src/app/plugins/slurm/job-logs.ts";

const task = (array: string, index: number, logs?: string) => ({
  ...{ number: index, attempts: 0, array, index },
  ...(logs !== undefined && { logs }),
});

test("the logs of a task are those of its processes, also where all jobs log in one folder", () => {
  const logs = mkdtempSync(join(tmpdir(), "hydraconf-logs-"));
  const names = [
    "7_1_0_log.err",
    "7_1_0_log.out",
    "7_1_1_log.out",
    "7_10_0_log.out",
    "77_1_0_log.out",
  ];
  for (const name of [...names, "notes.txt"]) writeFileSync(join(logs, name), "");
  const logsOf = createJobLogs();
  const found = (array: string, index: number) =>
    logsOf(task(array, index, logs))
      .map((file) => basename(file))
      .sort();
  expect(found("7", 1)).toEqual(names.slice(0, 3));
  expect(found("7", 10)).toEqual(["7_10_0_log.out"]);
  expect(found("7", 2)).toEqual([]);
  expect(logsOf(task("7", 1, join(logs, "gone")))).toEqual([]);
  expect(logsOf(task("7", 1))).toEqual([]);
});

test("a folder is listed once for all that are looked for in it", () => {
  const logs = mkdtempSync(join(tmpdir(), "hydraconf-logs-"));
  const logsOf = createJobLogs();
  expect(logsOf(task("7", 0, logs))).toEqual([]);
  writeFileSync(join(logs, "7_1_0_log.err"), "");
  expect(logsOf(task("7", 1, logs))).toEqual([]);
  expect(createJobLogs()(task("7", 1, logs))).toEqual([join(logs, "7_1_0_log.err")]);
});
