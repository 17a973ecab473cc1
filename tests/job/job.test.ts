import { expect, test } from "vitest";
import { isSignalCode } from "../../src/job/job.ts";
import { program } from "../cli/program.ts";

test.each([
  [128, false],
  [129, true],
  [143, true],
  [159, true],
  [160, false],
  [255, false],
])("whether %i is what shells say of a signal: %s", (code, expected) => {
  expect(isSignalCode(code)).toBe(expected);
});

test("a program without results runs in the directory that its config names, whoever claims it", async () => {
  const { run } = program({
    "conf/config.yaml": "hydra: {run: {dir: out}}\n",
    "out/.running": "",
  });
  const directories: string[] = [];
  await run([], (_, job) => void directories.push(job.outputDir));
  expect(directories).toEqual([expect.stringMatching(/\/out$/)]);
});
