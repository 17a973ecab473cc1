/** `hydraconf schema`: writes schemas for editors and TypeScript types. */
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { dialectNamed } from "../../../engine/values/dialect.ts";
import { ConfigError } from "../../../engine/values/errors.ts";
import { toObject } from "../../../engine/values/plain-objects.ts";
import { resolveWherePossible } from "../../../engine/values/resolution/resolve-tree.ts";
import { readYaml } from "../../../engine/values/yaml/reader.ts";
import { fileProblem, readablePath } from "../../../foundation/system/files.ts";
import { type CommandLine, commandHelp, usage } from "../../command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../command-line/parse.ts";
import { openComposer, openSchemas, type Schemas } from "../../job/composer.ts";
import type { ProgramOptions } from "../../job/options.ts";
import type { Invocation } from "../../job/process/invocation.ts";
import type { ParsedArguments } from "../../job/session.ts";
import type { Plugin } from "../../plugins/contract/plugin.ts";
import type { Settings } from "../../plugins/load-settings.ts";
import { loadSettings } from "../../plugins/settings-files.ts";
import { STANDARD_PLUGINS } from "../../plugins/standard-plugins.ts";
import {
  declarationFile,
  makeDeclarations,
  STUBS_FILE,
  type TreeNow,
  TYPES_FILE,
  writeText,
} from "./declaration-file.ts";
import { schemaAt, typesOf } from "./schema-types.ts";
import {
  groupSchema,
  groupsWithOptions,
  primarySchema,
  type TreeOfConfigs,
} from "./tree-schemas.ts";

export const COMMAND: CommandLine = {
  name: "hydraconf schema",
  takes: { shown: "[GROUP]", expected: "at most one GROUP", most: 1 },
  about: `Prints a JSON Schema of the files of a config tree, for editors: of the options of GROUP, e.g. db or
model/arch, or, without it, of the primary config. Keys and types are those in the files; defaults
lists allow the options of each group. It changes nothing but the files that it says it writes.`,
  options: {
    "config-path": { short: "cp", value: "DIR", help: "the tree (default: the program's, conf)" },
    "config-name": {
      short: "cn",
      value: "NAME",
      help: "the primary config (default: the program's, config)",
    },
    app: { value: "FILE", help: "the program whose tree it is, or its name in hydraconf.yaml" },
    "config-dir": { short: "cd", value: "DIR", help: "a directory added to the search path" },
    output: {
      short: "o",
      value: "PATH",
      help: `write all schemas below a directory: NAME.schema.json and groups/GROUP.schema.json;
with --types and --stubs, the file (default: ${TYPES_FILE}, ${STUBS_FILE}; - prints it)`,
    },
    types: { help: `write TypeScript declarations of the tree: groups, options, composed configs` },
    stubs: { help: "write Python stubs of the composed configs, so that cfg.db.port has a type" },
    check: {
      help: "with --types or --stubs: write nothing, and fail if the file is not up to date",
    },
    watch: { help: "with --types or --stubs: write again whenever a file of the tree changes" },
    from: {
      value: "FILE",
      help: "with --types: print the types of this JSON Schema (JSON or YAML); FILE#/a/b for the schema at /a/b",
    },
    readonly: { help: "with --from: members and lists that cannot be changed" },
  },
  epilogue: `  hydraconf schema -o schemas             all schemas of the tree in conf/
  hydraconf schema --types                ${TYPES_FILE}: compose({ overrides }) and get know the tree
  hydraconf schema --types --check        for CI
  hydraconf schema --types --from my.schema.json

An editor with yaml-language-server checks and completes a file whose first line is
  # yaml-language-server: $schema=../../schemas/groups/db.schema.json

Exit code: 0 printed or written, 1 the tree or the schema cannot be read, or --check found the file out of date, 2 wrong usage.`,
};

/** Chooses the tree of the program that is here, as `hydraconf` does. */
export type ChooseTree = (call: {
  readonly parsed: ParsedArguments;
  readonly invocation: Invocation;
  readonly settings: Settings;
}) => Promise<{ readonly options?: Partial<ProgramOptions>; readonly env?: Invocation["env"] }>;

