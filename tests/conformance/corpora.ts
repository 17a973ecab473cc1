import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../../src/values/dialect.ts";
import { fileRow } from "./print.ts";
import { type ReplayRequest, replay } from "./replay.ts";
import { SUITES } from "./suites/index.ts";

/** A corpus, and the version of Hydra that recorded it. */
export type Corpus = Pick<ReplayRequest, "corpus" | "delta"> & { readonly dialect: Dialect };

/** The corpora of the shared material: that of Hydra 1.3, and what the other versions did differently. */
export const sharedCorpora = (shared: string): readonly Corpus[] => {
  const base = join(shared, "conformance");
  return Object.values(DIALECTS).flatMap((dialect) =>
    dialect === DEFAULT_DIALECT
      ? corporaOf(base, undefined, dialect)
      : corporaOf(join(shared, `conformance-${dialect.name}`), base, dialect),
  );
};

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
export const otherCorpora = (shared: string) =>
  sharedCorpora(shared)
    .filter(({ dialect }) => dialect !== DEFAULT_DIALECT)
    .map((one) => ({
      ...one,
      name: basename(one.delta ?? one.corpus),
      fallback: join(shared, "conformance"),
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
