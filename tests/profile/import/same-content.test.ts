import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSource } from "../../../src/profile/import/open-source.ts";
import { haveSameContent } from "../../../src/profile/import/same-content.ts";

const MIB = 1 << 20;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "same-content-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file whose bytes tell their place, but for one that is changed. */
function source(name: string, bytes: number, changed?: number) {
  const content = Buffer.alloc(bytes, "what stands here is as long as no power of two. ");
  if (changed !== undefined) content.writeUInt8(content.readUInt8(changed) ^ 1, changed);
  writeFileSync(join(folder, name), content);
  return openSource(name, folder);
}

describe("files larger than what is read of each at first", () => {
  it.each([MIB, 2 * MIB, 3 * MIB + 7])("hold the same in all of %d bytes", (bytes) => {
    expect(haveSameContent(source("one", bytes), source("other", bytes))).toBe(true);
  });

  it.each([0, MIB - 1, MIB, 2 * MIB - 1, 2 * MIB, 3 * MIB, 3 * MIB + 6])(
    "differ by a single byte, at %d",
    (changed) => {
      const bytes = 3 * MIB + 7;
      expect(haveSameContent(source("one", bytes), source("other", bytes, changed))).toBe(false);
    },
  );

  it("differ where one begins with all of the other", () => {
    expect(haveSameContent(source("one", 2 * MIB), source("other", 2 * MIB + 1))).toBe(false);
  });
});
