/** The file of a tree's declarations: written, checked, or kept true while the tree changes. */
import { existsSync, readFileSync, watch } from "node:fs";
import { resolve } from "node:path";
import { ConfigError, isConfigError } from "../../../engine/values/errors.ts";
import { renderError } from "../../../engine/values/render-error.ts";
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import { fileProblem, readablePath } from "../../../foundation/system/files.ts";
import { usage } from "../../command-line/command-line.ts";
import type { ParsedCommand } from "../../command-line/parse.ts";
import type { Console, Invocation } from "../../job/process/invocation.ts";
import {
  type DeclaredTree,
  factsOf,
  primaryConfigs,
  pythonOf,
  type TreeFacts,
  typescriptOf,
} from "./tree-declarations.ts";

export const TYPES_FILE = "hydraconf.d.ts";
export const STUBS_FILE = "config_types.pyi";

/** A file of declarations, and what to do with it. */
export interface DeclarationFile {
  readonly text: (facts: TreeFacts) => string;
  /** `-` for standard output. */
  readonly file: string;
  readonly mode: "write" | "check" | "watch";
  readonly option: "types" | "stubs";
}

/** A tree as it is now. */
export interface TreeNow {
  /** @throws ConfigError if the primary config does not compose */
  readonly declared: () => DeclaredTree;
  readonly configName: string;
  /** The directories of its files. */
  readonly directories: readonly string[];
}

/**
 * What a command line asks for; undefined if it asks for no declarations.
 * @throws ConfigError `app.usage`
 */
export function declarationFile(command: ParsedCommand): DeclarationFile | undefined {
  const [types, stubs] = [
    command.has("types") && command.value("from") === undefined,
    command.has("stubs"),
  ];
  const [check, watching] = [command.has("check"), command.has("watch")];
  if (types && stubs) throw usage("--types and --stubs write a file each: give one of them");
  if (check && watching) throw usage("--check writes nothing, and --watch again and again");
  if (!types && !stubs) {
    if (!check && !watching) return undefined;
    throw usage(`--${check ? "check" : "watch"} needs --types or --stubs, of a tree`);
  }
  const file = command.value("output") ?? (types ? TYPES_FILE : STUBS_FILE);
  if (file === "-" && (check || watching)) throw usage("--check and --watch need a file");
  return {
    text: types ? typescriptOf : pythonOf,
    file,
    mode: check ? "check" : watching ? "watch" : "write",
    option: types ? "types" : "stubs",
  };
}

/**
 * Writes, prints, checks or follows the declarations of a tree.
 * @param isNamed whether only the config of this name counts, and not all primary configs of the tree
 * @returns the exit code
 * @throws ConfigError of a tree that does not compose, `app.system`; `schema.mismatch` for a file that is out of date
 */
export async function makeDeclarations(
  open: () => TreeNow,
  { file, mode, option, text }: DeclarationFile,
  { console, cwd }: Invocation,
  isNamed: boolean,
): Promise<number> {
  const path = resolve(cwd, file);
  const shown = readablePath(path, cwd);
  const made = ({ configName, declared }: TreeNow): string => {
    const tree = declared();
    return text(factsOf(tree, isNamed ? [configName] : primaryConfigs(tree, configName)));
  };
  const write = async (content: string): Promise<void> => {
    await writeText(path, content, cwd);
    console.stdout(`${shown}\n`);
  };
  if (file === "-") console.stdout(made(open()));
  else if (mode === "check") refuseOld(textOf(path), made(open()), shown, option);
  else if (mode === "write") await write(made(open()));
  else
    await follow(
      open,
      async (tree) => {
        const content = made(tree);
        if (textOf(path) !== content) await write(content);
      },
      console,
    );
  return 0;
}

function refuseOld(
  found: string | undefined,
  made: string,
  shown: string,
  option: DeclarationFile["option"],
): void {
  if (found === made) return;
  throw new ConfigError({
    code: "schema.mismatch",
    message:
      found === undefined
        ? `There is no file '${shown}'`
        : `'${shown}' is not what the tree gives: a config was changed after it was made`,
    hint: `hydraconf schema --${option}, with the same options, makes it`,
  });
}

/** Ends with Ctrl-C. A tree that does not compose is told, and the file stays. */
async function follow(
  open: () => TreeNow,
  write: (tree: TreeNow) => Promise<void>,
  { stderr }: Console,
): Promise<never> {
  for (;;) {
    const tree = open();
    // Before the tree is read, so that no change is missed.
    const changed = changeIn(tree.directories);
    try {
      await write(tree);
    } catch (error) {
      if (!isConfigError(error)) throw error;
      stderr(`${renderError(error)}\n`);
    }
    await changed;
  }
}

/** Milliseconds after a change: editors and git write several files at once. */
const SETTLING = 50;

/** Resolves when a file in the directories was changed, and they have been still for a moment. */
function changeIn(directories: readonly string[]): Promise<void> {
  return new Promise((done) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      for (const watcher of watchers) watcher.close();
      done();
    };
    const watchers = directories
      .filter((directory) => existsSync(directory))
      .map((directory) =>
        watch(directory, { recursive: true }, () => {
          clearTimeout(timer);
          timer = setTimeout(end, SETTLING);
        }),
      );
  });
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

/** @throws ConfigError `app.system` */
export async function writeText(path: string, content: string, cwd: string): Promise<void> {
  try {
    await writeFileAtomic(path, content);
  } catch (cause) {
    throw new ConfigError({
      code: "app.system",
      message: `Cannot write '${readablePath(path, cwd)}': ${fileProblem(cause)}`,
      hint: "choose another place with --output PATH",
      cause,
    });
  }
}
