import { ConfigError } from "../errors.ts";
import type { Origin } from "../origin.ts";

/**
 * A text that is not a valid interpolation; `at` is the offset in it of what was not expected. The
 * origin is the text itself until whoever knows where it stands says so.
 */
export function interpolationSyntaxError(text: string, at: number, why: string): ConfigError {
  const found = at < text.length ? `'${text.slice(at, at + 12)}'` : "the end";
  return new ConfigError({
    code: "interpolation.syntax",
    message: `Invalid interpolation '${text}': ${why} at ${found} (offset ${at})`,
    ...(at < text.length && {
      hint: "where no interpolation is meant, a backslash keeps it as text: \\${ (in double quotes of YAML \\\\${)",
    }),
    origin: {
      kind: "file",
      source: { name: "<interpolation>", text },
      start: at,
      end: Math.min(at + 1, text.length),
    },
  });
}

/**
 * The error with its place in the text that the interpolation was read from. Exact where the
 * interpolation stands there verbatim (a scalar without escapes and folded lines), else the scalar.
 */
export function placeSyntaxError(error: unknown, text: string, origin: Origin): unknown {
  if (!(error instanceof ConfigError) || error.code !== "interpolation.syntax") return error;
  return new ConfigError({
    ...error.details,
    origin: narrow(error.details.origin, text, origin) ?? origin,
  });
}

function narrow(inner: Origin | undefined, text: string, outer: Origin): Origin | undefined {
  if (inner?.kind !== "file" || inner.source.text !== text) return undefined;
  if (outer.kind === "file") {
    const base = outer.source.text.indexOf(text, outer.start);
    if (base < 0 || base + text.length > outer.end) return undefined;
    return { ...outer, start: base + inner.start, end: base + inner.end };
  }
  if (outer.kind !== "override") return undefined;
  const base = outer.text.indexOf(text, outer.start ?? 0);
  return base < 0 ? undefined : { ...outer, start: base + inner.start, end: base + inner.end };
}
