import { isConfigError } from "../../values/errors.ts";
import { IMPORTERS } from "./importers.ts";
import { openSource } from "./open-source.ts";

/**
 * What a file is that `deep-profile import` would read, e.g. `report of Nsight Compute`; null for any other. For
 * messages of those who were given it in the place of a run.
 *
 * @param path absolute
 */
export function importableFormat(path: string): string | null {
  try {
    const source = openSource(path, "/");
    if (source.isDirectory) return null;
    const found = IMPORTERS.find(({ matches }) => matches(source));
    // What stands in brackets is about other files of the kind.
    return found?.format.replace(/ \(.*$/s, "") ?? null;
  } catch (error) {
    if (isConfigError(error)) return null;
    throw error;
  }
}
