import { closedAt } from "../../schema/applicable-schemas.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { splitKey } from "../../values/key-path.ts";
import type { ProgramOptions } from "../options.ts";
import { readSchema } from "../read-schema.ts";

/**
 * Rewrites the error about an override of an unknown key: the advice to append the key is left out if the
 * program's schema would refuse it anyway. Other errors are returned unchanged.
 */
export function withoutAdding(
  error: unknown,
  { name, restAsOverrides, schema }: ProgramOptions,
): unknown {
  if (schema === undefined || !isUnknownKey(error)) return error;
  const { details, message } = error;
  const { key = "", nearest, origin } = details;
  const path = splitKey(key);
  // The schema covers the program's own keys only.
  const closed = path[0] === "hydra" ? undefined : closedAt(readSchema(schema), path);
  if (closed === undefined || origin?.kind !== "override") return error;
  const [place, help] =
    closed.length === 0
      ? ["the config", "--help"]
      : [`'${closed.join(".")}'`, `--help ${closed.join(".")}`];
  const rest = restAsOverrides === undefined ? "" : "; arguments for your program follow --";
  return new ConfigError({
    ...details,
    message: message
      .split("\n")
      .filter((line) => !line.startsWith("To append to your config"))
      .join("\n"),
    hint:
      nearest === undefined
        ? `${place} accepts no other keys; '${name} ${help}' lists its keys${rest}`
        : `use ${nearest}${origin.text.slice(key.length)}`,
  });
}

/** The error for a key that could be appended if there were no schema. The hint about a group stays as it is. */
const isUnknownKey = (error: unknown): error is ConfigError =>
  isConfigError(error) &&
  error.code === "compose.override_failed" &&
  isConfigError(error.details.cause) &&
  error.details.cause.code === "value.struct" &&
  error.details.hint?.startsWith("to choose") !== true;
