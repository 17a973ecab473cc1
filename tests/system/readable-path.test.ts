import { expect, test } from "vitest";
import { readablePath } from "../../src/system/readable-path.ts";

test.each([
  ["/a/b/run.json", "/a/b", "run.json"],
  ["/a/b/c/run.json", "/a/b", "c/run.json"],
  ["/a/b", "/a/b", "."],
  ["/a/b/..c/run.json", "/a/b", "..c/run.json"],
  ["/a/run.json", "/a/b", "/a/run.json"],
  ["/tmp/run.json", "/home/me", "/tmp/run.json"],
])("%s in %s is %s", (file, cwd, shown) => {
  expect(readablePath(file, cwd)).toBe(shown);
});
