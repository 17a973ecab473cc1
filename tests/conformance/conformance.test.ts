import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ACCEPTED } from "./accepted.ts";
import { baseCorpus, failuresOf, otherCorpora } from "./corpora.ts";
import { listCorpus } from "./corpus.ts";
import { fileRow } from "./print.ts";
import { replay } from "./replay.ts";
import { composeInMemory } from "./suites/compose.ts";
import { SUITES } from "./suites/index.ts";

describe("accepted differences", () => {
  const documentation = new URL("../../docs/compatibility.md", import.meta.url);

  it("are listed in docs/compatibility.md, each with its reason", () => {
    const text = ACCEPTED.length === 0 ? "" : readFileSync(documentation, "utf8");
    const unlisted = ACCEPTED.filter(({ id, reason }) => reason === "" || !text.includes(id));
    expect(unlisted).toEqual([]);
  });
});

/** The same replay as `npm run conformance`, so that `npm test` fails where it would. */
describe("conformance corpus", () => {
  const corpus = baseCorpus();
  const paths = listCorpus(corpus);
  const replayed = paths.filter((path) => SUITES.some((suite) => suite.matches(path)));

  it("has at most one suite for a file", () => {
    const claimed = paths.filter(
      (path) => SUITES.filter((suite) => suite.matches(path)).length > 1,
    );
    expect(claimed).toEqual([]);
  });

  it.each(replayed)(
    "%s",
    async (path) => {
      const only = new RegExp(`^${path.replaceAll(/[.+]/g, "\\$&")}$`);
      let files = 0;
      for await (const file of replay({ corpus, fallback: corpus, suites: SUITES, only })) {
        files++;
        expect(file.failures.length + file.problems.length, fileRow(file)).toBe(0);
      }
      expect(files).toBe(1);
    },
    600_000,
  );
});

it("composes from memory what it composes from files", async () => {
  const corpus = baseCorpus();
  let cases = 0;
  for await (const file of replay({ corpus, fallback: corpus, suites: [composeInMemory] })) {
    if (file.suite === null) continue;
    cases += file.cases;
    expect(file.failures.length + file.problems.length, fileRow(file)).toBe(0);
  }
  expect(cases).toBeGreaterThan(1000);
}, 600_000);

/**
 * What is replayed here of the other dialects, to be quick: what they do differently, where that is more than a warning for the
 * choice. `dialects.slow.ts` replays all of it.
 */
const OTHERS: ReadonlyMap<string, RegExp> = new Map([
  ...["1.1", "1.2"].map(
    (name) =>
      [
        name,
        /^compose\/(?:defaults_list|errs|files|hydracfg|legacy|pkg|selfpos)\/|^(?:fuzz|sweep)\/|^cli\/chdir\//,
      ] as const,
  ),
  ["1.4", /^(?:compose|fuzz|omegaconf|overrides|sweep)\/|^cli\/(?:chdir|fail14|resolved|vbase)\//],
]);

describe("what other dialects do differently", () => {
  it.each(otherCorpora())(
    "$dialect.name: $name",
    async ({ name: _, ...request }) => {
      const only = OTHERS.get(request.dialect.name) ?? /^/;
      const { cases, failed } = await failuresOf({ ...request, only, differencesOnly: true });
      expect(failed).toEqual([]);
      expect(cases).toBeGreaterThan(0);
    },
    600_000,
  );
});
