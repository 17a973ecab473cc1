import { isUtf8 } from "node:buffer";
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { errorCode, refuseOther } from "../../system/files.ts";
import { ConfigError } from "../../values/errors.ts";
import type { Limits } from "../../values/limits.ts";
import { fromCode } from "../../values/origin.ts";
import type { ConfigSource, ItemKind } from "./config-source.ts";
import { yamlFileName } from "./file-name.ts";
import { configFromText } from "./load-config.ts";

export interface FileSourceOptions {
  readonly provider: string;
  /** As the user gave it; relative paths start at `cwd`. */
  readonly path: string;
  readonly cwd: string;
  /** How much the aliases of a file may add; default: what the environment says. */
  readonly limits?: Limits | undefined;
}

/** A directory of YAML files (`file://DIR`). */
export function fileSource({ provider, path, cwd, limits }: FileSourceOptions): ConfigSource {
  const root = resolve(cwd, path);
  const info = { scheme: "file", path, provider };

  return {
    ...info,
    available: () => isDirectory(root),
    isGroup: (group) => isDirectory(resolve(root, group)),
    load(configPath) {
      const file = resolve(root, yamlFileName(configPath));
      const text = readIfFile(file);
      // Messages name the file as the user would type it from where the program runs.
      return text === undefined
        ? undefined
        : configFromText(configPath, { name: displayName(cwd, file), text }, info, limits);
    },
    list: (group, kind) => listDirectory(resolve(root, group), kind),
  };
}

/** False as well where nobody may look. */
export const isDirectory = (path: string): boolean => statusOf(path)?.isDirectory() ?? false;

const isFile = (path: string): boolean => statusOf(path)?.isFile() ?? false;

function statusOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Undefined where there is no such file; a name that no file can have is not there either. */
function readIfFile(file: string): string | undefined {
  let bytes: Buffer;
  try {
    const status = statSync(file, { throwIfNoEntry: false });
    if (status === undefined || status.isDirectory()) return undefined;
    refuseOther(status, file);
    bytes = readFileSync(file);
  } catch (cause) {
    if (errorCode(cause) === "ENAMETOOLONG") return undefined;
    throw unreadable(file, cause);
  }
  if (!isUtf8(bytes)) throw notUtf8(file, bytes);
  return bytes.toString("utf8");
}

/** Read all the same, text in another encoding would become other text without a word. */
function notUtf8(file: string, bytes: Buffer): ConfigError {
  const lines = bytes.toString("latin1").split("\n");
  const line = lines.findIndex((text) => !isUtf8(Buffer.from(text, "latin1")));
  return new ConfigError({
    code: "compose.invalid_config",
    message: `Cannot read ${file}: line ${line + 1} is not UTF-8`,
    origin: fromCode("config source"),
    hint: "configs must be UTF-8, as in Hydra: save the file in that encoding",
  });
}

const unreadable = (path: string, cause: unknown): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `Cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`,
    origin: fromCode("config source"),
    cause,
  });

/**
 * An option is whatever in the directory can be loaded by its own name, without what follows the last dot
 * of that: beside `v1.0.yaml`, a folder `v1.0` is the option `v1`. The rule is Hydra's.
 */
function listDirectory(dir: string, kind: ItemKind): string[] {
  const names = namesIn(dir).filter((name) => !NEVER_LISTED.has(name));
  if (kind === "group") return names.filter((name) => isDirectory(join(dir, name)));
  const options = names
    .filter((name) => isFile(join(dir, yamlFileName(name))))
    .map(withoutLastPart);
  return [...new Set(options)];
}

const NEVER_LISTED: ReadonlySet<string> = new Set(["__pycache__", "__init__.py"]);

function withoutLastPart(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : name.slice(0, dot);
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    throw unreadable(dir, cause);
  }
}

function displayName(cwd: string, file: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") ? file : short;
}
