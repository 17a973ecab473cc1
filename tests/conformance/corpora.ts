import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../../src/engine/values/dialect.ts";
import { CORPUS_NAMES, type CorpusName, corpusDir } from "../shared.ts";
import { fileRow } from "./print.ts";
import { type ReplayRequest, replay } from "./replay.ts";
import { SUITES } from "./suites/index.ts";

/** A corpus, and the version of Hydra that recorded it. */
export type Corpus = Pick<ReplayRequest, "corpus" | "delta"> & { readonly dialect: Dialect };

/** The corpus of Hydra 1.3, the base of the others. */
export const baseCorpus = (): string => corpusDir("conformance");

/** The corpora of all versions of Hydra: that of 1.3, and what the others did differently. */
export const allCorpora = (): readonly Corpus[] =>
  Object.values(DIALECTS).flatMap((dialect) =>
    dialect === DEFAULT_DIALECT
      ? corporaOf(baseCorpus(), undefined, dialect)
      : corporaOf(corpusDir(corpusNameOf(dialect)), baseCorpus(), dialect),
  );

function corpusNameOf({ name }: Dialect): CorpusName {
  const found = CORPUS_NAMES.find((corpus) =>
    [`conformance-${name}`, `conformance-${name}rc1`].includes(corpus),
  );
  if (found === undefined) throw new Error(`there is no corpus of Hydra ${name}`);
  return found;
}

/** A corpus by itself, or over a base; then its folder `new/`, which has no base, is another one. */
export function corporaOf(
  corpus: string,
  base: string | undefined,
  dialect: Dialect,
): readonly Corpus[] {
  if (base === undefined) return [{ corpus, dialect }];
  const added = join(corpus, "new");
  return [
    { corpus: base, delta: corpus, dialect },
    ...(existsSync(added) ? [{ corpus: added, dialect }] : []),
  ];
}

/** What the other versions of Hydra did, each corpus with its name. */
export const otherCorpora = () =>
  allCorpora()
    .filter(({ dialect }) => dialect !== DEFAULT_DIALECT)
    .map((one) => ({
      ...one,
      name: one.delta === undefined ? "new" : corpusNameOf(one.dialect),
      fallback: baseCorpus(),
      suites: SUITES,
    }));

/** The rows of the files of a replay that have failures, and how many cases there were. */
export async function failuresOf(request: ReplayRequest) {
  const failed: string[] = [];
  let cases = 0;
  for await (const file of replay(request)) {
    cases += file.cases;
    if (file.failures.length + file.problems.length > 0) failed.push(fileRow(file));
  }
  return { cases, failed };
}
