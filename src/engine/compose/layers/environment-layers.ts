/** Layers of the environment: variables by prefix or table, `.env` files, files with secrets. */
import {
  checkOptions,
  type OptionCheck,
  type OptionChecks,
  oneOf,
  optional,
  path,
  recordOf,
  text,
} from "../../values/check-options.ts";
import { ConfigError } from "../../values/errors.ts";
import { splitKey } from "../../values/key-path.ts";
import { fromCode } from "../../values/origin.ts";
import type { FileSystem } from "../sources/directory-source.ts";
import type { ConfigLayer, LayerValue, Variable } from "./layer.ts";

/** Which variables set which keys. */
export interface EnvironmentOptions {
  /** Variables that begin so set the key that the rest names: `APP_DB__PORT` is `db.port` for `APP_`. */
  readonly prefix?: string;
  /** What stands between the names of keys in a variable. Default: `__`. */
  readonly separator?: string;
  /** The key of each of these variables: `{ PORT: "server.port" }`. */
  readonly table?: Readonly<Record<string, string>>;
  /**
   * The ending of variables that name a file with the value: with `_FILE`, `APP_DB__PASSWORD_FILE=/run/secrets/db` sets
   * `db.password` to its content, which is masked. Default: none.
   */
  readonly fileSuffix?: string;
  /** Whether a variable with the prefix whose key the config does not have is an error, or left out. Default: `refuse`. */
  readonly unknown?: "refuse" | "ignore";
}

const UNKNOWN: OptionCheck = optional(oneOf("refuse", "ignore"));

const ENVIRONMENT_OPTIONS: OptionChecks<EnvironmentOptions> = {
  prefix: optional(text),
  separator: optional(text),
  table: optional(recordOf(text)),
  fileSuffix: optional(text),
  unknown: UNKNOWN,
};

/**
 * Values of environment variables: all that begin with a prefix, and those of a table.
 *
 * @throws ConfigError `value.wrong_type` for wrong options
 */
export function environment(options: EnvironmentOptions): ConfigLayer {
  checkOptions("environment", options, ENVIRONMENT_OPTIONS, 'environment({ prefix: "APP_" })');
  const { fileSuffix, prefix, separator = "__", table = {}, unknown } = options;
  if (prefix === "" || separator === "")
    throw new ConfigError({
      code: "value.wrong_type",
      message: "environment: the prefix and the separator must not be empty",
      hint: 'environment({ prefix: "APP_" }), or environment({ table: { PORT: "server.port" } })',
    });
  const keyOf = (name: string): readonly string[] | undefined => {
    const key = Object.hasOwn(table, name) ? table[name] : undefined;
    if (key !== undefined) return splitKey(key);
    if (prefix === undefined || !name.startsWith(prefix) || name === prefix) return undefined;
    return name.slice(prefix.length).split(separator);
  };
  const nameOf = (keys: readonly string[]): string =>
    `${prefix}${keys.map((key) => wordsOf(key, separator).toUpperCase()).join(separator)}`;
  return {
    settersOf: (keys) => [
      ...Object.entries(table).flatMap(([name, key]) =>
        splitKey(key).join(".") === keys.join(".") ? [`environment variable ${name}`] : [],
      ),
      ...(prefix === undefined || !keys.every(isSettable)
        ? []
        : [`environment variable ${nameOf(keys)}`]),
    ],
    name: `variables ${[...(prefix === undefined ? [] : [`${prefix}*`]), ...Object.keys(table)].join(", ")}`,
    values({ cwd, files, variables }) {
      const found: LayerValue[] = [];
      // A key may have several spellings: the process's variable replaces that of a file in any of them.
      const isOfProcess = ({ origin }: Variable): boolean => origin.kind === "environment";
      const all = [...variables.values()];
      for (const variable of [
        ...all.filter((variable) => !isOfProcess(variable)),
        ...all.filter(isOfProcess),
      ]) {
        const { name, origin, text } = variable;
        const label = `environment variable ${name}`;
        const isFile = fileSuffix !== undefined && fileSuffix !== "" && name.endsWith(fileSuffix);
        const path = keyOf(isFile ? name.slice(0, -fileSuffix.length) : name);
        if (path === undefined) continue;
        const isOfTable = Object.hasOwn(table, isFile ? name.slice(0, -fileSuffix.length) : name);
        const isOptional = unknown === "ignore" && !isOfTable;
        const named = (keys: readonly string[]): string =>
          `${nameOf(keys)}${isFile ? fileSuffix : ""}`;
        const common = { path, origin, label, isOptional, ...(!isOfTable && { nameOf: named }) };
        if (!isFile) found.push({ ...common, text });
        else
          found.push({
            ...common,
            text: secretText(files, files.resolve(cwd, text), variable),
            origin: fromCode(`the file ${text} of ${label}`),
            isSecret: true,
          });
      }
      return found;
    },
  };
}

