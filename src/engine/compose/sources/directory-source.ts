/** A directory of YAML files as a source of configs, on whatever file system it is. */

import { DEFAULT_DIALECT, type Dialect } from "../../values/dialect.ts";
import { ConfigError } from "../../values/errors.ts";
import {
  type ConfigSource,
  type ItemKind,
  refuseYml,
  type Surroundings,
  yamlFileName,
} from "./config-source.ts";
import { type ConfigFormat, readFormat, type SourceReading } from "./formats.ts";
import { configFromNode, configFromText, packageHeader } from "./load-config.ts";

/** The files that directories of configs are read from: those of this machine, or files in memory. */
export interface FileSystem {
  /** The absolute path; a relative one starts at the directory. */
  resolve(directory: string, path: string): string;
  /** A path as messages show it: relative to the working directory, if it lies below it. */
  shown(path: string, cwd: string): string;
  /** Undefined also for what cannot be examined. */
  kindOf(path: string): "file" | "directory" | "other" | undefined;
  /**
   * The text of a file; undefined if there is none.
   * @throws ConfigError `compose.invalid_config` for one that cannot be read
   */
  read(path: string): string | undefined;
  /**
   * The names in a directory, in no particular order.
   * @throws ConfigError `compose.invalid_config` for one that cannot be read
   */
  namesIn(directory: string): readonly string[];
  /** What is at, and near, a path that is no directory. */
  around(path: string): Surroundings;
}

interface DirectorySourceOptions {
  readonly provider: string;
  /** The user's path; relative paths start at `cwd`. */
  readonly path: string;
  readonly cwd: string;
  readonly reading?: SourceReading;
}

/** A directory of YAML files (`file://DIR`). */
export function directorySource(
  { provider, path, cwd, reading }: DirectorySourceOptions,
  disk: FileSystem,
): ConfigSource {
  const files = reading?.overlay === undefined ? disk : overlaid(disk, reading.overlay);
  const root = files.resolve(cwd, path);
  const info = { scheme: "file", path, provider };
  const dialect = reading?.dialect ?? DEFAULT_DIALECT;
  const formats = reading?.formats ?? [];
  const otherFormat = (configPath: string): OtherFile | undefined => {
    const found = formats.flatMap((format) => {
      const { extension } = format;
      const named = configPath.endsWith(extension) ? configPath : `${configPath}${extension}`;
      const file = files.resolve(root, named);
      const content = files.read(file);
      return content === undefined ? [] : [{ format, file, content }];
    });
    const [first, ...more] = found;
    if (more.length > 0)
      throw severalFiles(
        configPath,
        found.map(({ file }) => files.shown(file, cwd)),
      );
    return first;
  };
  const loadOther = (configPath: string, { content, file, format }: OtherFile) => {
    const source = { name: files.shown(file, cwd), text: content };
    const node = readFormat(format, source, reading);
    return configFromNode(configPath, node, info, packageHeader(source), dialect);
  };
  const isDirectory = (directory: string): boolean => files.kindOf(directory) === "directory";

  return {
    ...info,
    available: () => isDirectory(root),
    isGroup: (group) => isDirectory(files.resolve(root, group)),
    load(configPath) {
      refuseYml(configPath, dialect);
      const file = files.resolve(root, yamlFileName(configPath, dialect));
      const text = files.read(file);
      const other = otherFormat(configPath);
      // Messages name the file relative to the program's working directory, as the user would type it.
      if (text === undefined && other === undefined) return undefined;
      if (text !== undefined && other !== undefined)
        throw severalFiles(
          configPath,
          [file, other.file].map((path) => files.shown(path, cwd)),
        );
      if (text !== undefined)
        return configFromText(configPath, { name: files.shown(file, cwd), text }, info, reading);
      return other && loadOther(configPath, other);
    },
    list(group, kind) {
      const dir = files.resolve(root, group);
      const names = files.namesIn(dir);
      if (dialect.refusesYml) for (const name of names) refuseYml(name, dialect);
      const listed = listDirectory(dir, names, kind, files, dialect);
      if (kind === "group" || formats.length === 0) return listed;
      const others = names.filter((name) =>
        formats.some(
          ({ extension }) =>
            name.endsWith(extension) && files.kindOf(files.resolve(dir, name)) === "file",
        ),
      );
      return [...new Set([...listed, ...others.map(withoutLastPart)])];
    },
    similarFile(configPath) {
      const file = OTHER_ENDINGS.map((ending) => files.resolve(root, configPath + ending)).find(
        (other) => files.kindOf(other) !== undefined,
      );
      return file === undefined || path.startsWith("/") ? file : files.shown(file, cwd);
    },
    surroundings: () => files.around(root),
  };
}

/** A config file of a format that is not YAML. */
interface OtherFile {
  readonly format: ConfigFormat;
  readonly file: string;
  readonly content: string;
}

const severalFiles = (configPath: string, names: readonly string[]): ConfigError =>
  new ConfigError({
    code: "compose.invalid_config",
    message: `The config '${configPath}' is in several files: ${names.join(", ")}`,
    key: configPath,
    hint: "keep one of them, or give them different names",
  });

/** Of files that are easily taken for configs. */
const OTHER_ENDINGS = [".yml", ".json"];

/**
 * The options of a directory: each entry that can be loaded by its own name, without the part after the last dot.
 * Beside `v1.0.yaml`, a folder `v1.0` is the option `v1`. The rule is Hydra's.
 */
function listDirectory(
  dir: string,
  all: readonly string[],
  kind: ItemKind,
  files: FileSystem,
  dialect: Dialect,
): string[] {
  const names = all.filter((name) => !NEVER_LISTED.has(name));
  if (kind === "group")
    return names.filter((name) => files.kindOf(files.resolve(dir, name)) === "directory");
  const options = names
    .filter((name) => files.kindOf(files.resolve(dir, yamlFileName(name, dialect))) === "file")
    .map(withoutLastPart);
  return [...new Set(options)];
}

const NEVER_LISTED: ReadonlySet<string> = new Set(["__pycache__", "__init__.py"]);

function withoutLastPart(name: string): string {
  const dot = name.lastIndexOf(".");
  return dot < 0 ? name : name.slice(0, dot);
}

/** Files with texts over them, which may be new or count as absent: `Reading.overlay`. */
function overlaid(files: FileSystem, texts: NonNullable<SourceReading["overlay"]>): FileSystem {
  return {
    ...files,
    kindOf(path) {
      const text = texts.get(path);
      if (text === undefined) return files.kindOf(path);
      return text === null ? undefined : "file";
    },
    read(path) {
      const text = texts.get(path);
      return text === undefined ? files.read(path) : (text ?? undefined);
    },
    namesIn(directory) {
      const names = new Set(files.namesIn(directory));
      for (const [file, text] of texts) {
        const name = file.slice(directory.length + 1);
        if (!file.startsWith(`${directory}/`) || name.includes("/")) continue;
        if (text === null) names.delete(name);
        else names.add(name);
      }
      return [...names];
    },
  };
}
