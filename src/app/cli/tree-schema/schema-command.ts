/** `hydraconf schema`: writes schemas for editors and TypeScript types. */
import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { dialectNamed } from "../../../engine/values/dialect.ts";
import { ConfigError, isConfigError } from "../../../engine/values/errors.ts";
import type { ConfigNode } from "../../../engine/values/node.ts";
import { toObject } from "../../../engine/values/plain-objects.ts";
import { resolveTree } from "../../../engine/values/resolution/resolve-tree.ts";
import { readYaml } from "../../../engine/values/yaml/reader.ts";
import { writeFileAtomic } from "../../../foundation/system/atomic-write.ts";
import { fileProblem, readablePath } from "../../../foundation/system/files.ts";
import { type CommandLine, commandHelp, usage } from "../../command-line/command-line.ts";
import { type ParsedCommand, parseCommandLine } from "../../command-line/parse.ts";
import { openComposer, openSchemas, type Schemas } from "../../job/composer.ts";
import type { ProgramOptions } from "../../job/options.ts";
import type { Invocation } from "../../job/process/invocation.ts";
import type { ParsedArguments } from "../../job/session.ts";
import type { Plugin } from "../../plugins/contract/plugin.ts";
import type { Settings } from "../../plugins/load-settings.ts";
import { loadSettings } from "../../plugins/settings.ts";
import { STANDARD_PLUGINS } from "../../plugins/standard-plugins.ts";
import { schemaAt, typesOf } from "./schema-types.ts";
import {
  dataSchema,
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
lists allow the options of each group. It changes nothing.`,
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
      value: "DIR",
      help: "write all schemas: DIR/NAME.schema.json and DIR/groups/GROUP.schema.json",
    },
    types: { help: "TypeScript types of the composed config instead" },
    from: {
      value: "FILE",
      help: "with --types: of this JSON Schema (JSON or YAML) instead of a tree; FILE#/a/b for the schema at /a/b",
    },
    readonly: { help: "with --types: members and lists that cannot be changed" },
  },
  epilogue: `  hydraconf schema -o schemas             all schemas of the tree in conf/
  hydraconf schema --types > config.ts    types for hydraMain or compose
  hydraconf schema --types --from my.schema.json

An editor with yaml-language-server checks and completes a file whose first line is
  # yaml-language-server: $schema=../../schemas/groups/db.schema.json

Exit code: 0 printed or written, 1 the tree or the schema cannot be read, 2 wrong usage.`,
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
  const isTypes = command.has("types");
  const isReadonly = command.has("readonly");
  if (from !== undefined && !isTypes) throw usage("--from needs --types");
  if (isReadonly && !isTypes) throw usage("--readonly needs --types");
  if (isTypes && (group ?? output) !== undefined)
    throw usage("--types takes neither GROUP nor --output");
  if (from !== undefined) {
    const { schema, name } = readSchema(from, invocation.cwd);
    console.stdout(await typesOf(schema, { name, isReadonly }));
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
  const tree = openTreeOf(command, { ...invocation, env }, request);
  if (isTypes)
    console.stdout(await typesOf(dataSchema(tree), { name: tree.configName, isReadonly }));
  else if (output !== undefined) await writeAll(tree, output, invocation);
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
): TreeOfConfigs {
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
  const { config, repository } = composer.compose([], { mode: "multirun" });
  const resolved = (): ConfigNode => {
    try {
      return resolveTree(config, composer.context, { toMissing: "missing" });
    } catch (error) {
      // Some values are known only in a run.
      if (isConfigError(error)) return config;
      throw error;
    }
  };
  return { repository, configName, config, resolved };
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
    try {
      await writeFileAtomic(file, text(schema));
    } catch (cause) {
      throw new ConfigError({
        code: "app.system",
        message: `Cannot write '${readablePath(file, cwd)}': ${fileProblem(cause)}`,
        hint: "choose another directory with --output DIR",
        cause,
      });
    }
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
