/**
 * Serves a command over the Model Context Protocol. Each tool is a read-only command line of the same program, run in a
 * process of its own below directories that are named at start.
 */

import { realpathSync, statSync } from "node:fs";
import { relative, resolve } from "node:path";
import type { ErrorObject } from "ajv";
import { createAjv } from "../../engine/schema/ajv.ts";
import { ConfigError } from "../../engine/values/errors.ts";
import { packageInfo, requireDependency } from "../../engine/values/package-info.ts";
import { messageOf } from "../../foundation/system/builtin-types.ts";
import { fileProblem } from "../../foundation/system/files.ts";
import { type CommandLine, commandHelp, NO_POSITIONALS } from "./command-line.ts";
import { parseCommandLine } from "./parse.ts";

/** A tool that clients can call. */
export interface McpTool {
  readonly name: string;
  /** For the model that decides whether to call it. */
  readonly description: string;
  /** JSON Schemas of its inputs; the server adds `directory`, where the command runs. */
  readonly inputs: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly argv: (input: McpInput) => readonly string[];
  /**
   * Answers in the server's own process from what it has read before. Null: it cannot, and the command line is run, which
   * also tells what is wrong.
   */
  readonly kept?: (argv: readonly string[], cwd: string) => Promise<string | null>;
  /** The inputs that name files, which must also be below the directories named at start. */
  readonly files?: (input: McpInput) => readonly string[];
}

/** The inputs, checked against the tool's schema. */
export type McpInput = Readonly<Record<string, unknown>>;

/** Limit for an answer, in characters: a model reads all of it. */
const MOST_TEXT = 1_000_000;
const TIME_LIMIT_MS = 120_000;
/** How long a command may take to put away what it has begun. */
const GRACE_MS = 2_000;

