import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { steadySource } from "../../../src/profile/import/steady-source.ts";

const folder = mkdtempSync(join(tmpdir(), "hydraconf-steady-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A source whose file is changed by what `during` does in a reading. */
function sourceOf(during: readonly (() => void)[]) {
  const path = join(folder, "run.csv");
  writeFileSync(path, "one");
  let reading = 0;
  return steadySource(
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
