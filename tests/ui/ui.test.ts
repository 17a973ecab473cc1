/**
 * What commands say, as files that a reviewer sees: `NAME.case` holds command lines and a small tree, `NAME.out` beside it what a
 * terminal shows. `npm run ui -- -u` accepts what they show now.
 */
import { existsSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { listFiles } from "../repo/files.ts";
import { readCase, runCase } from "./case.ts";
import { ERROR_CODES, NOT_BY_A_CASE } from "./error-codes.ts";

const FOLDER = fileURLToPath(new URL(".", import.meta.url));
const outputOf = (file: string): string => file.replace(/case$/, "out");
const nameOf = (file: string): string => relative(FOLDER, file).replace(/\.\w+$/, "");

/** A case of an error is named after its code. */
const codeOf = (name: string): string => name.replace(/^errors\//, "");

/** By case, the codes of the errors that it shows. */
const shown = new Map<string, readonly string[]>();

describe("what commands say", () => {
  test.each(listFiles(FOLDER, ".case").map((file) => [nameOf(file), file]))(
    "%s",
    async (name, file) => {
      const isNew = !existsSync(outputOf(file));
      const { codes, text } = await runCase(readCase(readFileSync(file, "utf8")));
      shown.set(name, codes);
      await expect(text).toMatchFileSnapshot(outputOf(file));
      const { snapshotState } = expect.getState();
      // Vitest would write the first output of a case without a word.
      if (isNew && Reflect.get(snapshotState, "_updateSnapshot") !== "all")
        expect.fail(`${name} is new: look at its output, and accept it by npm run ui -- -u`);
    },
  );

  test("stands beside a case", () => {
    const cases = new Set(listFiles(FOLDER, ".case").map(nameOf));
    expect(
      listFiles(FOLDER, ".out")
        .map(nameOf)
        .filter((name) => !cases.has(name)),
    ).toEqual([]);
  });
});

describe("the cases of errors", () => {
  test("show the error that they are named after", () => {
    const others = [...shown].filter(
      ([name, codes]) => ERROR_CODES.includes(codeOf(name)) && !codes.includes(codeOf(name)),
    );
    expect(others).toEqual([]);
  });

  test("are there for every code, but for those that no command line alone leads to", () => {
    const met = new Set([...shown.values()].flat());
    const missing = ERROR_CODES.filter((code) => !met.has(code));
    expect(missing).toEqual(Object.keys(NOT_BY_A_CASE).sort());
  });
});