/** The surroundings of the command that the server uses. */
export interface McpInvocation {
  /** The command that starts this program again, without arguments. */
  readonly command?: readonly string[];
  readonly console: { readonly stdout: (text: string) => void };
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export const mcpLine = (program: string): CommandLine => ({
  name: `${program} mcp`,
  takes: NO_POSITIONALS,
  about: `Serves questions to a client of the Model Context Protocol (an editor, an agent) over standard input and output.
Nothing is run or written but this program's own commands that read, below the directories given. Plugins and resolvers
that settings files there name are loaded only in projects that you have trusted (${program} trust).`,
  options: {
    root: {
      value: "DIR",
      repeatable: true,
      help: "what may be read (default: the working directory)",
    },
  },
  epilogue: `A client starts it by itself, as by {"command": "${program}", "args": ["mcp", "--root", "/home/me/project"]}.`,
});

/** Tools for questions about a composed configuration, for any program with a config tree. */
export const CONFIG_TOOLS: readonly McpTool[] = [
  {
    name: "compose",
    description:
      "Compose the Hydra configuration of a directory with overrides, and give it, or one part of it, as JSON.",
    inputs: {
      part: { type: "string", description: "a dotted key, to get less: model.optimizer" },
      resolve: { type: "boolean", description: "follow interpolations (default: false)" },
    },
    argv: ({ part, resolve: follow, ...input }) => [
      ...["--cfg", "job", "--json"],
      ...(part === undefined ? [] : ["--package", String(part)]),
      ...(follow === true ? ["--resolve"] : []),
      ...treeOf(input),
    ],
  },
  {
    name: "explain",
    description:
      "Say which file and line, or which override, set a key of the composed configuration, and what it replaced.",
    inputs: { key: { type: "string", pattern: "^[^-]", description: "dotted: db.port" } },
    required: ["key"],
    argv: ({ key, ...input }) => ["--explain", String(key), "--json", ...treeOf(input)],
  },
  {
    name: "config_groups",
    description:
      "List the config groups of a directory with their options, what is chosen of each, and the defaults list.",
    inputs: {},
    argv: (input) => ["--info", "defaults", "--json", ...treeOf(input)],
  },
];

/** A text that is not accepted: how it begins, and what a client is told. */
interface Refused {
  readonly start: string;
  readonly why: string;
}

const OUTSIDE = "which could lead to files outside the directories named at start";
const FLAG: Refused = { start: "-", why: "begins with '-': flags are not accepted" };
const UPWARDS: Refused = {
  start: "[\\s\\S]*\\.\\.(?:[/\\\\\\]},'\"]|$)",
  why: `has '..' in a path, ${OUTSIDE}`,
};
const SEARCH_PATH: Refused = {
  start: "[+~]*hydra[./]searchpath",
  why: `sets hydra.searchpath, ${OUTSIDE}`,
};
const INTERPOLATION: Refused = {
  start: "[\\s\\S]*\\$\\{",
  why: `has an interpolation, ${OUTSIDE}`,
};
const REFUSED = [FLAG, SEARCH_PATH, INTERPOLATION, UPWARDS];

/** The pattern of texts that are none of these. */
const none = (refused: readonly Refused[]): string =>
  `^${refused.map(({ start }) => `(?!${start})`).join("")}`;

const TREE_INPUTS = {
  overrides: {
    type: "array",
    items: { type: "string", pattern: none(REFUSED) },
    description: "overrides in Hydra's language: db=mysql, +lr=0.1, ~x",
  },
  config_dir: { type: "string", description: "the directory of the tree (default: conf)" },
  config_name: {
    type: "string",
    pattern: none([FLAG, UPWARDS]),
    description: "the primary config",
  },
} as const;

const treeOf = ({ overrides, config_dir, config_name }: McpInput): readonly string[] => [
  ...(config_dir === undefined ? [] : ["--config-path", String(config_dir)]),
  ...(config_name === undefined ? [] : ["--config-name", String(config_name)]),
  ...(Array.isArray(overrides) ? overrides.map(String) : []),
];

/** @returns the exit code, when the client has disconnected */
export async function serveMcp(
  program: string,
  tools: readonly McpTool[],
  args: readonly string[],
  { command: ownCommand, console, cwd, env }: McpInvocation,
): Promise<number> {
  const line = mcpLine(program);
  const command = parseCommandLine(line, args);
  if (command.has("help")) {
    console.stdout(commandHelp(line));
    return 0;
  }
  const paths = command.values("root");
  const roots = (paths.length === 0 ? ["."] : paths).map((root) => realRoot(root, cwd));
  const [start = cwd] = roots;
  const run = runner(ownCommand ?? [program], env);
  const offered = tools.map((tool) => ({ tool, schema: schemaOf(tool) }));
  const ajv = createAjv();
  const checks = new Map(offered.map(({ tool, schema }) => [tool.name, ajv.compile(schema)]));

  const sdk = loadSdk();
  const server = new sdk.Server(
    { name: program, version: packageInfo().version },
    { capabilities: { tools: {} }, jsonSchemaValidator: NO_FORMS },
  );
  server.setRequestHandler(sdk.ListToolsRequestSchema, async () => ({
    tools: offered.map(({ tool: { name, description }, schema }) => ({
      name,
      description,
      inputSchema: schema,
      annotations: { readOnlyHint: true, openWorldHint: false },
    })),
  }));
  server.setRequestHandler(sdk.CallToolRequestSchema, async ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    const check = checks.get(params.name);
    if (tool === undefined || check === undefined) return failed(`no tool '${params.name}'`);
    const { properties } = schemaOf(tool);
    const input = withLists(params.arguments ?? {}, properties);
    if (!check(input))
      return failed(
        (check.errors ?? []).map((error) => inWords(error, input, properties)).join("; "),
      );
    try {
      const directory = within(roots, start, String(input["directory"] ?? start));
      const { config_dir: tree } = input;
      const files = [...(tool.files?.(input) ?? []), ...(tree === undefined ? [] : [String(tree)])];
      for (const file of files) within(roots, directory, file);
      const argv = tool.argv(input);
      const kept = (await tool.kept?.(argv, directory)) ?? null;
      return kept === null ? await run(argv, directory, signal) : succeeded(kept);
    } catch (error) {
      return failed(messageOf(error));
    }
  });
  const closed = new Promise<void>((done) => {
    server.onclose = done;
    process.stdin.once("end", done).once("close", done);
  });
  await server.connect(new sdk.StdioServerTransport());
  await closed;
  return 0;
}

interface Sdk {
  readonly Server: typeof import("@modelcontextprotocol/sdk/server/index.js").Server;
  readonly StdioServerTransport: typeof import("@modelcontextprotocol/sdk/server/stdio.js").StdioServerTransport;
  readonly CallToolRequestSchema: typeof import("@modelcontextprotocol/sdk/types.js").CallToolRequestSchema;
  readonly ListToolsRequestSchema: typeof import("@modelcontextprotocol/sdk/types.js").ListToolsRequestSchema;
}

const loadSdk = (): Sdk =>
  ({
    ...(requireDependency("@modelcontextprotocol/sdk/server/index.js") as object),
    ...(requireDependency("@modelcontextprotocol/sdk/server/stdio.js") as object),
    ...(requireDependency("@modelcontextprotocol/sdk/types.js") as object),
  }) as Sdk;

/** Forms would be checked by this validator; we never ask clients to fill in one. */
const NO_FORMS = {
  getValidator: () => () => {
    throw new Error("there are no forms");
  },
};

/** The same tools for a command that finds the program of a directory, and can be told which: `hydraconf`. */
export const PROJECT_TOOLS: readonly McpTool[] = CONFIG_TOOLS.map((tool) => ({
  ...tool,
  inputs: {
    app: {
      type: "string",
      pattern: none([FLAG, UPWARDS]),
      description:
        "the program whose configs are composed, where there are several: its file, or its name in hydraconf.yaml",
    },
    ...tool.inputs,
  },
  argv: ({ app, ...input }) => [
    ...(app === undefined ? [] : ["--app", String(app)]),
    ...tool.argv(input),
  ],
  files: ({ app }) => (app === undefined || /^[\w-]+$/.test(String(app)) ? [] : [String(app)]),
}));

