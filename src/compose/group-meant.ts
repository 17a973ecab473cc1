import { nearest } from "../values/nearest.ts";
import type { Repository } from "./sources/repository.ts";

/** The groups that a composition chose from. */
export interface ChosenGroups {
  /** By override key, e.g. `profiling/ncu@pipeline.ncu`. */
  readonly choices: ReadonlyMap<string, string | null>;
  readonly repository: Pick<Repository, "list">;
}

/** A choice as typed. */
export interface TypedChoice {
  /** What stands before `=`, without a package. */
  readonly typed: string;
  /** What was chosen. */
  readonly option: string;
  /** `=` and what follows it, as typed. */
  readonly tail: string;
}

/**
 * The command line that somebody meant who named a group by its last part, or by the last part of
 * the package where it stands: `ncu=hopper` for `profiling/ncu@pipeline.ncu=hopper`.
 */
export function groupMeant(
  { typed, option, tail }: TypedChoice,
  { choices, repository }: ChosenGroups,
): string | undefined {
  const dotted = typed.replaceAll("/", ".");
  for (const key of choices.keys()) {
    const [group = "", pkg = ""] = key.split("@");
    if (!endsWith(group.replaceAll("/", "."), dotted) && !endsWith(pkg, dotted)) continue;
    const options = repository.list(group, "config");
    if (options.includes(option)) return `${key}${tail}`;
    const near = nearest(option, options);
    if (near !== undefined) return `${key}=${near}`;
  }
  return undefined;
}

const endsWith = (path: string, tail: string): boolean =>
  path === tail || path.endsWith(`.${tail}`);
