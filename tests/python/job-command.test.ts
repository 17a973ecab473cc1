import { expect, it } from "vitest";
import type { MapNode } from "../../src/engine/values/node.ts";
import { fromCode } from "../../src/engine/values/origin.ts";
import { fromObject } from "../../src/engine/values/plain-objects.ts";
import { createResolveContext } from "../../src/engine/values/resolution/context.ts";
import { multirunCommand } from "../../src/python/job-command.ts";

it("a multirun of a Hydra program has no functions that Hydra lacks, whatever texts look like", () => {
  const kept = [
    "lr=choice(1,2)",
    "text='zip(a)'",
    "other=logrange",
    "~gone",
    "n=int(sort(range(1,4)))",
  ];
  const ours = ["a=logrange(1,10,2)", "b=int(logrange(1,10,2))", "c=zip(x=choice(1,2))"];
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
