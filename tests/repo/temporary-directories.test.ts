import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, it } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";
import { listFiles } from "./files.ts";

const profiler = join(packageInfo().root, "src/profiler");

it("the profiler makes temporary directories in the one place that says why none can be made", () => {
  const askingForThePlace = listFiles(profiler, ".ts").filter((file) =>
    /\btmpdir\b/.test(readFileSync(file, "utf8")),
  );
  expect(askingForThePlace.map((file) => relative(profiler, file))).toEqual([
    "machine/run-files.ts",
  ]);
});
