import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { joinTables } from "../../../../src/profile/ncu/run/join-tables.ts";

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