/** `hydraconf schema`. */
export async function runSchema(
  args: readonly string[],
  invocation: Invocation,
  chooseTree: ChooseTree = async () => ({}),
): Promise<number> {
  const command = parseCommandLine(COMMAND, args);
  const { console } = invocation;
  if (command.has("help")) {
    console.stdout(commandHelp(COMMAND));
    return 0;
  }
  const [group] = command.positionals;
  const [from, output] = [command.value("from"), command.value("output")];
  const declarations = declarationFile(command);
  if (from !== undefined && !command.has("types")) throw usage("--from needs --types");
  if (command.has("readonly") && from === undefined) throw usage("--readonly needs --types --from");
  if ((declarations !== undefined || from !== undefined) && group !== undefined)
    throw usage("--types and --stubs are of the whole tree, and take no GROUP");
  if (from !== undefined) {
    if (output !== undefined) throw usage("--from prints the types, and takes no --output");
    const { schema, name } = readSchema(from, invocation.cwd);
    console.stdout(await typesOf(schema, { name, isReadonly: command.has("readonly") }));
    return 0;
  }
  const loadable = await loadSettings(STANDARD_PLUGINS, invocation, {
    trustCommand: "hydraconf trust",
  });
  const { settings } = loadable;
  const named = ["config-path", "config-name", "app"].flatMap((name) => {
    const value = command.value(name as "app");
    return value === undefined ? [] : [[name, value] as const];
  });
  const parsed = { flags: new Map(named), overrides: [] };
  const { env = invocation.env, options = {} } = await chooseTree({ parsed, invocation, settings });
  const plugins = await loadable.plugins();
  const request = { plugins, options, schemas: await openSchemas(options) };
  const open = () => openTreeOf(command, { ...invocation, env }, request);
  if (declarations !== undefined)
    return makeDeclarations(open, declarations, invocation, command.has("config-name"));
  const tree = open().files();
  if (output !== undefined) await writeAll(tree, output, invocation);
  else console.stdout(text(group === undefined ? primarySchema(tree) : groupSchema(tree, group)));
  return 0;
}

/** Composes with `multirun`, which allows a tree with open groups. */
function openTreeOf(
  command: ParsedCommand,
  invocation: Invocation,
  {
    options,
    plugins,
    schemas,
  }: {
    readonly options: Partial<ProgramOptions>;
    readonly plugins: readonly Plugin[];
    readonly schemas: Schemas;
  },
): OpenTree {
  const { cwd } = invocation;
  const { packageRoots, store, versionBase } = options;
  const configName = command.value("config-name") ?? options.configName ?? "config";
  const path = command.value("config-path") ?? options.configPath ?? "conf";
  const configDir = command.value("config-dir");
  const composer = openComposer(
    {
      jobName: options.jobName ?? "hydraconf",
      configPath: path.includes("://") ? path : resolve(cwd, path),
      configName,
      plugins,
      schemas,
      ...(configDir !== undefined && { configDir }),
      ...(packageRoots && { packageRoots }),
      ...(store && { store }),
      ...(typeof versionBase === "string" && { dialect: dialectNamed(versionBase) }),
    },
    invocation,
  );
  const compose = (name: string, overrides: readonly string[]) =>
    composer.compose(overrides, { configName: name, mode: "multirun" });
  return {
    files: () => {
      const { config, repository } = compose(configName, []);
      return { repository, configName, config };
    },
    declared: () => ({
      name: path.includes("://") ? path : basename(resolve(cwd, path)),
      // With the search path that the primary config adds to.
      repository: compose(configName, []).repository,
      compose,
      resolve: (config) => resolveWherePossible(config, composer.context),
    }),
    configName,
    directories: composer.repository.sources
      .filter(({ scheme }) => scheme === "file")
      .map((source) => resolve(cwd, source.path)),
  };
}

/** A tree whose files are read when they are asked for. */
interface OpenTree extends TreeNow {
  /** @throws ConfigError if the primary config does not compose */
  readonly files: () => TreeOfConfigs;
}

async function writeAll(tree: TreeOfConfigs, output: string, { console, cwd }: Invocation) {
  const directory = resolve(cwd, output);
  const files: readonly (readonly [string, object])[] = [
    [`${tree.configName}.schema.json`, primarySchema(tree)],
    ...groupsWithOptions(tree.repository).map(
      (group) => [`groups/${group}.schema.json`, groupSchema(tree, group)] as const,
    ),
  ];
  for (const [name, schema] of files) {
    const file = join(directory, name);
    await writeText(file, text(schema), cwd);
    console.stdout(`${readablePath(file, cwd)}\n`);
  }
}

const text = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;

/** @param from `FILE`, or `FILE#POINTER` for a schema inside of it */
function readSchema(from: string, cwd: string): { readonly schema: object; readonly name: string } {
  const [, file = from, pointer] = /^(.*?)(#\/.*)$/s.exec(from) ?? [];
  let document: unknown;
  try {
    const text = readFileSync(resolve(cwd, file), "utf8");
    document = /\.ya?ml$/.test(file) ? toObject(readYaml(text, { name: file })) : JSON.parse(text);
  } catch (cause) {
    const [problem] = fileProblem(cause).split("\n");
    throw new ConfigError({
      code: "schema.invalid",
      message: `Cannot read the JSON Schema '${file}': ${problem}`,
      cause,
    });
  }
  const name = basename(file).replace(/(\.schema)?\.(json|ya?ml)$/, "");
  const schema = pointer === undefined ? document : schemaAt(document as object, pointer);
  return { schema: schema as object, name };
}
