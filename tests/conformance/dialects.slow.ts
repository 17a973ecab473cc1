import { describe, expect, it } from "vitest";
import { failuresOf, otherCorpora } from "./corpora.ts";

/** What `npm run conformance` replays in the other dialects; `conformance.test.ts` has a share of it. */
describe("other dialects", () => {
  it.each(otherCorpora())(
    "$dialect.name: $name",
    async ({ name: _, ...request }) => {
      const { cases, failed } = await failuresOf(request);
      expect(failed).toEqual([]);
      expect(cases).toBeGreaterThan(0);
    },
    1_800_000,
  );
});
