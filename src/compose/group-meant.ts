import type { Override } from "../overrides/ast.ts";
import { nearest } from "../values/nearest.ts";
import type { Repository } from "./sources/repository.ts";

/** The groups that a composition chose from. */
export interface ChosenGroups {
  /** By override key, e.g. `profiling/ncu@pipeline.ncu`. */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly repository: Pick<Repository, "list">;
}

/**
 * The command line that somebody meant who named a group by its last part, or by the last part of
 * the package where it stands: `ncu=hopper` for `profiling/ncu@pipeline.ncu=hopper`.
 */
export function groupMeant(
  { keyOrGroup, origin, value }: Override,
  { choices, repository }: ChosenGroups,
): string | undefined {
  if (value?.kind !== "scalar" || typeof value.value !== "string") return undefined;
  const typed = keyOrGroup.replaceAll("/", ".");
  for (const key of choices.keys()) {
    const [group = "", pkg = ""] = key.split("@");
    if (!endsWith(group.replaceAll("/", "."), typed) && !endsWith(pkg, typed)) continue;
    const options = repository.list(group, "config");
    if (options.includes(value.value))
      return `${key}${origin.text.slice(origin.text.indexOf("="))}`;
    const near = nearest(value.value, options);
    if (near !== undefined) return `${key}=${near}`;
  }
  return undefined;
}

const endsWith = (path: string, tail: string): boolean =>
  path === tail || path.endsWith(`.${tail}`);
