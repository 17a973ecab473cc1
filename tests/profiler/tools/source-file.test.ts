import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import {
  duplicatesAmong,
  openSource,
  unchangedSource,
} from "../../../src/profiler/tools/source-file.ts";

describe("same content", () => {
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
      expect(await duplicatesAmong([one, other])).toEqual(new Map([[other, one]]));
    });

    it.each([0, MIB, 3 * MIB + 6])("do not differ by a single byte, at %d", async (changed) => {
      const bytes = 3 * MIB + 7;
      expect(
        await duplicatesAmong([source("one", bytes), source("other", bytes, changed)]),
      ).toEqual(new Map());
    });

    it("are as long as what they are copies of", async () => {
      expect(await duplicatesAmong([source("one", 2 * MIB), source("other", 2 * MIB + 1)])).toEqual(
        new Map(),
      );
    });

    it("are told with the first of several that hold the same", async () => {
      const first = source("a", 9);
      const [same, other, again] = [source("b", 9), source("c", 9, 5), source("d", 9)];
      expect(await duplicatesAmong([first, same, other, again])).toEqual(
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
});

describe("steady source", () => {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-steady-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** A source whose file is changed by what `during` does in a reading. */
  function sourceOf(during: readonly (() => void)[]) {
    const path = join(folder, "run.csv");
    writeFileSync(path, "one");
    let reading = 0;
    return unchangedSource(
      { name: "run.csv", path },
      {
        toolVersion: null,
        stream: async () => {
          during[reading++]?.();
          return { sections: new Map(), notes: ["as read"] };
        },
      },
    );
  }

  const nothing = () => {};
  const grow = () => appendFileSync(join(folder, "run.csv"), "two");
  const replace = () => {
    writeFileSync(join(folder, "other.csv"), "one");
    renameSync(join(folder, "other.csv"), join(folder, "run.csv"));
  };
  const remove = () => rmSync(join(folder, "run.csv"));

  describe("a file that is read more than once", () => {
    test("is what it was where nobody touches it", async () => {
      const { stream } = sourceOf([nothing, nothing]);
      expect((await stream(nothing)).notes).toEqual(["as read"]);
      expect((await stream(nothing)).notes).toEqual(["as read"]);
    });

    test.each([
      ["grows", grow],
      ["is replaced", replace],
      ["is removed", remove],
    ])("is told of where it %s", async (_, change) => {
      const { stream } = sourceOf([change]);
      const { notes } = await stream(nothing);
      expect(notes[1]).toMatch(/^run\.csv changed while it was read: .* import it again/);
      await expect(stream(nothing)).rejects.toMatchObject({ details: { code: "profile.input" } });
    });

    test("is refused where that happens in a later reading: its results would be another file's", async () => {
      const { stream } = sourceOf([nothing, replace]);
      await stream(nothing);
      await expect(stream(nothing)).rejects.toThrow("run.csv changed while it was read");
    });
  });
});
