import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { packageInfo } from "../../src/engine/values/package-info.ts";

const { root } = packageInfo();

/** Rows of the table in docs/internals.md: number, what, file, name of the test. */
const rows = readFileSync(join(root, "docs/internals.md"), "utf8")
  .split("\n")
  .map((line) => /^\| (\d+) \| (.+) \| `(tests\/.+\.test\.ts)` \| (.+) \|$/.exec(line))
  .flatMap((match) => (match === null ? [] : [match.slice(1)]));

it("docs/internals.md names a test for each of the 25 design consequences", () => {
  expect(rows.map(([number]) => Number(number))).toEqual(
    Array.from({ length: 25 }, (_, index) => index + 1),
  );
});

it.each(rows)("consequence %s (%s) is shown by %s: %s", (_number, _what, file = "", name = "") => {
  expect(existsSync(join(root, file)), file).toBe(true);
  expect(readFileSync(join(root, file), "utf8")).toContain(`"${name}`);
});
