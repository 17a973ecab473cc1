import { TAG } from "./syntax-node.ts";

/** YAML 1.1's integers: binary, octal with a leading 0, decimal, hexadecimal, sexagesimal. */
const INTEGER =
  /^(?:[-+]?0b[01_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)$/;

/** PyYAML's floats: an exponent needs a fraction and a sign. */
const YAML_FLOAT =
  /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;

/** What OmegaConf adds to them: exponents without fraction or sign, e.g. `1e3`. */
const OMEGACONF_FLOAT =
  /^(?:[-+]?[0-9]+(?:_[0-9]+)*(?:\.[0-9_]*)?[eE][-+]?[0-9]+|\.[0-9]+(?:_[0-9]+)*[eE][-+][0-9]+)$/;

const BOOLEAN = /^(?:yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/;

/** Which rules the implicit tag of a plain scalar follows. */
export type Dialect = "omegaconf" | "pyyaml";

const TIMESTAMP =
  /^(?:\d\d\d\d-\d\d-\d\d|\d\d\d\d-\d\d?-\d\d?(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)$/;

/**
 * The implicit tag of an unquoted scalar. OmegaConf's loader reads `1e3` as a float and no
 * timestamps; the dialect of PyYAML itself is what decides whether a written string needs quotes.
 */
export function plainTag(text: string, dialect: Dialect): string {
  const first = text.charCodeAt(0);
  // Most scalars are words: their first letter already excludes everything else.
  if (first >= 0x30 && first <= 0x39) return numberTag(text, dialect);
  switch (text[0]) {
    case "-":
    case "+":
    case ".":
      return numberTag(text, dialect);
    case undefined:
    case "~":
      return text.length < 2 ? TAG.null : TAG.string;
    case "n":
    case "N":
      if (text === "null" || text === "Null" || text === "NULL") return TAG.null;
      return BOOLEAN.test(text) ? TAG.boolean : TAG.string;
    case "y":
    case "Y":
    case "t":
    case "T":
    case "f":
    case "F":
    case "o":
    case "O":
      return text.length < 6 && BOOLEAN.test(text) ? TAG.boolean : TAG.string;
    case "<":
      return text === "<<" ? TAG.merge : TAG.string;
    case "=":
      return text === "=" ? TAG.value : TAG.string;
    default:
      return TAG.string;
  }
}

function numberTag(text: string, dialect: Dialect): string {
  // Python's `$` also matches in front of a final line break, which no plain scalar has.
  if (INTEGER.test(text)) return TAG.integer;
  if (YAML_FLOAT.test(text)) return TAG.float;
  if (dialect === "omegaconf") return OMEGACONF_FLOAT.test(text) ? TAG.float : TAG.string;
  return TIMESTAMP.test(text) ? "tag:yaml.org,2002:timestamp" : TAG.string;
}
