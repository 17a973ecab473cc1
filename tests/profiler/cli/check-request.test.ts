import { expect, test } from "vitest";
import { idleSettings } from "../../../src/profiler/cli/check-request.ts";

const notes = (ncu: boolean, nsys: boolean, ...overrides: readonly string[]) =>
  idleSettings({ ncu: { enable: ncu }, nsys: { enable: nsys } }, overrides);

test("settings of a collector that is off are named, however they are written", async () => {
  expect(await notes(false, false, "device=cpu", "pipeline.ncu.ncu_cli.replay_mode=range")).toEqual(
    ["pipeline.ncu.ncu_cli.replay_mode has no effect: pipeline.ncu.enable is false"],
  );
  expect(
    await notes(
      false,
      false,
      "profiling/ncu@pipeline.ncu=ncu.high",
      "++pipeline.ncu.ncu_cli.set=full",
      "~pipeline.nsys.sample",
    ),
  ).toEqual([
    "pipeline.nsys.sample has no effect: pipeline.nsys.enable is false",
    "profiling/ncu, pipeline.ncu.ncu_cli.set have no effect: pipeline.ncu.enable is false",
  ]);
});

test("nothing is said of a collector that is on, and of one that is only switched off", async () => {
  expect(await notes(true, false, "pipeline.ncu.ncu_cli.replay_mode=range")).toEqual([]);
  expect(
    await notes(false, false, "pipeline.ncu.enable=false", "pipeline.report.html=false"),
  ).toEqual([]);
});
