import { describe, expect, it } from "vitest";
import { sharedOrSkip } from "../shared.ts";
import { failuresOf, otherCorpora } from "./corpora.ts";

const shared = sharedOrSkip("conformance corpora of the other dialects");

/** What `npm run conformance` replays in the other dialects; `conformance.test.ts` has a share of it. */
describe.skipIf(shared === null)("other dialects", () => {
  it.each(shared === null ? [] : otherCorpora(shared))(
    "$dialect.name: $name",
    async ({ name: _, ...request }) => {
      const { cases, failed } = await failuresOf(request);
      expect(failed).toEqual([]);
      expect(cases).toBeGreaterThan(0);
    },
    1_800_000,
  );
});
