import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { realPlace } from "../../src/system/real-place.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hydraconf-real-place-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
mkdirSync(join(root, "run"));
symlinkSync("run", join(root, "latest"));
symlinkSync("nowhere", join(root, "broken"));

test.each([
  ["latest", "run"],
  ["latest/new/again", "run/new/again"],
  ["run/again", "run/again"],
  ["broken/again", "broken/again"],
])("%s is at %s", (path, place) => {
  expect(realPlace(join(root, path))).toBe(join(root, place));
});

test("the root of all is at itself", () => {
  expect(realPlace("/")).toBe("/");
});
