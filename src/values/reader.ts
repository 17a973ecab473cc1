import { ConfigError } from "./errors.ts";
import { checkSyntax } from "./interpolation/check-syntax.ts";
import { type Limits, limitsOf, withLimits } from "./limits.ts";
import { type ConfigNode, map, scalar } from "./node.ts";
import type { SourceText } from "./origin.ts";
import { acceptConfig, type InterpolationCheck } from "./yaml/accept.ts";
import { checkAliases } from "./yaml/alias-limits.ts";
import { type Constructed, construct } from "./yaml/construct.ts";
import { parseDocument } from "./yaml/parse-document.ts";
import { checkPrintable } from "./yaml/printable.ts";
import { createScanner } from "./yaml/scanner.ts";

/** How errors speak of the text, and what its aliases may be. */
export interface ReadOptions {
  /** What positions and errors call the text, usually its path. */
  readonly name?: string;
  /** How much aliases may add, where it is not what the environment says. */
  readonly limits?: Partial<Limits>;
}

/**
 * Reads one YAML document as OmegaConf's loader does: PyYAML's YAML 1.1, OmegaConf's floats, no
 * timestamps, no string key twice. An empty text is null.
 *
 * What cannot be in a config is refused too: null keys, values without a config type, and
 * interpolations with broken syntax (but a document that is one string is not looked into).
 * @throws ConfigError `yaml.*`, `limit.*`, `key.invalid_type`, `interpolation.syntax`, with the place
 */
export function readYaml(text: string, options: ReadOptions = {}): ConfigNode {
  const source = { name: options.name ?? "<string>", text };
  return read(source, checkSyntax, withLimits(limitsOf(process.env), options.limits));
}

/**
 * As `readYaml`, but null keys and interpolations are for whoever puts the value into a config to check.
 * @throws ConfigError `yaml.*`
 */
export function readYamlValue(text: string): ConfigNode {
  const constructed = readConstructed(text);
  if (constructed.suspicious) acceptConfig(constructed);
  return constructed.root;
}

/**
 * As `readYamlValue`, but values of types that have no place in a config are not refused either.
 * @throws ConfigError `yaml.*`
 */
export const readConstructed = (text: string, limits = limitsOf(process.env)): Constructed =>
  load({ name: "<string>", text }, limits);

function read(source: SourceText, check: InterpolationCheck, limits: Limits): ConfigNode {
  const constructed = load(source, limits);
  if (constructed.suspicious) acceptConfig(constructed, check);
  return constructed.root;
}

function load(source: SourceText, limits: Limits): Constructed {
  checkPrintable(source);
  const document = parseDocument(source, createScanner(source));
  if (document === null) {
    const empty = scalar(null, { kind: "file", source, start: 0, end: 0 });
    return { root: empty, foreign: new Map(), suspicious: false };
  }
  const constructed = construct(source, document, limits);
  if (document.hasAliases) checkAliases(constructed.root, source, limits);
  return constructed;
}

/**
 * `OmegaConf.create(text)`: a document that is one string becomes `{text: null}`, an empty one `{}`.
 * @throws ConfigError as `readYaml`, and `value.wrong_type` for a document that is another scalar
 */
export function createConfig(text: string, options: ReadOptions = {}): ConfigNode {
  const node = readYaml(text, options);
  if (node.kind !== "scalar") return node;
  const { value, origin } = node;
  if (value === null) return map([], origin);
  if (typeof value === "string") return map([[value, scalar(null, origin)]], origin);
  throw new ConfigError({
    code: "value.wrong_type",
    message: "a config must be a mapping or a list, not a single value",
    origin,
  });
}
