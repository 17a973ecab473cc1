import type { Difference } from "../values/diff.ts";
import { maskSecrets, type Secrets } from "./secrets.ts";

/** Differences with secrets masked: that one changed may be seen, but not what it is. */
export const maskDifferences = (
  differences: readonly Difference[],
  before: Secrets,
  after: Secrets,
): readonly Difference[] =>
  differences.map((difference) => {
    const { path } = difference;
    return {
      ...difference,
      ...("before" in difference && { before: maskSecrets(difference.before, before, { path }) }),
      ...("after" in difference && { after: maskSecrets(difference.after, after, { path }) }),
    };
  });
