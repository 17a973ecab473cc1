/** Reads YAML as OmegaConf's loader does: text to a config tree. */
import { DEFAULT_DIALECT, type Dialect } from "../dialect.ts";
import { ConfigError, isConfigError } from "../errors.ts";
import { checkSyntax } from "../interpolation/interpolation-parser.ts";
import { checkExpansion, completeLimits, type Limits } from "../limits.ts";
import { type ConfigNode, MAX_TREE_DEPTH, map, scalar } from "../node.ts";
import type { SourceText } from "../origin.ts";
import { checkAliasLimits } from "./alias-limits.ts";
import { acceptConfig, type Constructed, type InterpolationCheck } from "./check-tree.ts";
import {
  buildAs,
  buildScalar,
  type Construction,
  createMergeState,
  type MergeState,
} from "./construction.ts";
import { inLibyamlWords, surrogateProblem, yamlError } from "./cursor.ts";
import { createScanner } from "./scanner.ts";
import { type SyntaxNode, TAG } from "./syntax-node.ts";
import { TAG_CONSTRUCTORS } from "./tags.ts";
import { type ParsedDocument, parseDocument } from "./yaml-parser.ts";

/** How texts are read. Default: as in Hydra 1.3, with the limits of `DEFAULT_LIMITS`. */
export interface Reading {
  /** How much aliases may add. Default: what `env` sets. */
  readonly limits?: Partial<Limits>;
  /** The dialect of YAML. Default: that of Hydra 1.3. */
  readonly dialect?: Dialect;
  /**
   * The environment that sets the limits. Default: none, in which nothing is set.
   * @internal
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * Texts that stand for those of files, by absolute path; null for a file that is to count as absent.
   * @internal
   */
  readonly overlay?: ReadonlyMap<string, string | null>;
}

/** How one text is read. */
export interface ReadOptions extends Reading {
  /** The name of the text in positions and errors, usually its path. */
  readonly name?: string;
}

/**
 * Reads one YAML document as OmegaConf's loader does: PyYAML's YAML 1.1, OmegaConf's floats, no timestamps, no string
 * key twice. An empty text is null.
 * Content that a config cannot have is refused too: null keys, values of unsupported types, and interpolations with
 * invalid syntax (except in a document that is a single string).
 * @throws ConfigError `yaml.*`, `limit.*`, `key.invalid_type`, `interpolation.syntax`, with the place
 */
export function readYaml(text: string, options: ReadOptions = {}): ConfigNode {
  const source = { name: options.name ?? "<string>", text };
  const rules = rulesOf(options);
  return read(source, (scalar) => checkSyntax(scalar, rules.dialect), rules);
}

/**
 * As `readYaml`, but null keys and interpolations are not checked: that is done when the value is put into a config.
 * @throws ConfigError `yaml.*`
 */
export function readYamlValue(text: string, options: ReadOptions = {}): ConfigNode {
  const constructed = readConstructed(text, options);
  if (constructed.suspicious) acceptConfig(constructed, rulesOf(options).dialect);
  return constructed.root;
}

/**
 * As `readYamlValue`, but values of unsupported types are not refused either.
 * @throws ConfigError `yaml.*`
 */
export const readConstructed = (text: string, options: ReadOptions = {}): Constructed =>
  load({ name: "<string>", text }, rulesOf(options));

