import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ConfigError } from "../../values/errors.ts";
import { fromCode } from "../../values/origin.ts";
import type { ConfigSource, ItemKind } from "./config-source.ts";
import { yamlFileName } from "./file-name.ts";
import { configFromText } from "./load-config.ts";

export interface FileSourceOptions {
  readonly provider: string;
  /** As the user gave it; relative paths start at `cwd`. */
  readonly path: string;
  readonly cwd: string;
}

/** A directory of YAML files (`file://DIR`). */
export function fileSource({ provider, path, cwd }: FileSourceOptions): ConfigSource {
  const root = resolve(cwd, path);
  const info = { scheme: "file", path, provider };

  return {
    ...info,
    available: () => isDirectory(root),
    isGroup: (group) => isDirectory(join(root, group)),
    load(configPath) {
      const file = join(root, yamlFileName(configPath));
      const text = readIfFile(file);
      // Messages name the file as the user would type it from where the program runs.
      return text === undefined
        ? undefined
        : configFromText(configPath, { name: displayName(cwd, file), text }, info);
    },
    list: (group, kind) => listDirectory(join(root, group), kind),
  };
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readIfFile(file: string): string | undefined {
  const stat = statSync(file, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return undefined;
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new ConfigError({
      code: "compose.invalid_config",
      message: `Cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      origin: fromCode("config source"),
      cause,
    });
  }
}

function listDirectory(dir: string, kind: ItemKind): string[] {
  const names = readdirSync(dir);
  if (kind === "group")
    return names.filter((name) => name !== "__pycache__" && isDirectory(join(dir, name)));
  return names
    .filter((name) => name.endsWith(".yaml") && !isDirectory(join(dir, name)))
    .map((name) => name.slice(0, -".yaml".length));
}

function displayName(cwd: string, file: string): string {
  const short = relative(cwd, file);
  return short.startsWith("..") ? file : short;
}
