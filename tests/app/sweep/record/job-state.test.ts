import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, it } from "vitest";
import {
  begun,
  ended,
  readJobState,
  writeJobState,
} from "../../../../src/app/sweep/record/job-state.ts";
import { jobFile } from "../../../../src/app/sweep/record/layout.ts";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-state-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("takes a return value that no sweep writes for a damaged file: showing it would exhaust the stack", () => {
  const file = jobFile(folder, 0);
  mkdirSync(dirname(file), { recursive: true });
  const state = ended(begun(0, undefined), {
    status: "completed",
    exitCode: 0,
    returnValue: "HERE",
  });
  writeJobState(folder, state);
  expect(readJobState(folder, 0)).toEqual(state);
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  writeFileSync(file, JSON.stringify(state).replace('"HERE"', deep));
  expect(readJobState(folder, 0)).toBeUndefined();
});
