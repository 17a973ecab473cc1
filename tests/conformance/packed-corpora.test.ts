import { mkdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, readdir, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { packFolder, unpackedFiles, unpackedFolder } from "../packed-folder.ts";
import {
  CORPUS_NAMES,
  isOwnSample,
  PACKED_SAMPLES,
  packedCorpus,
  sharedOrSkip,
} from "../shared.ts";

const shared = sharedOrSkip("whether the packed corpora are those of the shared material");

/** The files of a folder with their content. */
async function filesIn(folder: string) {
  const paths = await readdir(folder, { recursive: true });
  return new Map(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, path))] as const),
  );
}

describe.skipIf(shared === null)("the packed corpora", () => {
  it.each(CORPUS_NAMES)("%s is what the shared material has", async (name) => {
    const expected = await filesIn(join(shared ?? "", name));
    const actual = unpackedFiles(readFileSync(packedCorpus(name)));
    expect([...actual.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [path, content] of expected)
      expect(actual.get(path)?.equals(content), `${path}: npm run corpora -- pack`).toBe(true);
  });

  it("samples of Nsight hold those that are ours, and no others", async () => {
    const all = await filesIn(join(shared ?? "", "samples/nsight"));
    const actual = unpackedFiles(readFileSync(PACKED_SAMPLES));
    expect([...actual.keys()].sort()).toEqual([...all.keys()].filter(isOwnSample).sort());
    for (const [path, content] of actual) expect(all.get(path)?.equals(content), path).toBe(true);
    expect(
      [...actual.keys()].filter((path) => /^(?:pub|raw|details|log-pub)-|\.ncu-rep$/.test(path)),
    ).toEqual([]);
  });
});

describe("packing a folder", () => {
  it("keeps every byte of every file, in the repository as on disk", async () => {
    const content = fc.oneof(
      fc.string({ unit: "grapheme" }).map((text) => Buffer.from(text)),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
    );
    const files = fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), content);
    await fc.assert(
      fc.asyncProperty(files, async (tree) => {
        const folder = await mkdtemp(join(tmpdir(), "packed-"));
        mkdirSync(join(folder, "a/b"), { recursive: true });
        for (const [name, bytes] of Object.entries(tree))
          await writeFile(join(folder, "a/b", name), bytes);
        const packed = packFolder(folder);
        expect(packFolder(folder).equals(packed)).toBe(true);
        const file = join(folder, "all.br");
        await writeFile(file, packed);
        const expected = new Map(
          Object.entries(tree).map(([name, bytes]) => [`a/b/${name}`, bytes] as const),
        );
        if (expected.size > 0) expect(await filesIn(unpackedFolder(file))).toEqual(expected);
        expect(new Map([...unpackedFiles(packed)].sort())).toEqual(new Map([...expected].sort()));
      }),
      { numRuns: 20 },
    );
  });
});
