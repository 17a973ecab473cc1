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
  return all.map((one): ShownDifference => {
    const { kind } = one;
    const key = pathText(one.path);
    const shown = (
      text: string,
      { origin }: { readonly origin: Parameters<typeof placeOf>[0] },
    ) => ({
      text,
      place: placeOf(origin, directory),
    });
    if (one.kind === "added")
      return { key, kind, older: undefined, newer: shown(showValue(one.after), one.after) };
    if (one.kind === "removed")
      return { key, kind, older: shown(showValue(one.before), one.before), newer: undefined };
    const [before, after] = showBoth(one.before, one.after);
    return { key, kind, older: shown(before, one.before), newer: shown(after, one.after) };
  });
}
