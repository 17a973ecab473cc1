import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
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
