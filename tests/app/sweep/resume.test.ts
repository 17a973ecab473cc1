import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workplace } from "./program/start.ts";

test.each([
  [["--accept-changes"], "argument --accept-changes: it goes with --resume DIR"],
  [
    ["--resume", "s", "--retry-failed", "t"],
    "argument --retry-failed: it must name the same sweep",
  ],
  [["--resume", "s", "x=3"], "'x=3' cannot be given here: a sweep goes on with the overrides"],
])("%j is a wrong command line", async (argv, message) => {
  const place = workplace();
  await place.start(["-m", "x=1"]);
  const { exitCode, stderr } = await place.start(argv);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`prog: error: ${message}`)]);
  expect(place.ran("begin")).toEqual([0]);
});

test("a sweep that is not there is named as it was looked for", async () => {
  const place = workplace();
  const none = mkdtempSync(join(tmpdir(), "hydraconf-none-"));
  const { exitCode, stderr } = await place.start(["--resume", none]);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining(`There is no sweep in '${none}'`),
  ]);
});
