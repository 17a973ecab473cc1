/** Files of tests share processes and loaded modules (vitest.config.ts): what would only seem to work. */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";
import { listFiles } from "./files.ts";

const root = join(packageInfo().root, "tests");
const files = listFiles(root, ".ts").map((file) => ({
  name: relative(root, file),
  text: readFileSync(file, "utf8"),
}));
const withText = (pattern: RegExp, some = files) =>
  some.filter(({ text }) => pattern.test(text)).map(({ name }) => name);

test("no test replaces a module, which others may have loaded before", () => {
  expect(files.length).toBeGreaterThan(300);
  expect(withText(/\bvi\.(?:mock|doMock|resetModules)\(/)).toEqual([]);
});

test("no helper has hooks of its own: they would be the first file's that loads it", () => {
  const helpers = files.filter(({ name }) => !/\.(?:test|slow)\.ts$|(?:^|\/)setup\.ts$/.test(name));
  expect(withText(/^(?:before|after)(?:All|Each)\(/m, helpers)).toEqual([]);
  expect(withText(/^ {2}(?:before|after)(?:All|Each)\(/m, helpers)).not.toEqual([]);
});
