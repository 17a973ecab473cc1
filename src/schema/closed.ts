import {
  applicableSchemas,
  type JsonSchema,
  namedSchemas,
  type SchemaObject,
} from "./applicable-schemas.ts";

/**
 * Where a schema takes no key of this name: the path of the mapping that has other keys only, or
 * undefined where a key may be added. The document is not asked, so that of branches any counts.
 */
export function closedAt(
  schema: JsonSchema,
  path: readonly string[],
): readonly string[] | undefined {
  const depth = path.findIndex((token, index) => {
    const parts = applicableSchemas(schema, path.slice(0, index), {});
    return parts.some(isClosed) && !parts.some((part) => namedSchemas(part, token).length > 0);
  });
  return depth < 0 ? undefined : path.slice(0, depth);
}

const isClosed = (part: SchemaObject): boolean =>
  part["additionalProperties"] === false || part["unevaluatedProperties"] === false;
