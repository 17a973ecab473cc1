import type { Candidate } from "../candidate.ts";
import type { ShellLine } from "../shell-line.ts";

/** The program that completion is installed for. */
export interface InstalledProgram {
  /** The name of the command: `deep-profile`, `train.mjs`. */
  readonly name: string;
  /** The path of a script that is also run as `node SCRIPT`. */
  readonly script?: string;
}

/** One shell: the code that installs completion in it, and how it takes the answers. */
export interface Shell {
  readonly name: string;
  install(program: InstalledProgram): string;
  uninstall(program: InstalledProgram): string;
  /** Whether it shows descriptions. */
  readonly describes: boolean;
  /** What stands between the answers to those who ask as Hydra's own shell code does. */
  readonly hydraSeparator: string;
  /** The answers as the installed code reads them; ends with a line break unless it is empty. */
  print(candidates: readonly Candidate[], line: ShellLine): string;
}
