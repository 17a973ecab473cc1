import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unpackedFolder } from "./packed-folder.ts";

const CORPORA = fileURLToPath(new URL("conformance/corpus", import.meta.url));

/** The recorded behaviour of Hydra that is kept in the repository, packed, by the name of its folder in the shared material. */
export const CORPUS_NAMES = [
  "conformance",
  "conformance-1.1",
  "conformance-1.2",
  "conformance-1.4rc1",
  "conformance-optuna",
  "conformance-python",
] as const;

export type CorpusName = (typeof CORPUS_NAMES)[number];

/** The packed file of a corpus. */
export const packedCorpus = (name: CorpusName): string => join(CORPORA, `${name}.br`);

/** The directory with a corpus, unpacked from the repository. */
export const corpusDir = (name: CorpusName): string => unpackedFolder(packedCorpus(name));

/** The samples of Nsight's output that are kept in the repository, packed. */
export const PACKED_SAMPLES = fileURLToPath(new URL("fixtures/nsight-samples.br", import.meta.url));

/**
 * Samples that were recorded or constructed for this project, and may therefore be published with it. All others come from public
 * repositories of others and stay in the shared material.
 */
export const isOwnSample = (name: string): boolean =>
  /^(?:constructed-|syn-|log-real-|nsys-real|nsys-stats-(?!h100))/.test(name);

/** The path of a sample that is kept in the repository. */
export const ownSample = (name: string): string => join(unpackedFolder(PACKED_SAMPLES), name);

/** The path of any sample, by its name; null after printing which tests are skipped without the shared material. */
export function samplesOrSkip(what: string): ((name: string) => string) | null {
  const shared = sharedOrSkip(what);
  if (shared === null) return null;
  return (name) => (isOwnSample(name) ? ownSample(name) : join(shared, "samples/nsight", name));
}

/**
 * The project's shared material, from which corpora and samples are renewed (`npm run corpora`). A public clone does not have it:
 * tests that need it say so and skip, unless `HYDRACONF_REQUIRE_SHARED=1` (CI).
 */
export function sharedDir(): string | null {
  const dir =
    process.env["HYDRACONF_SHARED"] ?? fileURLToPath(new URL("../../shared", import.meta.url));
  if (existsSync(dir)) return dir;
  if (process.env["HYDRACONF_REQUIRE_SHARED"] === "1")
    throw new Error(`shared material is required here but ${dir} does not exist`);
  return null;
}

/** The directory, or null after printing which tests are skipped for want of it. */
export function sharedOrSkip(what: string): string | null {
  const dir = sharedDir();
  if (dir === null)
    console.warn(`SKIPPED ${what}: needs ../shared (or HYDRACONF_SHARED), absent in this clone`);
  return dir;
}
