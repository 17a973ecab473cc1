import type { Composition } from "../../compose/index.ts";
import type { ConfigSchema } from "../../compose/sources/config-source.ts";
import type { StoreEntry } from "../../compose/sources/memory-source.ts";
import { splitKey } from "../../values/key-path.ts";
import type { ConfigNode } from "../../values/node.ts";
import { pyStr } from "../../values/python-text.ts";
import type { ResolveContext } from "../../values/resolution/context.ts";
import { selectNode } from "../../values/resolution/select.ts";
import type { ComposerRequest } from "../composer.ts";

/** The texts of all secrets in a composed config, including values that were overridden. */
export function secretTexts(composition: Composition, context: ResolveContext): readonly string[] {
  return composition.secrets.flatMap((path) => {
    const key = path.join(".");
    const options = { throwOnResolutionFailure: false, deep: true };
    return [composition.root, composition.config].flatMap((root) => {
      const node = safely(() => selectNode(root, key, context, options));
      return node === undefined ? [] : textsOf(node);
    });
  });
}

/** A value that cannot be resolved cannot appear in a text either. */
function safely<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function textsOf(node: ConfigNode): readonly string[] {
  const own =
    node.kind === "list"
      ? node.items.flatMap(textsOf)
      : node.kind === "map"
        ? [...node.entries.values()].flatMap(({ value }) => textsOf(value))
        : node.value === null || typeof node.value === "boolean"
          ? []
          : [pyStr(node)];
  return node.replaced === undefined ? own : [...own, ...textsOf(node.replaced)];
}

/** A schema and the package it applies to. */
interface Marked {
  readonly path: readonly string[];
  readonly schema: ConfigSchema;
}

/**
 * The values of overrides whose keys are marked secret by a schema, taken from the overrides' text: so
 * that they are hidden even in errors about overrides that cannot be composed.
 */
export function suspectTexts(
  overrides: readonly string[],
  { schemas = {}, store = new Map() }: Pick<ComposerRequest, "schemas" | "store">,
): readonly string[] {
  const { schemaReader: reader, programSchema: schema } = schemas;
  if (reader === undefined) return [];
  const marked: readonly Marked[] = [
    ...(schema === undefined ? [] : [{ path: [], schema }]),
    ...[...store].flatMap(([name, entry]) => markedBy(name, entry)),
  ];
  return overrides.flatMap((text) => {
    const [, key = "", value = ""] = /^(?:\+{1,2}|~)?([^=@]+)=(.*)$/su.exec(text) ?? [];
    const path = splitKey(key);
    const isSecret = marked.some(
      (mark) =>
        mark.path.every((part, index) => path[index] === part) &&
        reader.isSecret(mark.schema, path.slice(mark.path.length)),
    );
    return isSecret ? [value, value.replace(/^(["'])(.*)\1$/su, "$2")] : [];
  });
}

function markedBy(name: string, entry: StoreEntry): readonly Marked[] {
  if (!("schema" in entry) || entry.schema === undefined) return [];
  const group = name.split("/").slice(0, -1);
  const { package: pkg } = entry;
  const path = pkg === undefined ? group : pkg === "_global_" || pkg === "" ? [] : splitKey(pkg);
  return [{ path, schema: entry.schema }];
}
