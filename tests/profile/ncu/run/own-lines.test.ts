import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ownLinesIn, ownLinesOf } from "../../../../src/profile/ncu/run/own-lines.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-own-lines-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const fileOf = (text: string): string => {
  const file = join(directory, "stderr.txt");
  writeFileSync(file, text);
  return file;
};

describe("ownLinesOf", () => {
  it("finds ncu's lines among whatever a program prints, wherever pieces of the file end", () => {
    const error = "==ERROR== ERR_NVGPUCTRPERM - 漢字";
    for (const before of [0, 1, 5, 20, 25, 40]) {
      // The line stands across the end of the first piece.
      const filler = `${"x".repeat((1 << 20) - before - 1)}\n`;
      const text = `==WARNING== first\n${filler.slice(18)}no newline${error}\n${"y\n".repeat(10)}==ERROR== last`;
      expect(ownLinesOf(fileOf(text))).toEqual(["==WARNING== first", error, "==ERROR== last"]);
      expect(ownLinesIn(text)).toEqual(ownLinesOf(fileOf(text)));
    }
  });

  it("keeps little of lines that never end, and of what is said again and again", () => {
    const endless = `${"z".repeat(3 << 20)}==ERROR== at the end`;
    expect(ownLinesOf(fileOf(endless))).toEqual(["==ERROR== at the end"]);
    expect(ownLinesOf(fileOf("==WARNING== again\n".repeat(200_000))).length).toBe(10_000);
  });

  it("takes each mark for the start of a line: a program may print any number without ending one", () => {
    expect(ownLinesIn("==ERROR== one==WARNING== two ==ERROR== ==ERROR== ")).toEqual([
      "==ERROR== one",
      "==WARNING== two ",
      "==ERROR== ",
      "==ERROR== ",
    ]);
  });

  it("finds none where there is no file", () => {
    expect(ownLinesOf(join(directory, "nosuch"))).toEqual([]);
  });
});
