/** What the page of a tree gets from its server, and sends back. */
import type { DialectName } from "../engine/values/dialect.ts";

/** A config tree with all that composing it in a page needs. */
export interface TreeDocument {
  /** The directory as the user named it. */
  readonly title: string;
  /** The name of the directory, which the paths of files begin with. */
  readonly directory: string;
  readonly files: readonly TreeFile[];
  /** The primary config that is shown first. */
  readonly configName: string;
  readonly program: ProgramLine;
  readonly dialect: DialectName;
  /** Whether the server takes changed files. */
  readonly canWrite: boolean;
  /** What the page does not have of the tree. */
  readonly notes: readonly string[];
}

/** The command line that overrides are for. */
export interface ProgramLine {
  /** The words before the overrides: `python train.py`. */
  readonly words: readonly string[];
  /** The primary config that it composes without `--config-name`. */
  readonly configName: string;
  /** `hydra.job.name`. */
  readonly jobName: string;
}

/** A file of the tree. */
export interface TreeFile {
  /** Below the directory, with slashes. */
  readonly path: string;
  readonly text: string;
  /** SHA-256 of the file on the disk, in hexadecimal. */
  readonly version: string;
}

/** A file as it was changed in the page; `version` is that of the text that the change began with. */
export type ChangedFile = TreeFile;

/** Names below the address of the page. */
export const TREE_NAME = "tree.json";
export const FILE_NAME = "file";

/** The data of the page. */
export interface PageData {
  readonly tree: TreeDocument;
  /** For style elements of the editors. */
  readonly styleNonce: string;
  /** Whether a server answers the page. */
  readonly isServed: boolean;
}