/** The rules for reading a text. */
interface Rules {
  readonly limits: Limits;
  readonly dialect: Dialect;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const rulesOf = ({ dialect = DEFAULT_DIALECT, env = {}, limits }: ReadOptions): Rules => ({
  dialect,
  env,
  limits: completeLimits(limits, env),
});

function read(source: SourceText, check: InterpolationCheck, rules: Rules): ConfigNode {
  const constructed = load(source, rules);
  if (constructed.suspicious) acceptConfig(constructed, rules.dialect, check);
  return constructed.root;
}

function load(source: SourceText, rules: Rules): Constructed {
  const { limits, dialect } = rules;
  checkPrintable(source, dialect);
  const document = parse(source, dialect);
  if (document === null) {
    const empty = scalar(null, { kind: "file", source, start: 0, end: 0 });
    return { root: empty, foreign: new Map(), nullKeys: [], suspicious: false };
  }
  if (dialect.limitsAliases) checkAliasLimits(source, document, rules.env);
  const constructed = construct(source, document, rules);
  if (document.hasAliases) checkAliases(constructed.root, source, limits);
  return constructed;
}

function parse(source: SourceText, { libyaml }: Dialect): ParsedDocument | null {
  try {
    return parseDocument(source, createScanner(source, libyaml), libyaml);
  } catch (error) {
    throw libyaml && isConfigError(error) && error.code === "yaml.syntax"
      ? inLibyamlWords(error)
      : error;
  }
}

/**
 * `OmegaConf.create(text)`: a document that is a single string becomes `{text: null}`, an empty one `{}`.
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

/** All but YAML's printable characters; with the `u` flag, half a surrogate pair matches on its own. */
const UNACCEPTABLE = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Refuses control characters, half surrogate pairs, U+FFFE and U+FFFF anywhere in the text. */
function checkPrintable(source: SourceText, { libyaml }: Dialect): void {
  const found = UNACCEPTABLE.exec(source.text);
  if (found === null) return;
  const problem = libyaml ? surrogateProblem(source.text) : undefined;
  if (problem !== undefined) {
    const start = /[\ud800-\udfff]/u.exec(source.text)?.index ?? found.index;
    throw yamlError(source, { problem, start });
  }
  const code = (source.text.codePointAt(found.index) ?? 0).toString(16).padStart(4, "0");
  throw yamlError(source, {
    problem: `unacceptable character #x${code}: ${libyaml ? "control" : "special"} characters are not allowed`,
    start: found.index,
    hint: 'in double quotes, write it as an escape, e.g. "\\x07"',
  });
}

/**
 * Refuses aliases that contain themselves, that nest too deep, and aliases of aliases that multiply. The tree shares
 * aliased nodes and is small, but a pass over it visits every occurrence.
 */
function checkAliases(root: ConfigNode, source: SourceText, limits: Limits): void {
  const heights = new Map<ConfigNode, number>();
  const open = new Set<ConfigNode>();

  function measure(node: ConfigNode, depth: number): number {
    if (node.kind === "scalar") return 0;
    const measured = heights.get(node);
    if (depth + (measured ?? 0) > MAX_TREE_DEPTH) throw tooDeep(node);
    if (measured !== undefined) return measured;
    if (open.has(node)) throw recursive(node);
    open.add(node);
    let height = 0;
    for (const inner of childrenOf(node)) height = Math.max(height, 1 + measure(inner, depth + 1));
    open.delete(node);
    heights.set(node, height);
    return height;
  }

  const recursive = (node: ConfigNode) =>
    yamlError(source, {
      code: "yaml.alias_limit",
      problem: "an alias inside this value refers to the value itself",
      ...spanOf(node),
    });

  const tooDeep = (node: ConfigNode) =>
    yamlError(source, {
      code: "yaml.depth_limit",
      problem: `aliases nest the document more than ${MAX_TREE_DEPTH} levels deep`,
      ...spanOf(node),
    });

  measure(root, 0);
  // Escapes and folding make a text at most as long as its source.
  checkExpansion(root, limits, { written: source.text.length });
}

function* childrenOf(node: ConfigNode): Generator<ConfigNode> {
  if (node.kind === "list") yield* node.items;
  else if (node.kind === "map") for (const { value } of node.entries.values()) yield value;
}

function spanOf({ origin }: ConfigNode): { start: number; end: number } {
  if (origin.kind === "file") return { start: origin.start, end: origin.end };
  return { start: 0, end: 0 };
}

/**
 * Turns a graph of syntax nodes into a config tree, level by level as PyYAML does: of two errors, the one closer to the
 * root is reported. Aliased nodes are built once and shared.
 */
function construct(
  source: SourceText,
  document: ParsedDocument,
  { dialect, limits }: Rules,
): Constructed {
  const merges = createMergeState(source, limits, dialect);
  const construction = startConstruction(source, merges, document.hasAliases ? new Map() : null);
  const root = construction.build(document.root);
  fillCollections(construction);
  const { foreign, nullKeys, suspicious } = construction;
  return { root, foreign, nullKeys, suspicious };
}

function startConstruction(
  source: SourceText,
  merges: MergeState,
  built: Construction["built"],
): Construction {
  const construction: Construction = {
    source,
    dialect: merges.dialect,
    merges,
    built,
    foreign: new Map(),
    pending: [],
    suspicious: false,
    nullKeys: [],
    build: (node) => build(node, construction),
  };
  return construction;
}

function build(node: SyntaxNode, construction: Construction): ConfigNode {
  const { built } = construction;
  if (built === null) return buildNew(node, construction);
  const existing = built.get(node);
  if (existing !== undefined) return existing;
  const result = buildNew(node, construction);
  built.set(node, result);
  return result;
}

function buildNew(node: SyntaxNode, construction: Construction): ConfigNode {
  const name = construction.merges.tagOf(node);
  // Strings are by far the most frequent nodes.
  if (node.kind === "scalar" && name === TAG.string)
    return buildScalar(node, node.value, construction);
  const tag = TAG_CONSTRUCTORS.get(name);
  if (tag === undefined) throw unsupportedTag(node, construction);
  return buildAs(tag, node, construction);
}

/** Filling a collection appends its inner collections to the pending ones. */
function fillCollections(construction: Construction): void {
  for (const work of construction.pending) {
    if (work.kind === "list") work.tag.fill(work.node, work.target, construction);
    else work.tag.fill(work.node, work.target, construction);
  }
}

const unsupportedTag = ({ tag, start, end }: SyntaxNode, { source }: Construction) =>
  yamlError(source, {
    code: "yaml.unsupported_tag",
    problem: `could not determine a constructor for the tag '${tag}'`,
    start,
    end,
    ...((tag === TAG.value || tag === TAG.merge) && {
      hint: "quote it to make it a string",
    }),
    ...(tag.startsWith("!") && {
      hint: /^!+include$/i.test(tag)
        ? "other configs are named in the defaults list"
        : "quote a string that starts with '!'",
    }),
  });