const schemaOf = ({ inputs, required = [], name }: McpTool) => ({
  type: "object" as const,
  properties: {
    directory: {
      type: "string",
      description: "where to look, relative to the first directory named at start",
    },
    ...(CONFIG_TOOLS.some((tool) => tool.name === name) ? TREE_INPUTS : {}),
    ...inputs,
  },
  required: [...required],
  additionalProperties: false,
});

type Properties = Readonly<Record<string, object>>;

/** Agents often give a single text where a list is expected. */
function withLists(input: McpInput, properties: Properties): McpInput {
  const isList = (name: string) =>
    Object.hasOwn(properties, name) && Object.entries(properties[name] ?? {}).some(isArrayType);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === "string" && isList(name) ? [value] : value,
    ]),
  );
}

const isArrayType = ([keyword, value]: readonly [string, unknown]): boolean =>
  keyword === "type" && value === "array";

/** A problem of an input, for the model that gave it. */
function inWords(error: ErrorObject, input: McpInput, properties: Properties): string {
  const { keyword, params, instancePath, message = "is not accepted" } = error;
  const [name = "", place] = instancePath.split("/").slice(1);
  const where = place === undefined ? name : `${name}[${place}]`;
  if (keyword === "required") return `the input '${params["missingProperty"]}' is missing`;
  if (keyword === "additionalProperties")
    return `there is no input '${params["additionalProperty"]}'; there are ${Object.keys(properties).join(", ")}`;
  if (keyword === "enum") {
    const allowed: unknown = params["allowedValues"];
    return `${where} must be one of ${Array.isArray(allowed) ? allowed.join(", ") : allowed}`;
  }
  if (keyword === "type") return `${where} must be ${TYPES.get(params["type"]) ?? params["type"]}`;
  if (keyword !== "pattern") return `${where} ${message}`;
  const value = place === undefined ? input[name] : [input[name]].flat()[Number(place)];
  const text = String(value);
  const refused = REFUSED.find(({ start }) => new RegExp(`^${start}`, "u").test(text));
  const { description } = (properties[name] ?? {}) as { readonly description?: string };
  const rule = description === undefined ? message : `is not what is expected: ${description}`;
  return `${where}: ${text === "" ? "it is empty" : `'${text}' ${refused?.why ?? rule}`}`;
}

const TYPES: ReadonlyMap<unknown, string> = new Map([
  ["string", "a text"],
  ["boolean", "true or false"],
  ["integer", "a whole number"],
  ["number", "a number"],
  ["array", "a list of texts"],
]);

function realRoot(root: string, cwd: string): string {
  try {
    const path = realpathSync(resolve(cwd, root));
    if (statSync(path).isDirectory()) return path;
  } catch (cause) {
    throw new ConfigError({ code: "app.usage", message: `--root ${root}: ${fileProblem(cause)}` });
  }
  throw new ConfigError({ code: "app.usage", message: `--root ${root} is not a directory` });
}

/** The real path of a path that a client gives. @throws Error if it is not below the directories named at start */
function within(roots: readonly string[], directory: string, name: string): string {
  const path = resolve(directory, name);
  let real: string;
  try {
    real = realpathSync(path);
  } catch (cause) {
    throw new Error(`${name}: ${fileProblem(cause)}`);
  }
  if (roots.some((root) => !/^\.\.(?:[\\/]|$)/.test(relative(root, real)))) return real;
  throw new Error(`${name} is not below a directory that was named at start: ${roots.join(", ")}`);
}

const succeeded = (text: string) => ({ content: [{ type: "text" as const, text }] });

const failed = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });

/** What commands print below an error; a client cannot set a variable. */
const FULL_ERROR = /^Set the environment variable HYDRA_FULL_ERROR=1 .*$/m;

function runner(ownCommand: readonly string[], env: McpInvocation["env"]) {
  return async (argv: readonly string[], cwd: string, abort: AbortSignal) => {
    const { askProgram } = await import("../../foundation/system/ask-program.ts");
    const limits = { abort, limitMs: TIME_LIMIT_MS, maxBytes: 4 * MOST_TEXT, graceMs: GRACE_MS };
    const answer = await askProgram({ argv: [...ownCommand, ...argv], cwd, env, ...limits });
    const { failed: isFailure, stderr, stdout, why } = answer;
    if (isFailure) return failed(stderr.replace(FULL_ERROR, "").trim() || why);
    if (stdout.length > MOST_TEXT)
      return failed(`the answer has ${stdout.length} characters: ask for a part of it`);
    return succeeded(stdout);
  };
}
