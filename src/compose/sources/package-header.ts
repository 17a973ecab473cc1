import { ConfigError } from "../../values/errors.ts";
import type { SourceText } from "../../values/origin.ts";

/** Hydra looks for the header in this many characters of a file and no further, counted with one for each end of a line. */
const HEADER_LIMIT = 512;

/** What Python's `str.splitlines` takes for the end of a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: Python counts these separators as line ends
const LINE_END = /\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/u;

/** Leading and trailing blanks as Python's `str.strip` sees them (a BOM is none). */
const BLANK = String.raw`[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]`;
const OUTER_BLANKS = new RegExp(`^${BLANK}+|${BLANK}+$`, "gu");

const HEADER_LINE = /^#\s*@/u;

/**
 * The value of the `# @package` line at the top of a config file. Blank lines and other
 * `# @key value` lines may stand around it; the scan ends at the first line of any other kind, so
 * an ordinary comment before the header disables it. The last of several wins.
 *
 * @throws ConfigError `compose.invalid_config` for a header line that is not KEY VALUE.
 * @see https://hydra.cc/docs/1.3/advanced/overriding_packages/
 */
export function packageHeader(source: SourceText): string | null {
  let found: string | null = null;
  for (const raw of headOf(source.text).split(LINE_END)) {
    const line = strip(raw);
    if (line === "") continue;
    if (!HEADER_LINE.test(line)) break;
    const [key, value] = keyAndValue(strip(line.replace(/^#+/u, "")), source);
    if (key === "@package") found = value;
  }
  return found;
}

/** A character of Python is one or two units here. */
const headOf = (text: string): string =>
  [...text.slice(0, 2 * HEADER_LIMIT).replaceAll(/\r\n?/g, "\n")].slice(0, HEADER_LIMIT).join("");

function keyAndValue(header: string, source: SourceText): readonly [string, string] {
  const [key, value, ...rest] = header.split(" ").filter((part) => part !== "");
  if (key === undefined || value === undefined)
    throw malformed(`Expected header format: KEY VALUE, got '${header}'`, header, source);
  if (rest.length > 0) throw malformed(`Too many components in '${header}'`, header, source);
  return [strip(key), strip(value)];
}

function malformed(message: string, header: string, source: SourceText): ConfigError {
  const start = source.text.indexOf(header);
  return new ConfigError({
    code: "compose.invalid_config",
    message,
    origin: { kind: "file", source, start, end: start + header.length },
    hint: "write the header as `# @package PACKAGE` on a line of its own",
  });
}

const strip = (text: string): string => text.replace(OUTER_BLANKS, "");
