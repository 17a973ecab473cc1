import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, expect, it } from "vitest";
import { beginOutputDirectory } from "../../../src/profile/subcommands/output-directory.ts";

const all = mkdtempSync(join(tmpdir(), "output-directory-"));
afterAll(() => rmSync(all, { recursive: true, force: true }));
let cwd = all;
beforeEach(() => {
  cwd = mkdtempSync(join(all, "case-"));
});

const NOW = new Date(2026, 0, 2, 3, 4, 5);
const begin = (wanted?: string) => {
  const output = beginOutputDirectory(wanted, cwd, NOW);
  writeFileSync(join(output.path, "report.md"), wanted ?? "");
  return output;
};

it("of two that began in one second each has a name of its own", () => {
  const [first, second] = [begin(), begin()];
  expect(second.directory).toBe(first.directory);
  const names = [second.finish(), first.finish()];
  expect(names).toEqual([first.directory, `${first.directory}-2`]);
  expect(readdirSync(join(cwd, "tmp/profile-output")).sort()).toEqual([
    "20260102-030405",
    "20260102-030405-2",
  ]);
});

it("one that was named has that name and no other", () => {
  const { finish, discard } = begin("out");
  mkdirSync(join(cwd, "out"));
  writeFileSync(join(cwd, "out/other"), "");
  expect(finish).toThrow(`The directory '${join(cwd, "out")}' cannot be made`);
  discard();
  expect(readdirSync(cwd)).toEqual(["out"]);
  expect(readdirSync(join(cwd, "out"))).toEqual(["other"]);
});