/** Whether a shell can set a variable with the name of a key in it. */
const isSettable = (key: string): boolean => /^[\w-]+$/.test(key);

/** A key in words: `max_connections` of `maxConnections`, unless that would read as several keys. */
function wordsOf(key: string, separator: string): string {
  const words = key.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|-/g, "_");
  return words.includes(separator) ? key.replaceAll(/[_-]/g, "") : words;
}

function secretText(files: FileSystem, file: string, { name, origin, text }: Variable): string {
  const content = files.read(file);
  if (content !== undefined) return withoutLineBreak(content);
  throw new ConfigError({
    code: "compose.missing_config",
    message: `environment variable ${name}: there is no file ${text}`,
    origin,
    hint: "it must name a file that holds the value",
  });
}

/** Editors and `echo` end a file with a line break, which is no part of a secret. */
const withoutLineBreak = (content: string): string => content.replace(/\r?\n$/, "");

/** Where `.env` files are. */
export interface DotenvOptions {
  /** Their directory, relative to the working directory. Default: the working directory. */
  readonly directory?: string;
  /** The mode, whose files come after the others: `production`. Default: the variable `NODE_ENV`, if it is set. */
  readonly mode?: string;
}

const DOTENV_OPTIONS: OptionChecks<DotenvOptions> = {
  directory: optional(path),
  mode: optional(text),
};

/**
 * Variables of `.env`, `.env.local`, `.env.MODE` and `.env.MODE.local`: a later file replaces an earlier one, as in Vite, and the process's own
 * variables replace all of them, as in dotenv. They are read as dotenv reads them, except that a line
 * that assigns nothing is an error; files that do not exist are left out.
 *
 * @throws ConfigError `value.wrong_type` for wrong options
 * @see https://vite.dev/guide/env-and-mode
 */
export function dotenv(options: DotenvOptions = {}): ConfigLayer {
  checkOptions("dotenv", options, DOTENV_OPTIONS, "dotenv()");
  return {
    name: ".env files",
    variables({ cwd, files, variables }) {
      const { directory = ".", mode = variables.get("NODE_ENV")?.text ?? "" } = options;
      const suffixes = ["", ".local", ...(mode === "" ? [] : [`.${mode}`, `.${mode}.local`])];
      return suffixes.flatMap((suffix) => {
        const file = files.resolve(files.resolve(cwd, directory), `.env${suffix}`);
        const content = files.read(file);
        return content === undefined ? [] : parseDotenv(files.shown(file, cwd), content);
      });
    },
  };
}

