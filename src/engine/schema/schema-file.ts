/** A JSON Schema in a file. */
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { ConfigError } from "../values/errors.ts";
import type { JsonSchema } from "./applicable-schemas.ts";

/**
 * The JSON Schema in a file.
 * @throws ConfigError `schema.invalid`
 */
export const readSchemaFile = (path: string, read: FileReader): JsonSchema =>
  parseSchema(path, schemaText(path, read));

/** Undefined where there is no such file. */
type FileReader = (path: string) => string | undefined;

/** @throws ConfigError `schema.invalid` for a file that cannot be read */
export function schemaText(path: string, read: FileReader): string {
  let text: string | undefined;
  try {
    text = read(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  if (text === undefined) throw unreadable(path, new Error("no such file"));
  return text;
}

/** @throws ConfigError `schema.invalid` for a text that is no JSON */
export function parseSchema(path: string, text: string): JsonSchema {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

const unreadable = (path: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "schema.invalid",
    message: `The schema '${path}' cannot be read: ${messageOf(cause).split("\n")[0]}`,
    hint: "`schema` names a file: relative to the module that calls hydraMain, or, in compose and createEngine, to the working directory",
    cause,
  });
