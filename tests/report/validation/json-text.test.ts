import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { fileProblem, isFileProblem } from "../../../src/foundation/system/files.ts";
import { readJson } from "../../../src/report/validation/check-text.ts";
import { textOfBytes, textOfFile } from "../../../src/report/validation/json-text.ts";

const directory = mkdtempSync(join(tmpdir(), "hydraconf-text-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const TEXT = '{"größe": "漢 🎲"}';

describe("the text of a report", () => {
  it("has its characters wherever its bytes are cut, and no byte order mark", () => {
    const bytes = [...Buffer.from(`\ufeff${TEXT}\ufeff`)].map((byte) => Buffer.from([byte]));
    const text = textOfBytes(bytes);
    for (const _ of ["once", "again"]) expect([...text()].join("")).toBe(`${TEXT}\ufeff`);
  });

  it("can be read again, also of a pipe", () => {
    const file = join(directory, "file.json");
    const pipe = join(directory, "pipe");
    writeFileSync(file, TEXT);
    execFileSync("mkfifo", [pipe]);
    spawn("dd", [`if=${file}`, `of=${pipe}`], { stdio: "ignore" });
    for (const text of [textOfFile(file), textOfFile(pipe)])
      for (const _ of ["once", "again"]) expect([...text()].join("")).toBe(TEXT);
  });
});

describe("a value that is too long", () => {
  const piece = "x".repeat(1 << 22);
  function* endless(start: string, unit: string): Generator<string> {
    yield start;
    for (;;) yield unit;
  }

  it.each([
    ["a string", '{"a":"', piece],
    ["a string of escapes", '{"a":"', piece.replaceAll("x", "\\")],
    ["a number", '{"a":', piece.replaceAll("x", "1")],
    ["a name", '{"', piece],
  ])("ends in an error of its file, however long it is: %s", (_, start, unit) => {
    try {
      readJson(() => endless(start, unit));
      expect.unreachable();
    } catch (error) {
      expect(fileProblem(error)).toBe("one value in it is too long to be read");
      expect(isFileProblem(error)).toBe(true);
    }
  });
});
