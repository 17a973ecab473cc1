/** The text files of a project that people and machines run it from. */
import { type Dirent, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import type { CommandText } from "./command-words.ts";

/** A text file of a project. */
export interface ProjectFile {
  /** Its absolute path. */
  readonly file: string;
  readonly text: string;
}

/** A file with commands, and how they stand in it. */
export interface CommandFile extends ProjectFile {
  readonly kind: CommandText;
}

/** The files of a project that hold commands: scripts, Makefiles, documentation, CI. */
export const commandFiles = (files: readonly string[]): readonly CommandFile[] =>
  files.flatMap((file) => {
    const kind = kindOf(file);
    const text = kind === undefined ? undefined : textOf(file);
    return kind === undefined || text === undefined ? [] : [{ file, kind, text }];
  });

const SHELL = /\.(sh|bash|zsh|slurm|sbatch|sub|job|pbs)$/;
const MARKDOWN = /\.(md|markdown|rst)$/;
const CI =
  /(^|\/)(\.github\/workflows\/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.circleci\/config\.ya?ml|\.buildkite\/[^/]+\.ya?ml|azure-pipelines\.ya?ml|\.travis\.ya?ml)$/;

function kindOf(file: string): CommandText | undefined {
  const name = basename(file);
  if (MARKDOWN.test(name)) return "markdown";
  if (/^(GNU)?[Mm]akefile$|\.mk$|^justfile$/.test(name)) return "make";
  return SHELL.test(name) || /^Dockerfile/.test(name) || CI.test(file) ? "shell" : undefined;
}

/** Larger files are not written by hand. */
const MOST_BYTES = 1_000_000;

/** The text of a file; undefined if it cannot be read, or is too large. */
export function textOf(file: string): string | undefined {
  try {
    return statSync(file).size > MOST_BYTES ? undefined : readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Folders with results, dependencies and data. */
const SKIPPED =
  /^(\.git|\.hg|\.tox|\.nox|\.venv|\.mypy_cache|\.pytest_cache|\.ruff_cache|\.hydra|\.hydraconf|\.sweep|node_modules|__pycache__|site-packages|venv|env|outputs|multirun|wandb|mlruns|data|.*\.egg-info)$/;
const MOST_DEPTH = 8;
const MOST_FILES = 20_000;

/** The files below a directory, nearest first, in the order of their names. */
export function filesBelow(directory: string): readonly string[] {
  const files: string[] = [];
  let level = [directory];
  for (let depth = 0; depth <= MOST_DEPTH && level.length > 0; depth++) {
    const below: string[] = [];
    for (const folder of level)
      for (const entry of entriesOf(folder)) {
        const path = join(folder, entry.name);
        if (entry.isDirectory() && !SKIPPED.test(entry.name)) below.push(path);
        else if (entry.isFile() && files.length < MOST_FILES) files.push(path);
      }
    level = below;
  }
  return files;
}

/** Whether a file is a source of Python. */
export const isPython = (file: string): boolean => extname(file) === ".py";

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}
