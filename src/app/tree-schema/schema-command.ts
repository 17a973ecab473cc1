import { readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { writeFileAtomic } from "../../system/atomic-write.ts";
import { readablePath } from "../../system/readable-path.ts";
import { ConfigError, isConfigError } from "../../values/errors.ts";
import { resolveTree } from "../../values/interpolation/resolve-tree.ts";
import { nearest } from "../../values/nearest.ts";
import type { ConfigNode } from "../../values/node.ts";
import { openComposer } from "../composer.ts";
import type { Invocation } from "../process/invocation.ts";
import {
  dataSchema,
  groupSchema,
  groupsWithOptions,
  primarySchema,
  type TreeOfConfigs,
} from "./tree-schemas.ts";
import { typesOf } from "./types.ts";

const HELP = `usage: hydraconf schema [options] [GROUP]

Prints a JSON Schema of the files of a config tree, for editors: of the options of GROUP or, without
it, of the primary config. Keys and types are those in the files; defaults lists allow the options of
each group. It changes nothing.

  GROUP                    a config group, e.g. db or model/arch
  -cp, --config-path DIR   the tree (default: conf)
  -cn, --config-name NAME  the primary config (default: config)
  -cd, --config-dir DIR    a directory added to the search path
  -o, --output DIR         write all schemas: DIR/NAME.schema.json and DIR/groups/GROUP.schema.json
      --types              TypeScript types of the composed config instead
      --from FILE          with --types: of this JSON Schema instead of a tree
  -h, --help               print this help

  hydraconf schema -o schemas             all schemas of the tree in conf/
  hydraconf schema --types > config.ts    types for hydraMain or compose
  hydraconf schema --types --from my.schema.json

An editor with yaml-language-server checks and completes a file whose first line is
  # yaml-language-server: $schema=../../schemas/groups/db.schema.json

Exit code: 0 printed or written, 1 the tree or the schema cannot be read, 2 wrong usage.
`;

const OPTIONS = {
  "config-path": { type: "string" },
  "config-name": { type: "string" },
  "config-dir": { type: "string" },
  output: { type: "string", short: "o" },
  types: { type: "boolean" },
  from: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

/** Hydra's short flags have two letters. */
const SHORT: ReadonlyMap<string, string> = new Map([
  ["-cp", "--config-path"],
  ["-cn", "--config-name"],
  ["-cd", "--config-dir"],
]);

/** `hydraconf schema`. */
export async function runSchema(args: readonly string[], invocation: Invocation): Promise<number> {
  const { positionals, values } = parse(args);
  const { console } = invocation;
  if (values.help === true) {
    console.stdout(HELP);
    return 0;
  }
  const [group, ...more] = positionals;
  if (more.length > 0) throw usage(`at most one GROUP is allowed; unexpected: '${more.join(" ")}'`);
  if (values.from !== undefined && values.types !== true) throw usage("--from needs --types");
  if (values.types === true && (group ?? values.output) !== undefined)
    throw usage("--types takes neither GROUP nor --output");
  if (values.from !== undefined) {
    console.stdout(await typesOf(readJson(values.from, invocation.cwd), typeName(values.from)));
    return 0;
  }
  const tree = openTreeOf(values, invocation);
  if (values.types === true) console.stdout(await typesOf(dataSchema(tree), tree.configName));
  else if (values.output !== undefined) await writeAll(tree, values.output, invocation);
  else console.stdout(text(group === undefined ? primarySchema(tree) : groupSchema(tree, group)));
  return 0;
}

type Values = ReturnType<typeof parse>["values"];

function parse(args: readonly string[]) {
  const long = args.map((arg) => {
    const [flag = "", ...value] = arg.split("=");
    const name = SHORT.get(flag);
    return name === undefined ? arg : [name, ...value].join("=");
  });
  try {
    return parseArgs({ args: long, options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw usage((error instanceof Error ? error.message : String(error)).split(/[.\n]/)[0] ?? "", {
      given: long,
    });
  }
}

function usage(message: string, { given = [] }: { given?: readonly string[] } = {}): ConfigError {
  const flags = Object.keys(OPTIONS).map((name) => `--${name}`);
  const unknown = given.find(
    (arg) => arg.startsWith("--") && !flags.includes(arg.split("=")[0] ?? ""),
  );
  const near = unknown === undefined ? undefined : nearest(unknown.split("=")[0] ?? "", flags);
  return new ConfigError({
    code: "app.usage",
    message,
    ...(near !== undefined && { nearest: near }),
  });
}

/** A tree whose groups are open composes all the same: `multirun` leaves them so. */
function openTreeOf(values: Values, invocation: Invocation): TreeOfConfigs {
  const { cwd } = invocation;
  const configName = values["config-name"] ?? "config";
  const path = values["config-path"] ?? "conf";
  const composer = openComposer(
    {
      jobName: "hydraconf",
      configPath: path.includes("://") ? path : resolve(cwd, path),
      configName,
      ...(values["config-dir"] !== undefined && { configDir: values["config-dir"] }),
    },
    invocation,
  );
  const { config, repository } = composer.compose([], { mode: "multirun" });
  const resolved = (): ConfigNode => {
    try {
      return resolveTree(config, composer.context, { toMissing: "missing" });
    } catch (error) {
      // Some values are only known in a run.
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
    await writeFileAtomic(file, text(schema));
    console.stdout(`${readablePath(file, cwd)}\n`);
  }
}

const text = (schema: object): string => `${JSON.stringify(schema, null, 2)}\n`;

function readJson(file: string, cwd: string): object {
  try {
    return JSON.parse(readFileSync(resolve(cwd, file), "utf8"));
  } catch (cause) {
    throw new ConfigError({
      code: "schema.invalid",
      message: `Cannot read the JSON Schema '${file}': ${cause instanceof Error ? cause.message : String(cause)}`,
      cause,
    });
  }
}

const typeName = (file: string): string => basename(file).replace(/(\.schema)?\.json$/, "");
