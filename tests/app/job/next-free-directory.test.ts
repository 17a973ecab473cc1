import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { nextFreeDirectory } from "../../../src/app/job/run-directory.ts";

describe("nextFreeDirectory", () => {
  it("steps aside for directories with results, or with a run in them", () => {
    const path = join(mkdtempSync(join(tmpdir(), "free-")), "run");
    const next = () => nextFreeDirectory(path, ["report.md"]);
    expect(next()).toBe(path);
    mkdirSync(path);
    expect(next()).toBe(path);
    writeFileSync(join(path, "report.md"), "");
    expect(next()).toBe(`${path}-2`);
    mkdirSync(`${path}-2`);
    writeFileSync(join(`${path}-2`, ".running"), "1");
    expect(next()).toBe(`${path}-3`);
  });
});
