import { expect, it } from "vitest";
import { dialectNamed } from "../../src/engine/values/dialect.ts";
import { corpusDir } from "../shared.ts";
import { baseCorpus, corporaOf } from "./corpora.ts";
import pending from "./pending-1.4rc1.json" with { type: "json" };
import { replay } from "./replay.ts";
import { SUITES } from "./suites/index.ts";

/**
 * Dialect 1.4 is that of Hydra 1.4.0.dev9. What 1.4.0rc1 does differently is listed by its cases, so that the list can only get
 * shorter: a case that passes is removed from it, and no other case may fail.
 */
it("differs from Hydra 1.4.0rc1 in the listed cases only", async () => {
  const failing = new Map<string, readonly string[]>();
  const [base, added] = corporaOf(
    corpusDir("conformance-1.4rc1"),
    baseCorpus(),
    dialectNamed("1.4"),
  );
  for (const [prefix, corpus] of [
    ["", base],
    ["new/", added],
  ] as const) {
    if (corpus === undefined) continue;
    const request = { ...corpus, fallback: baseCorpus(), suites: SUITES };
    for await (const { failures, path } of replay(request)) {
      const ids = [...new Set(failures.map((failure) => failure.case.id))].sort();
      if (ids.length > 0) failing.set(`${prefix}${path}`, ids);
    }
  }
  expect(Object.fromEntries(failing)).toEqual(pending);
}, 1_800_000);
