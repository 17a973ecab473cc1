import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  joinTables,
  rawInFittingUnits,
} from "../../../../../src/profiler/tools/ncu/run/import-pass.ts";
import { bundled } from "../../../../bundled.ts";

describe("import pass", () => {
  const PRINT = new URL("import-pass/print.ts", import.meta.url);

  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hydraconf-import-pass-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** What Linux takes in one argument. */
  const MOST_BYTES = 128 * 1024;

  it("metrics whose names are too many for an argument are printed with all others", () => {
    const named = (count: number) =>
      Array.from(
        { length: count },
        (_, at) => `sm__metric_${at}.avg.pct_of_peak_sustained_elapsed`,
      );
    const few = rawInFittingUnits(named(2)).args;
    expect(few[few.indexOf("--metrics") + 1]).toBe(named(2).join(","));
    const many = rawInFittingUnits(named(5000)).args;
    expect(many).not.toContain("--metrics");
    expect(Math.max(...many.map((argument) => argument.length))).toBeLessThan(MOST_BYTES);
  });

  it("the part of a table that had room is not taken for the table, though ncu ends with 0", async () => {
    const ncu = join(folder, "ncu");
    writeFileSync(ncu, "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n");
    chmodSync(ncu, 0o755);
    const tables = join(folder, "tables");
    const print = (limit: string) =>
      execa(
        "sh",
        ["-c", `mkdir -p "$3"; ${limit}exec "$0" "$1" "$2" "$3/raw.csv"`].concat([
          process.execPath,
          bundled(PRINT, "print-page"),
          ncu,
          tables,
        ]),
      );
    const { stdout } = await print("ulimit -f 32; ");
    expect(JSON.parse(stdout)).toEqual({
      kind: "failed",
      why: expect.stringMatching(/^ncu could not print the metrics of r1\.ncu-rep: EFBIG/),
    });
    expect(readdirSync(tables)).toEqual([]);
    expect(JSON.parse((await print("")).stdout)).toEqual({ kind: "printed" });
    expect(readdirSync(tables)).toEqual(["raw.csv"]);
  });
});

describe("join tables", () => {
  const directory = mkdtempSync(join(tmpdir(), "hydraconf-join-tables-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  describe("joinTables", () => {
    it("says which file could not be written, and joins the others", async () => {
      mkdirSync(join(directory, "raw.csv.part"), { recursive: true });
      for (const name of ["a.raw.csv", "b.raw.csv", "a.details.csv", "b.details.csv"])
        writeFileSync(join(directory, name), `${name}\n`);
      const notes = await joinTables(directory, ["a.", "b."]);
      expect(notes).toHaveLength(1);
      expect(notes[0]).toMatch(/^raw\.csv could not be written/);
      expect(readFileSync(join(directory, "details.csv"), "utf8")).toBe(
        "a.details.csv\n\nb.details.csv\n",
      );
      expect(existsSync(join(directory, "raw.csv"))).toBe(false);
    });
  });
});
