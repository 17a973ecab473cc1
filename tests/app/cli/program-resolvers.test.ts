import { describe, expect, test } from "vitest";
import type { Task } from "../../../src/app/job/job.ts";
import { memorySource } from "../../../src/engine/compose/sources/memory-source.ts";
import type { SourceFactory } from "../../../src/engine/compose/sources/repository.ts";
import { resolver } from "../../../src/engine/values/resolution/resolver.ts";
import { program } from "./program.ts";

describe("what a program adds to interpolations and search paths", () => {
  const files = {
    "conf/config.yaml": "defaults: [{db: a}, _self_]\nlr: 1\nscaled: '${times:${lr},10}'\n",
    "conf/db/a.yaml": "host: a\n",
  };
  const times = resolver("times", (x: number, by: number) => x * by);

  test("its resolvers are there for the task, for --cfg --resolve, and in every job of a sweep", async () => {
    const { run } = program(files, { resolvers: [times] });
    const seen: unknown[] = [];
    const task: Task = (config, job) => {
      seen.push(config.get("scaled"), job.get("scaled"));
    };
    expect((await run(["-m", "lr=2,3"], task)).exitCode).toBe(0);
    expect(seen).toEqual([20, 20, 30, 30]);
    expect((await run(["--cfg", "job", "--resolve", "-p", "scaled"])).stdout).toContain("10\n");
  });

  test("they may stand in for Hydra's, and not for OmegaConf's", async () => {
    const now = resolver("now", () => "today");
    const { run } = program(files, { resolvers: [times, now] });
    expect(
      (await run(["--cfg", "job", "--resolve", "-p", "day", "+day=${now:x}"])).stdout,
    ).toContain("today\n");
    const taken = program(files, { resolvers: [resolver("oc.env", () => "")] });
    expect(await taken.run(["--cfg", "job"])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("resolver 'oc.env' is already registered"),
    });
  });

  test("its kinds of sources may be named in a search path", async () => {
    const entries = new Map([["db/b", { value: { host: "b" } }]]);
    const memory: SourceFactory = ({ provider, path }) =>
      memorySource({ scheme: "mem", path, provider }, entries);
    const { run } = program(files, { resolvers: [times], sources: new Map([["mem", memory]]) });
    const { stdout } = await run([
      "--cfg",
      "job",
      "-p",
      "db",
      "db=b",
      "hydra.searchpath=[mem://x]",
    ]);
    expect(stdout).toContain("host: b\n");
  });
});
