import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { makeTemporaryDirectory } from "../../../src/profiler/machine/run-files.ts";

it("makes a directory of its own each time, where TMPDIR says", () => {
  const place = mkdtempSync(join(tmpdir(), "hydraconf place-"));
  vi.stubEnv("TMPDIR", place);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(place, { recursive: true });
  });
  const made = [makeTemporaryDirectory("a-"), makeTemporaryDirectory("a-")];
  expect(made.map(dirname)).toEqual([place, place]);
  expect(readdirSync(place)).toHaveLength(2);
});

it("says where none can be made, and what to do", () => {
  vi.stubEnv("TMPDIR", "/nowhere/at/all");
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const make = () => makeTemporaryDirectory("a-");
  expect(make).toThrow(
    "Cannot create a temporary directory in '/nowhere/at/all': there is no such file or directory",
  );
  expect(make).toThrow(
    expect.objectContaining({
      details: expect.objectContaining({
        code: "profile.input",
        hint: expect.stringContaining("TMPDIR"),
      }),
    }),
  );
});
