import { describe, expect, it } from "vitest";
import type { MapNode } from "../../src/engine/values/node.ts";
import { fromCode } from "../../src/engine/values/origin.ts";
import { fromObject } from "../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../src/engine/values/resolution/context.ts";
import { hydraOverrides, multirunCommand } from "../../src/python/job-command.ts";

it("a multirun of a Hydra program has no functions that Hydra lacks, whatever texts look like", () => {
  const kept = [
    "lr=choice(1,2)",
    "text='zip(a)'",
    "other=logrange",
    "~gone",
    "n=int(sort(range(1,4)))",
  ];
  const ours = [
    "a=logrange(1,10,2)",
    "b=int(logrange(1,10,2))",
    "c=zip(x=choice(1,2))",
    "d=choice(1)+choice(2)",
    "e:={a:1}",
  ];
  const hydra = { overrides: { task: [...ours, ...kept], hydra: ["hydra.verbose=true"] } };
  const root = fromObject({ hydra }, fromCode("a test")) as MapNode;
  const program = { argv: ["python", "train.py"], ownFlags: ["-cn", "x"] };
  const sweep = { root, context: createResolveContext({}) };
  expect(multirunCommand(program, sweep)).toEqual([
    ...["python", "train.py", "--multirun", "-cn", "x"],
    ...kept,
    "hydra.verbose=true",
  ]);
});

describe("key:=value, which Hydra lacks, in the job of a Hydra program", () => {
  const jobWith = (overrides: readonly string[]) =>
    ({
      number: undefined,
      outputDir: "/out",
      overrides,
      root: fromObject({ hydra: { runtime: { choices: { db: "mysql" } } } }, fromCode("a test")),
      context: createResolveContext({}),
    }) as unknown as Parameters<typeof hydraOverrides>[0];

  it("is a deletion and an addition", () => {
    expect(hydraOverrides(jobWith(["lr=1", "opt:={a: 1}", "text='b:=c'"]))).toEqual([
      ...["lr=1", "~opt", "+opt={a: 1}", "text='b:=c'"],
      "hydra.run.dir=/out",
    ]);
  });

  it("is refused for a config group, which Hydra would not compose at all then", () => {
    expect(() => hydraOverrides(jobWith(["db:={a: 1}"]))).toThrow(/config group gives: 'db:=/);
  });
});
