import { expect, it } from "vitest";
import { measurementNotes } from "../../../../src/profiler/tools/ncu/ncu-collector.ts";
import type { ReplayMode } from "../../../../src/profiler/tools/profiler-config.ts";
import { cliConfig } from "./run/cli-config.ts";

const replayOf = (modes: readonly ReplayMode[]) =>
  /in (.*) replay;/.exec(
    measurementNotes({ version: "2024.1.1" }, { ...cliConfig, replay_mode: "range" }, modes).join(),
  )?.[1];

it("tells the replay that brought the results, which may have taken over from another", () => {
  expect(replayOf(["range"])).toBe("range");
  expect(replayOf(["app-range"])).toBe("app-range");
  expect(replayOf(["range", "app-range", "range"])).toBe("range and app-range");
});

it("tells the replay that was asked for where none brought any", () => {
  expect(replayOf([])).toBe("range");
});
