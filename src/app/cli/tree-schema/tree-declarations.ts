/** The declarations of a config tree: its groups, options and composed configs, for TypeScript and for Python. */
import { type Composition, EMPTY_CONFIG, type Repository } from "../../../engine/compose/index.ts";
import { isConfigError } from "../../../engine/values/errors.ts";
import type { ConfigNode } from "../../../engine/values/node.ts";
import { type InferredSchema, inferSchema } from "./infer.ts";
import { groupsWithOptions } from "./tree-schemas.ts";

/** A tree that can be composed again and again. */
export interface DeclaredTree {
  /** Its directory as programs name it, `conf`. */
  readonly name: string;
  readonly repository: Repository;
  /** @throws ConfigError where these overrides, or that config, do not compose */
  readonly compose: (configName: string, overrides: readonly string[]) => Composition;
  /** The config with interpolations resolved; as it is where that is not possible before a run. */
  readonly resolve: (config: ConfigNode) => ConfigNode;
}

/** What is known of a tree without its programs. */
export interface TreeFacts {
  readonly name: string;
  /** The data of each primary config. */
  readonly configs: ReadonlyMap<string, InferredSchema>;
  /** The options of each group. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
}

/**
 * The facts of a tree. The data of a config is what it is with its defaults and with each option of each group, one at a time: a key that
 * only some have is optional.
 * @param configNames the primary configs
 * @throws ConfigError of the first config that does not compose
 */
export function factsOf(tree: DeclaredTree, configNames: readonly string[]): TreeFacts {
  const { name, repository } = tree;
  const groups = new Map(
    groupsWithOptions(repository).map((group) => [
      group,
      repository.list(group, "config").filter((option) => option !== EMPTY_CONFIG),
    ]),
  );
  const configs = new Map(
    configNames.map((configName) => [configName, dataOf(tree, configName, groups)]),
  );
  return { name, configs, groups };
}

function dataOf(
  tree: DeclaredTree,
  configName: string,
  groups: TreeFacts["groups"],
): InferredSchema {
  const base = tree.compose(configName, []);
  const chosen = new Map(
    [...base.choices].map(([key, option]) => [key.split("@")[0] ?? "", { key, option }]),
  );
  const overrides = [
    ...[...base.choices].flatMap(([key, option]) =>
      (groups.get(key.split("@")[0] ?? "") ?? [])
        .filter((other) => other !== option)
        .map((other) => `${key}=${other}`),
    ),
    ...[...groups].flatMap(([group, options]) =>
      chosen.has(group) ? [] : options.map((option) => `+${group}=${option}`),
    ),
  ];
  const others = overrides.flatMap((override) => {
    try {
      return [tree.resolve(tree.compose(configName, [override]).config)];
    } catch (error) {
      // Such as an option that needs another one.
      if (isConfigError(error)) return [];
      throw error;
    }
  });
  return inferSchema([tree.resolve(base.config), ...others], "data");
}

/**
 * The primary configs of a tree: those at its root that compose by themselves.
 * @param first is one in any case
 */
export function primaryConfigs(tree: DeclaredTree, first: string): readonly string[] {
  const others = tree.repository.list("", "config").filter((name) => {
    if (name === first || name === EMPTY_CONFIG) return false;
    try {
      tree.compose(name, []);
      return true;
    } catch (error) {
      if (isConfigError(error)) return false;
      throw error;
    }
  });
  return [first, ...others];
}

const BANNER = "Made by `hydraconf schema --types`. Make it again instead of editing it.";

/** A module that declares a tree to `compose`, `createEngine` and `hydraMain` of `hydraconf`. */
export function typescriptOf({ configs, groups, name }: TreeFacts): string {
  const names = uniqueNames([...configs.keys()]);
  const lines = [
    `// ${BANNER}`,
    'import "hydraconf";',
    "",
    'declare module "hydraconf" {',
    "  interface ConfigTrees {",
    `    ${memberName(name)}: {`,
    "      configs: {",
    ...[...configs.keys()].map((config) => `        ${memberName(config)}: ${names.get(config)};`),
    "      };",
    "      groups: {",
    ...[...groups].map(
      ([group, options]) =>
        `        ${memberName(group)}: ${union(options.map((option) => JSON.stringify(option)))};`,
    ),
    "      };",
    "    };",
    "  }",
    "}",
  ];
  const types = [...configs].flatMap(([config, schema]) => {
    const { properties } = asObject(schema);
    return [
      "",
      `/** The composed config '${config}', interpolations resolved. */`,
      properties === undefined
        ? `export type ${names.get(config)} = ${typescriptType(schema, "")};`
        : `export interface ${names.get(config)} ${typescriptType(schema, "")}`,
    ];
  });
  return `${[...lines, ...types].join("\n")}\n`;
}

/** `ComposedConfig`, with a number where two configs have the same words. */
function uniqueNames(configs: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    configs.map((config) => {
      const base = `Composed${pascalCase(config)}`;
      let name = base;
      for (let number = 2; taken.has(name); number++) name = `${base}${number}`;
      taken.add(name);
      return [config, name];
    }),
  );
}

const pascalCase = (text: string): string =>
  text
    .split(/[^\p{L}\p{N}]+/u)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");

const union = (types: readonly string[]): string =>
  types.length === 0 ? "never" : [...new Set(types)].join(" | ");

const memberName = (name: string): string =>
  /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, InferredSchema>>;
  readonly required?: readonly string[];
}

const asObject = (schema: InferredSchema): ObjectSchema => schema as ObjectSchema;

