/** The files of a tree on the disk, for its page. */
import { createHash } from "node:crypto";
import { type Dirent, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { ConfigError } from "../../engine/values/errors.ts";
import { writeFileAtomicSync } from "../../foundation/system/atomic-write.ts";
import { fileProblem, isBelow, isFileProblem } from "../../foundation/system/files.ts";
import { plural } from "../../foundation/text/plural.ts";
import type { ChangedFile, TreeFile } from "../tree-document.ts";

/** The configs of a directory, and what was left out. */
export interface FilesOfTree {
  readonly files: readonly TreeFile[];
  readonly notes: readonly string[];
}

/** A page with more is slow to load; no tree of configs is as large. */
const MOST_BYTES = 16_000_000;
const MOST_DEPTH = 20;
/** What is no part of a tree. */
const SKIPPED = /^(?:\..*|node_modules|__pycache__)$/;
/** Where Hydra puts the outputs of runs; groups may have these names, too. */
const OUTPUTS = /^(?:outputs|multirun)$/;
/** What a run or a sweep leaves in its directory. */
const RECORD = /^\.(?:hydra|sweep)$/;
/** How deep it is: `multirun/<day>/<time>/<job>/.hydra`. */
const RECORD_DEPTH = 3;

/** Reads all YAML files of a directory. What lies outside of it, behind links, is left out, and so is what is no text. */
export function readTree(directory: string): FilesOfTree {
  const root = realpathSync(directory);
  const files: TreeFile[] = [];
  const left: string[] = [];
  let bytes = 0;
  const { outputs, paths } = configPaths(root);
  for (const path of paths) {
    // What is left out leaves its room to the files after it.
    const content = contentOf(root, path, MOST_BYTES - bytes);
    const text = content?.toString("utf8");
    if (content === undefined || text === undefined || !Buffer.from(text).equals(content)) {
      left.push(path);
      continue;
    }
    files.push({ path, text, version: versionOf(content) });
    bytes += content.length;
  }
  const notes: string[] = [];
  if (left.length > 0)
    notes.push(
      `${plural(left.length, "file is", "files are")} not shown (outside of the directory, too large, or no text): ${firstOf(left)}`,
    );
  if (outputs.length > 0)
    notes.push(
      `${plural(outputs.length, "folder is", "folders are")} not shown (outputs of runs): ${firstOf(outputs)}`,
    );
  return { files, notes };
}

const firstOf = (paths: readonly string[]): string =>
  `${paths.slice(0, 5).join(", ")}${paths.length > 5 ? ", ..." : ""}`;

/** The paths of YAML files, and the folders with outputs of runs, which are not entered, sorted; folders behind links are not entered either. */
function configPaths(root: string): {
  readonly paths: readonly string[];
  readonly outputs: readonly string[];
} {
  const paths: string[] = [];
  const outputs: string[] = [];
  const visit = (folder: string, depth: number): void => {
    for (const entry of entriesOf(join(root, folder))) {
      const { name } = entry;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (!entry.isDirectory()) {
        if (name.endsWith(".yaml")) paths.push(path);
      } else if (OUTPUTS.test(name) && holdsRecord(join(root, path), RECORD_DEPTH))
        outputs.push(path);
      else if (depth < MOST_DEPTH && !SKIPPED.test(name)) visit(path, depth + 1);
    }
  };
  visit("", 0);
  return { paths: paths.sort(), outputs: outputs.sort() };
}

/** Whether there is a record of a run in a folder, or so many folders below it. */
function holdsRecord(folder: string, depth: number): boolean {
  const folders = entriesOf(folder).filter((entry) => entry.isDirectory());
  if (folders.some(({ name }) => RECORD.test(name))) return true;
  return depth > 0 && folders.some(({ name }) => holdsRecord(join(folder, name), depth - 1));
}

/** None for a folder that cannot be read. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Undefined for what is no file of the directory, is larger, or cannot be read. */
function contentOf(root: string, path: string, mostBytes: number): Buffer | undefined {
  try {
    const real = realpathSync(join(root, path));
    if (!isBelow(real, root)) return undefined;
    const status = statSync(real);
    if (!status.isFile() || status.size > mostBytes) return undefined;
    const content = readFileSync(real);
    return content.length <= mostBytes ? content : undefined;
  } catch (error) {
    if (isFileProblem(error)) return undefined;
    throw error;
  }
}

const versionOf = (content: Buffer | string): string =>
  createHash("sha256").update(content).digest("hex");

/**
 * Writes a file that the page was given, if it is still as the page had it.
 *
 * @returns its version
 * @throws ConfigError `playground/path`, `playground/changed`, `playground/write`
 */
export function writeTreeFile(directory: string, { path, text, version }: ChangedFile): string {
  const root = realpathSync(directory);
  // Only what was shown: no path leads out, and no file is made.
  if (!configPaths(root).paths.includes(path)) throw noFile(path);
  const content = contentOf(root, path, MOST_BYTES);
  if (content === undefined) throw noFile(path);
  if (versionOf(content) !== version)
    throw new ConfigError({
      code: "playground/changed",
      message: `'${path}' was changed on the disk since it was read`,
      hint: "revert it to see what is on the disk, then make the change again",
    });
  const file = realpathSync(resolve(root, path));
  try {
    writeFileAtomicSync(file, text, { mode: statSync(file).mode & 0o777 });
  } catch (cause) {
    if (!isFileProblem(cause)) throw cause;
    throw new ConfigError({
      code: "playground/write",
      message: `Cannot write '${path}': ${fileProblem(cause)}`,
      cause,
    });
  }
  return versionOf(text);
}

const noFile = (path: string): ConfigError =>
  new ConfigError({
    code: "playground/path",
    message: `'${path}' is no file of this tree`,
    hint: "only files that the page shows can be written",
  });
