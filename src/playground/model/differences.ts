/** What two compositions differ in. */
import type { Composition } from "../../engine/compose/compose.ts";
import { diffConfigs, maskDifferences, pathText } from "../../engine/compose/index.ts";
import { showBoth, showValue } from "../../engine/schema/show-value.ts";
import { placeOf, type ShownPlace } from "./problems.ts";

/** A key in which they differ. */
export interface ShownDifference {
  readonly key: string;
  readonly kind: "changed" | "added" | "removed";
  readonly older: ShownValue | undefined;
  readonly newer: ShownValue | undefined;
}

/** A value, and what set it. */
export interface ShownValue {
  readonly text: string;
  readonly place: ShownPlace;
}

/** The keys of the jobs' configs in which they differ, in the order of the older one. */
export function differencesOf(
  older: Composition,
  newer: Composition,
  directory: string,
): readonly ShownDifference[] {
  const all = maskDifferences(diffConfigs(older.config, newer.config), older, newer);
  return all.map((difference): ShownDifference => {
    const { kind } = difference;
    const key = pathText(difference.path);
    const shown = (
      text: string,
      { origin }: { readonly origin: Parameters<typeof placeOf>[0] },
    ) => ({
      text,
      place: placeOf(origin, directory),
    });
    if (difference.kind === "added")
      return {
        key,
        kind,
        older: undefined,
        newer: shown(showValue(difference.after), difference.after),
      };
    if (difference.kind === "removed")
      return {
        key,
        kind,
        older: shown(showValue(difference.before), difference.before),
        newer: undefined,
      };
    const [before, after] = showBoth(difference.before, difference.after);
    return {
      key,
      kind,
      older: shown(before, difference.before),
      newer: shown(after, difference.after),
    };
  });
}