const branchesOf = (schema: InferredSchema): readonly InferredSchema[] =>
  (schema["anyOf"] as readonly InferredSchema[] | undefined) ?? [schema];

function typescriptType(schema: InferredSchema, indent: string): string {
  return union(branchesOf(schema).map((branch) => typescriptBranch(branch, indent)));
}

function typescriptBranch(schema: InferredSchema, indent: string): string {
  switch (schema["type"]) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return schema["type"];
    case "integer":
      return "number";
    case "array": {
      const item = typescriptType(schema["items"] as InferredSchema, indent);
      return / \| /.test(item) && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
    }
    case "object": {
      const { properties = {}, required = [] } = asObject(schema);
      const inner = `${indent}  `;
      const members = Object.entries(properties).map(
        ([key, value]) =>
          `${inner}${memberName(key)}${required.includes(key) ? "" : "?"}: ${typescriptType(value, inner)};\n`,
      );
      return members.length === 0 ? "Record<never, never>" : `{\n${members.join("")}${indent}}`;
    }
    default:
      return "unknown";
  }
}

/**
 * Stubs of Python: a class for each map, so that `cfg.db.port` has a type. Keys that are no names of Python, or methods of `DictConfig`,
 * are reached by `cfg["key"]`.
 */
export function pythonOf({ configs }: TreeFacts): string {
  const classes: PythonClasses = new Map();
  const names = uniqueNames([...configs.keys()]);
  for (const name of names.values()) classes.set(name, "");
  for (const [config, schema] of configs) {
    const name = names.get(config) ?? "";
    classes.set(name, pythonClass(name, asObject(schema), classes));
  }
  // A class stands after those of its members.
  const texts = [...classes.values()].reverse();
  return [
    `# ${BANNER.replace("--types", "--stubs")}`,
    ...(texts.some((text) => text.includes(SHADOWED))
      ? [`import builtins as ${SHADOWED}builtins`, `import typing as ${SHADOWED}typing`]
      : []),
    `from typing import ${["Any", "Iterator", ...importedTypes(texts)].join(", ")}\n`,
    PYTHON_BASE,
    ...texts,
  ].join("\n");
}

/** pyright reports imports that are not used. */
const importedTypes = (texts: readonly string[]): readonly string[] =>
  ["List", "Optional", "Union"].filter((name) =>
    texts.some((text) => new RegExp(`[^.\\w]${name}\\[`).test(text)),
  );

/** The texts of classes by name. */
type PythonClasses = Map<string, string>;

const PYTHON_BASE = `class _Map:
    def __getitem__(self, key: str) -> Any: ...
    def __contains__(self, key: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def get(self, key: str, default_value: Any = ...) -> Any: ...
    def items(self) -> Any: ...
    def keys(self) -> Any: ...
    def values(self) -> Any: ...
    def pop(self, key: str, default: Any = ...) -> Any: ...
    def copy(self) -> Any: ...
`;

/** In front of the modules of types, in a class with a key of the name of one: there, the name is that key. */
const SHADOWED = "_of_";

const PYTHON_TYPES = /\b(?:(int|str|float|bool)|(Any|List|Optional|Union))\b/g;

const unshadowed = (type: string): string =>
  type.replaceAll(
    PYTHON_TYPES,
    (name, builtin?: string) =>
      `${SHADOWED}${builtin === undefined ? "typing" : "builtins"}.${name}`,
  );

/** Members that a `DictConfig` has whatever its keys are. */
const PYTHON_METHODS = new Set([
  "copy",
  "get",
  "items",
  "keys",
  "pop",
  "setdefault",
  "update",
  "values",
]);

const PYTHON_KEYWORDS = new Set(
  `False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda
nonlocal not or pass raise return try while with yield`.split(/\s+/),
);

function pythonType(schema: InferredSchema, name: string, classes: PythonClasses): string {
  const branches = branchesOf(schema);
  const types = new Set(
    branches
      .filter(({ type }) => type !== "null")
      .map((branch) => pythonBranch(branch, name, classes)),
  );
  const [only = "None"] = types;
  const union = types.size > 1 ? `Union[${[...types].join(", ")}]` : only;
  return branches.some(({ type }) => type === "null") && types.size > 0
    ? `Optional[${union}]`
    : union;
}

function pythonBranch(schema: InferredSchema, name: string, classes: PythonClasses): string {
  switch (schema["type"]) {
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "array":
      return `List[${pythonType(schema["items"] as InferredSchema, `${name}Item`, classes)}]`;
    case "object": {
      let free = name;
      for (let number = 2; classes.has(free); number++) free = `${name}${number}`;
      classes.set(free, "");
      classes.set(free, pythonClass(free, asObject(schema), classes));
      return free;
    }
    default:
      return "Any";
  }
}

function pythonClass(
  name: string,
  { properties = {}, required = [] }: ObjectSchema,
  classes: PythonClasses,
): string {
  const named = Object.entries(properties).filter(
    ([key]) =>
      // Names that begin with two underscores are Python's own, or private.
      /^(?!__)[A-Za-z_]\w*$/.test(key) && !PYTHON_METHODS.has(key) && !PYTHON_KEYWORDS.has(key),
  );
  const isShadowing = named.some(([key]) => unshadowed(key) !== key);
  const members = named.map(([key, value]) => {
    const type = pythonType(value, `${name}${pascalCase(key)}`, classes);
    return `    ${key}: ${isShadowing ? unshadowed(type) : type}${required.includes(key) ? "" : "  # of some options only"}\n`;
  });
  return `class ${name}(_Map):\n${members.join("") || "    ...\n"}`;
}
