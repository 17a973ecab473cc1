import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** One line of a corpus file. Suites read their own fields; these are common to all. */
export interface CorpusCase {
  /** Usually unique in its file; the generated trees of `fuzz/compose.jsonl` repeat some. */
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A line that is no case. The runner counts it as a failure: nothing is dropped in silence. */
export interface BadLine {
  readonly line: number;
  readonly why: string;
}

export interface CorpusFile {
  /** Relative to the corpus, with `/`. */
  readonly path: string;
  readonly cases: readonly CorpusCase[];
  readonly badLines: readonly BadLine[];
}

/** The paths of all `.jsonl` files below a corpus directory, sorted. */
export function listCorpus(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: "utf8" })
    .map((path) => path.split(sep).join("/"))
    .filter((path) => path.endsWith(".jsonl"))
    .sort();
}

export function readCorpusFile(dir: string, path: string): CorpusFile {
  const cases: CorpusCase[] = [];
  const badLines: BadLine[] = [];
  // Only \n ends a line here: texts in the corpus hold U+2028 and U+0085 unescaped.
  for (const [index, text] of readFileSync(join(dir, path), "utf8").split("\n").entries()) {
    if (text === "") continue;
    const parsed = parseLine(text);
    if (typeof parsed === "string") badLines.push({ line: index + 1, why: parsed });
    else cases.push(parsed);
  }
  return { path, cases, badLines };
}

/** Which lines are the same case: in `fuzz/compose.jsonl` an id may occur with several lists of overrides. */
export const identityOf = ({ id, overrides }: CorpusCase): string =>
  JSON.stringify([id, overrides]);

/**
 * The cases of a file of the base corpus as another version of Hydra decided them: each line of the delta takes the place of the
 * same case, and a case that the delta does not list is unchanged.
 */
export function readDelta(base: string, delta: string, path: string): CorpusFile {
  const before = readCorpusFile(base, path);
  if (!existsSync(join(delta, path))) return before;
  const { badLines, cases } = readCorpusFile(delta, path);
  const changed = new Map(cases.map((line) => [identityOf(line), line]));
  const merged = before.cases.map((line) => changed.get(identityOf(line)) ?? line);
  const known = new Set(before.cases.map(identityOf));
  const unknown = cases.flatMap((line, index) =>
    known.has(identityOf(line))
      ? []
      : [{ line: index + 1, why: `the case ${line.id} is not in the base` }],
  );
  return { path, cases: merged, badLines: [...before.badLines, ...badLines, ...unknown] };
}

/** The cases that a delta lists of a file, each by its identity. */
export const listedIn = (delta: string, path: string): ReadonlySet<string> =>
  existsSync(join(delta, path))
    ? new Set(readCorpusFile(delta, path).cases.map(identityOf))
    : new Set();

/** Looks something up in the replayed corpus, then at the same place in the fallback corpora. */
export function findCompanion(dirs: readonly string[], pathInCorpus: string): string {
  for (const dir of dirs) {
    const path = join(dir, pathInCorpus);
    if (existsSync(path)) return path;
  }
  throw new Error(`needs ${pathInCorpus}, which is not in ${dirs.join(" nor in ")}`);
}

function parseLine(text: string): CorpusCase | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    return `not JSON: ${String(error)}`;
  }
  return isCase(parsed) ? parsed : "not an object with a string `id`";
}

function isCase(value: unknown): value is CorpusCase {
  return (
    typeof value === "object" && value !== null && "id" in value && typeof value.id === "string"
  );
}
