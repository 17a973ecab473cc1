import { expect, it } from "vitest";
import { buildRegionModel } from "../../../src/profiler/analysis/build.ts";
import { growth } from "../../growth.ts";
import { didSomething } from "./models.ts";
import { timelineOf } from "./timelines.ts";

it("building a model takes time in proportion to the ranges, also on many threads", async () => {
  const timelineOfSize = (size: number) => {
    const ranges = Array.from({ length: size }, (_, index) => {
      // Per thread: outer ranges of 8 inner ones, like layers in a step.
      const thread = index % 64;
      const step = Math.floor(index / 64);
      const inner = step % 8;
      const base = (step - inner) * 100;
      const start = base + inner * 90;
      return inner === 0
        ? { name: "step", start: base, end: base + 790, thread }
        : { name: `layer${inner}`, start, end: start + 80, thread };
    });
    const kernels = ranges.map(({ start, thread }) => ({
      name: "k",
      launch: start,
      ns: 10,
      thread,
    }));
    return timelineOf([{ ranges, kernels }]);
  };
  const timelines = new Map([10_000, 100_000].map((size) => [size, timelineOfSize(size)]));
  const build = (size: number) => buildRegionModel(timelines.get(size) ?? timelineOfSize(size));
  expect(build(100_000).scopes[0]?.regions.filter(didSomething)).toHaveLength(8);
  expect(await growth(build, 10_000)).toBeLessThan(40);
});
