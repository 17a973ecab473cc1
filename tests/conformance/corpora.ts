import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_DIALECT, DIALECTS, type Dialect } from "../../src/values/dialect.ts";
import type { ReplayRequest } from "./replay.ts";

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
