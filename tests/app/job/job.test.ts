import { expect, test } from "vitest";
import { program } from "../cli/program.ts";

test("a program without results runs in the directory that its config names, whoever claims it", async () => {
  const { run } = program({
    "conf/config.yaml": "hydra: {run: {dir: out}}\n",
    "out/.running": "",
  });
  const directories: string[] = [];
  await run([], (_, job) => void directories.push(job.outputDir));
  expect(directories).toEqual([expect.stringMatching(/\/out$/)]);
});
