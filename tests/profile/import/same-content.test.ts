import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSource } from "../../../src/profile/import/open-source.ts";
import { copiesAmong } from "../../../src/profile/import/same-content.ts";

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

describe("copies among files", () => {
  it.each([1, MIB, 3 * MIB + 7])("hold the same in all of %d bytes", async (bytes) => {
    const [one, other] = [source("one", bytes), source("other", bytes)];
    expect(await copiesAmong([one, other])).toEqual(new Map([[other, one]]));
  });

  it.each([0, MIB, 3 * MIB + 6])("do not differ by a single byte, at %d", async (changed) => {
    const bytes = 3 * MIB + 7;
    expect(await copiesAmong([source("one", bytes), source("other", bytes, changed)])).toEqual(
      new Map(),
    );
  });

  it("are as long as what they are copies of", async () => {
    expect(await copiesAmong([source("one", 2 * MIB), source("other", 2 * MIB + 1)])).toEqual(
      new Map(),
    );
  });

  it("are told with the first of several that hold the same", async () => {
    const first = source("a", 9);
    const [same, other, again] = [source("b", 9), source("c", 9, 5), source("d", 9)];
    expect(await copiesAmong([first, same, other, again])).toEqual(
      new Map([
        [same, first],
        [again, first],
      ]),
    );
  });
});

it("keeps little of each file in memory: thousands may be imported at once", () => {
  expect(source("large", 2 * MIB).head.buffer.byteLength).toBeLessThan(10_000);
});
