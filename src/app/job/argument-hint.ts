/** The hint for an override that was meant for an argument of the program that a command runs. */
import { closedAt } from "../../engine/schema/applicable-schemas.ts";
import { splitKey } from "../../engine/values/key-path.ts";
import { type ProgramOptions, readJsonSchema } from "./options.ts";

/**
 * The map that accepts no such key, by the program's schema; undefined if it may have the key. The schema covers only the
 * program's own keys, not Hydra's.
 */
export function closedMap(
  { schema }: Pick<ProgramOptions, "schema">,
  key: string,
): readonly string[] | undefined {
  const path = splitKey(key);
  const document = schema === undefined || path[0] === "hydra" ? undefined : readJsonSchema(schema);
  return document === undefined ? undefined : closedAt(document, path);
}

/**
 * How to pass arguments to the program that a command runs, and vary them; undefined for a command that runs none.
 *
 * @param override the override of a key that the config does not accept, without operator
 */
export function argumentHint(
  { freeKeys = [], restAsOverrides }: Pick<ProgramOptions, "freeKeys" | "restAsOverrides">,
  { key, override }: { readonly key: string; readonly override: string },
): string | undefined {
  if (restAsOverrides === undefined) return undefined;
  const [free] = freeKeys;
  const variation =
    free === undefined
      ? ""
      : `; to vary an argument of it: ${free}.${override} and \${${free}.${key}} in the argument`;
  return `arguments for your program follow --${variation}`;
}
