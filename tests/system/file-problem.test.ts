import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fileProblem } from "../../src/system/file-problem.ts";

const failing = (code: string) => Object.assign(new Error(`${code}: raw words`), { code });

it.each([
  ["ENOENT", "there is no such file or directory"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EISDIR", "it is a directory"],
  ["ERR_STRING_TOO_LONG", "it is larger than 512 MB, the most that can be read at once"],
  ["EIO", "EIO: raw words"],
])("says %s as '%s'", (code, words) => {
  expect(fileProblem(failing(code))).toBe(words);
});

it("knows the system's errors", () => {
  const problem = (path: string) => {
    try {
      readFileSync(path);
    } catch (error) {
      return fileProblem(error);
    }
    return "read";
  };
  expect(problem("/")).toBe("it is a directory");
  expect(problem("/no/such/file")).toBe("there is no such file or directory");
  expect(fileProblem("a text")).toBe("a text");
  expect(fileProblem(new Error("Invalid string length"))).toContain("larger than 512 MB");
});