const BLANK = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const ASSIGNMENT =
  /[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:(["'`])((?:\\[\s\S]|(?!\2)[^\\])*)\2[ \t]*(?:#[^\n]*)?|([^\n#]*)(?:#[^\n]*)?)(?:\n|$)/y;

/**
 * The variables of a `.env` file, with their places.
 *
 * @param name of the file, for messages
 * @throws ConfigError `compose.invalid_config` for a line that assigns nothing
 */
export function parseDotenv(name: string, content: string): readonly Variable[] {
  const source = { name, text: content.replaceAll("\r\n", "\n") };
  const variables: Variable[] = [];
  for (let offset = source.text.startsWith("\ufeff") ? 1 : 0; offset < source.text.length; ) {
    BLANK.lastIndex = offset;
    if (BLANK.test(source.text)) {
      offset = BLANK.lastIndex;
      continue;
    }
    ASSIGNMENT.lastIndex = offset;
    const found = ASSIGNMENT.exec(source.text);
    if (found === null) throw noAssignment(source, offset);
    const [whole, variable = "", quote, quoted, plain = ""] = found;
    const value = quote === undefined ? plain.trim() : (quoted ?? "");
    const start = offset + whole.indexOf(value, whole.indexOf("=") + 1);
    variables.push({
      name: variable,
      text: quote === '"' ? value.replaceAll("\\n", "\n").replaceAll("\\r", "\r") : value,
      origin: { kind: "file", source, start, end: start + value.length },
    });
    offset = ASSIGNMENT.lastIndex;
  }
  return variables;
}

/** Without the line itself: it may be one of a private key. */
function noAssignment(
  { name, text }: { readonly name: string; readonly text: string },
  start: number,
) {
  const line = text.slice(0, start).split("\n").length;
  return new ConfigError({
    code: "compose.invalid_config",
    message: `${name}:${line}: the line is no assignment`,
    hint: "each line is NAME=value; a value with line breaks or # stands in quotes",
  });
}

/** Where files with secrets are, and which keys they set. */
export interface SecretFilesOptions {
  /** Default: `/run/secrets`, where Docker and Podman put them. */
  readonly directory?: string;
  /** The key of each file; others are not read. Default: each file sets the key of its name. */
  readonly table?: Readonly<Record<string, string>>;
  /** What stands between the names of keys in a file's name. Default: `__`. */
  readonly separator?: string;
  /** Whether a file whose key the config does not have is an error, or left out. Default: `refuse`. */
  readonly unknown?: "refuse" | "ignore";
}

const SECRET_OPTIONS: OptionChecks<SecretFilesOptions> = {
  directory: optional(path),
  table: optional(recordOf(text)),
  separator: optional(text),
  unknown: UNKNOWN,
};

/**
 * Values of files that hold one secret each: `db__password` sets `db.password`. They are masked wherever the config is shown. Without the
 * directory, there are none.
 *
 * @throws ConfigError `value.wrong_type` for wrong options
 */
export function secretFiles(options: SecretFilesOptions = {}): ConfigLayer {
  checkOptions(
    "secretFiles",
    options,
    SECRET_OPTIONS,
    'secretFiles({ directory: "/run/secrets" })',
  );
  const { directory = "/run/secrets", separator = "__", table, unknown } = options;
  return {
    settersOf: (keys) =>
      (table === undefined
        ? [keys.join(separator)].filter((name) => !name.includes("/"))
        : Object.keys(table).filter(
            (name) => splitKey(table[name] ?? "").join(".") === keys.join("."),
          )
      ).map((name) => `secret file ${directory}/${name}`),
    name: `secrets of ${directory}`,
    values({ cwd, files }) {
      const root = files.resolve(cwd, directory);
      const names =
        files.kindOf(root) !== "directory"
          ? []
          : table === undefined
            ? files
                .namesIn(root)
                .filter((name) => !name.startsWith("."))
                .toSorted()
            : Object.keys(table);
      return names.flatMap((name): readonly LayerValue[] => {
        const content = files.read(files.resolve(root, name));
        if (content === undefined) return [];
        const label = `secret file ${directory}/${name}`;
        return [
          {
            path: table === undefined ? name.split(separator) : splitKey(table[name] ?? name),
            text: withoutLineBreak(content),
            // Not the place in the file: messages quote the lines of such places.
            origin: fromCode(label),
            label,
            isSecret: true,
            isOptional: unknown === "ignore",
            ...(table === undefined && { nameOf: (keys) => keys.join(separator) }),
          },
        ];
      });
    },
  };
}
