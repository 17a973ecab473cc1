import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { listFiles } from "./files.ts";

/** With a list, or a value with a comma, outside double quotes: zsh looks for files, and Hydra sees a sweep. */
const UNQUOTED = /(?<!["\w.])pipeline\.[\w.]+=(?:\[|[\w'-]+,(?!\s)).*/g;

test("overrides that messages and pages name can be typed in every shell", () => {
  const files = [...listFiles("src", ".ts"), ...listFiles("docs", ".md"), "README.md"];
  const found = files.flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(UNQUOTED)].map(([text]) => `${file}: ${text}`),
  );
  expect(found).toEqual([]);
});
