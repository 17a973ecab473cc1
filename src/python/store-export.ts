/**
 * Configs that only Python registers: `hydraconf python sync` exports a project's ConfigStore to a file, which
 * composition then uses.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programAfter } from "../app/cli/arguments/find-subcommand.ts";
import { HYDRA_FLAGS, OWN_FLAGS } from "../app/cli/arguments/hydra-flags.ts";
import { type CommandLine, commandHelp, usage } from "../app/command-line/command-line.ts";
import type { Invocation } from "../app/job/process/invocation.ts";
import type { Settings } from "../app/plugins/load-settings.ts";
import { interpreterOf } from "../app/plugins/python/interpreter.ts";
import { loadSettings } from "../app/plugins/settings-files.ts";
import type { StoreEntry } from "../engine/compose/sources/memory-source.ts";
import { ConfigError, isConfigError } from "../engine/values/errors.ts";
import {
  type ConfigNode,
  type Key,
  list,
  map,
  type NodeType,
  type ObjectType,
  type ScalarValue,
  scalar,
} from "../engine/values/node.ts";
import type { SchemaOrigin } from "../engine/values/origin.ts";
import { renderError } from "../engine/values/render-error.ts";
import { askProgramSync } from "../foundation/system/ask-program-sync.ts";
import { writeFileAtomicSync } from "../foundation/system/atomic-write.ts";
import { makeDirectory, readablePath } from "../foundation/system/files.ts";
import { once } from "../foundation/system/get-or-create.ts";
import { plural } from "../foundation/text/plural.ts";
import { findApps, lineOrigin } from "./apps.ts";
import { errorIn, errorText } from "./program-failure.ts";
import EXPORT_SOURCE from "./sources/export_store.py";

/** The path of a project's export. */
export const STORE_FILE = join(".hydraconf", "python-store.json");

/** The contents of the file; keys are those of the file. */
interface StoreExport {
  readonly version: 1;
  readonly hydra: string;
  readonly python: string;
  readonly modules: readonly string[];
  /** The imported sources, relative to the project, with their times, sizes and SHA-256 hashes. */
  readonly sources: Readonly<
    Record<string, readonly [mtimeMs: number, size: number, hash?: string]>
  >;
  readonly classes: Readonly<Record<string, ExportedClass>>;
  readonly entries: Readonly<Record<string, ExportedEntry>>;
  /** By source: what several programs register under the same names, each its own. */
  readonly programs?: Readonly<Record<string, Readonly<Record<string, ExportedEntry>>>>;
  /** Classes that Python's OmegaConf cannot use, though no config has one yet. */
  readonly problems?: readonly ClassProblem[];
}

/** An error in the declaration of a class. */
interface ClassProblem {
  readonly class: string;
  readonly field: string | null;
  /** The error of Python: `ValidationError: ...`. */
  readonly message: string;
  /** Absent for a class without a source. */
  readonly file?: string;
  readonly line?: number;
}

export interface ExportedEntry {
  readonly package: string | null;
  readonly provider: string | null;
  readonly node: ExportedNode;
}

export interface ExportedClass {
  readonly name: string;
  readonly bases: readonly string[];
  readonly fields: Readonly<Record<string, ExportedType>>;
  readonly defaults: Readonly<Record<string, ExportedNode>>;
}

export type ExportedType = { readonly optional?: boolean } & (
  | { readonly kind: "any" | "int" | "float" | "bool" | "str" | "bytes" | "path" }
  | { readonly kind: "object"; readonly class: string }
  | { readonly kind: "list"; readonly element: ExportedType }
  | { readonly kind: "map"; readonly key: ExportedType; readonly element: ExportedType }
  | {
      readonly kind: "enum";
      readonly name: string;
      readonly members: readonly string[];
      readonly values: readonly ExportedScalar[];
    }
  | { readonly kind: "union"; readonly members: readonly ExportedType[] }
);

/** The type of a node with `v`: a scalar; `m`: a map's entries; or `l`: a list's items. */
export interface ExportedNode {
  readonly t: ExportedType;
  readonly v?: ExportedScalar;
  readonly m?: readonly (readonly [ExportedScalar, ExportedNode])[];
  readonly l?: readonly ExportedNode[];
}

/** JSON has no ints of any size, infinite floats, bytes or paths. */
export type ExportedScalar =
  | null
  | boolean
  | string
  | { readonly int: string }
  | { readonly float: string }
  | { readonly bytes: string }
  | { readonly path: string };

/** @throws ConfigError `app.unsupported` for a malformed file */
function parsedExport(text: string, file: string): StoreExport {
  try {
    const read = JSON.parse(text) as StoreExport;
    if (read.version === 1) return read;
  } catch {
    // Handled below.
  }
  throw new ConfigError({
    code: "app.unsupported",
    message: `'${file}' is not what this version of hydraconf python sync writes`,
    hint: "make it again: hydraconf python sync; or remove it",
  });
}

/**
 * The configs of an export, by store path.
 *
 * @param program the source of the program that they are for
 */
export function storeOf(text: string, program?: string): ReadonlyMap<string, StoreEntry> {
  const { classes, entries, programs = {} } = JSON.parse(text) as StoreExport;
  const read = createReader(classes);
  const programEntries = program === undefined ? {} : programs[program];
  return new Map(
    Object.entries({ ...entries, ...programEntries }).map(
      ([path, { node, package: pkg }]): [string, StoreEntry] => [
        path,
        { create: once(() => read(node)), ...(pkg !== null && { package: pkg }) },
      ],
    ),
  );
}

const ORIGIN: SchemaOrigin = { kind: "schema", schema: "ConfigStore" };

function createReader(classes: StoreExport["classes"]): (node: ExportedNode) => ConfigNode {
  const types = new Map<string, ObjectType>();
  const objectType = (id: string): ObjectType => {
    const existing = types.get(id);
    if (existing !== undefined) return existing;
    const { bases, defaults, fields, name } = classes[id] as ExportedClass;
    const ofFields = new Map<string, NodeType>();
    const ofDefaults = new Map<string, ConfigNode>();
    const type: ObjectType = {
      kind: "object",
      name,
      ...(bases.length > 0 && { bases }),
      fields: ofFields,
      defaults: ofDefaults,
    };
    // A class may have fields of its own type.
    types.set(id, type);
    for (const [key, type] of Object.entries(fields)) ofFields.set(key, typeOf(type));
    for (const [key, node] of Object.entries(defaults)) ofDefaults.set(key, nodeOf(node));
    return type;
  };
  const typeOf = (exported: ExportedType): NodeType => {
    const maybe = exported.optional === true && { optional: true };
    switch (exported.kind) {
      case "object":
        return { ...objectType(exported.class), ...maybe };
      case "list":
        return { kind: "list", element: typeOf(exported.element), ...maybe };
      case "map":
        return {
          kind: "map",
          key: typeOf(exported.key),
          element: typeOf(exported.element),
          ...maybe,
        };
      case "enum": {
        const { members, name, values } = exported;
        return { kind: "enum", name, members, values: values.map(scalarOf), ...maybe };
      }
      case "union":
        return { kind: "union", members: exported.members.map(typeOf), ...maybe };
      case "any":
        return { kind: "any" };
      default:
        return { kind: exported.kind, ...maybe };
    }
  };
  const nodeOf = ({ l, m, t, v }: ExportedNode): ConfigNode => {
    const type = typeOf(t);
    const typed = type.kind === "any" ? {} : { type };
    if (m !== undefined)
      return {
        ...map(
          m.map(([key, value]) => [scalarOf(key) as Key, nodeOf(value)] as const),
          ORIGIN,
        ),
        ...typed,
      };
    if (l !== undefined) return { ...list(l.map(nodeOf), ORIGIN), ...typed };
    return { ...scalar(scalarOf(v ?? null), ORIGIN), ...typed };
  };
  return nodeOf;
}

function scalarOf(value: ExportedScalar): ScalarValue {
  if (value === null || typeof value !== "object") return value;
  if ("int" in value) return BigInt(value.int);
  if ("float" in value) return Number(value.float);
  return "bytes" in value
    ? new Uint8Array(Buffer.from(value.bytes, "base64"))
    : { path: value.path };
}

export interface SyncRequest {
  /** The project's directory. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly python: string;
  /** Names of modules, and paths of source files. */
  readonly modules: readonly string[];
}

/**
 * Runs the project's Python once: it imports the modules and reports what they registered. Their programs do not run.
 *
 * @returns the number of configs, the file, and errors of classes that no config has yet
 * @throws ConfigError `app.unsupported` for a Python without Hydra, and for modules that cannot be imported
 */
export function syncStore({ cwd, env, modules, python }: SyncRequest) {
  const folder = mkdtempSync(join(tmpdir(), "hydraconf-sync-"));
  const output = join(folder, "store.json");
  const script = join(folder, "export.py");
  try {
    writeFileSync(script, EXPORT_SOURCE);
    const answer = askProgramSync({
      argv: [python, script, output, cwd, ...modules],
      cwd,
      env,
      // Modules may print whatever they like.
      maxBytes: Number.POSITIVE_INFINITY,
      stdout: "nowhere",
    });
    const { code, exitCode, stderr, why } = answer;
    const invalid = exitCode === 1 ? invalidClass(output) : undefined;
    if (invalid !== undefined) throw invalid;
    if (answer.failed || !existsSync(output))
      throw code === "ENOENT"
        ? unusable(`The Python '${python}' was not found`)
        : code === "EACCES"
          ? unusable(`The Python '${python}' cannot be executed: permission denied`)
          : failed(python, exitCode === undefined ? `${stderr}${why}\n` : stderr);
    const text = readFileSync(output, "utf8");
    const { entries, problems = [] } = JSON.parse(text) as StoreExport;
    const file = join(cwd, STORE_FILE);
    makeDirectory(dirname(file));
    writeFileAtomicSync(file, text);
    const count = Object.keys(entries).length;
    return { count, file, problems: problems.map(problemError) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const unusable = (message: string): ConfigError =>
  new ConfigError({
    code: "app.unsupported",
    message,
    hint: "name the project's own: hydraconf python sync --python .venv/bin/python, or python: in hydraconf.yaml",
  });

/** What an export says that ended at the declaration of a class. */
function invalidClass(output: string): ConfigError | undefined {
  if (!existsSync(output)) return undefined;
  const { invalid } = JSON.parse(readFileSync(output, "utf8")) as { invalid?: ClassProblem };
  return invalid && problemError(invalid);
}

function problemError({ class: name, field, file, line, message }: ClassProblem): ConfigError {
  const source = file === undefined ? undefined : { name: file, text: readFileSync(file, "utf8") };
  return new ConfigError({
    code: "app.unsupported",
    message: `${field === null ? `Class ${name}` : `Field '${field}' of class ${name}`} is invalid: ${message}`,
    ...(field !== null && { key: `${name}.${field}` }),
    ...(source !== undefined && line !== undefined && { origin: lineOrigin(source, line) }),
    hint: "Python's Hydra refuses it, too: mend its type or its default",
  });
}

/** A frame of the exporting script, with its line of code. */
const OWN_FRAME = /^ {2}File ".*export\.py", line \d+.*\n(?: {4}.*\n)*/gm;

function failed(python: string, output: string): ConfigError {
  if (/No module named '(hydra|omegaconf)'/.test(output))
    return unusable(`The Python '${python}' has no Hydra`);
  const error = errorIn(output.replaceAll(OWN_FRAME, ""));
  return new ConfigError({
    code: "app.unsupported",
    message: `${python} could not read the ConfigStore: ${error === undefined ? "no reason given" : errorText(error)}`,
    hint: "a module must import without arguments; name those that register configs: hydraconf python sync MODULE...",
  });
}

/** The export of a project, its modules, and a source that has changed since; undefined without an export. */
export function storedExport(cwd: string, program?: string) {
  const file = join(cwd, STORE_FILE);
  if (!existsSync(file)) return undefined;
  const text = readFileSync(file, "utf8");
  const { modules, sources } = parsedExport(text, file);
  const changed = Object.entries(sources).find(([name, recorded]) =>
    isChanged(join(cwd, name), recorded),
  );
  return { modules, store: storeOf(text, program), changed: changed?.[0] };
}

/** Compares content, because a checkout rewrites files without changing them. */
function isChanged(file: string, [mtimeMs, size, hash]: StoreExport["sources"][string]): boolean {
  const status = statSync(file, { throwIfNoEntry: false });
  if (status === undefined || status.size !== size) return true;
  if (Math.abs(status.mtimeMs - mtimeMs) <= 1) return false;
  return (
    hash === undefined || createHash("sha256").update(readFileSync(file)).digest("hex") !== hash
  );
}

/**
 * The configs that a project's Python registered at the last export. If its sources have changed, the export is renewed
 * if the settings say so; otherwise, and if that fails, a warning says that the export is out of date.
 */
export function currentStore(
  settings: Settings,
  { cwd, env, program }: Pick<SyncRequest, "cwd" | "env"> & { readonly program?: string },
  warn: (message: string) => void,
): ReadonlyMap<string, StoreEntry> | undefined {
  const stored = storedExport(cwd, program);
  if (stored?.changed === undefined) return stored?.store;
  const { changed, modules, store } = stored;
  const stale = `${changed} has changed since 'hydraconf python sync'`;
  const { python, sync } = settings;
  const refusal = sync?.refusal ?? python?.refusal;
  if (sync?.text !== "renew" || refusal !== undefined) {
    warn(`${stale}: run it again to compose from what is registered now`);
    if (sync?.text === "renew" && refusal !== undefined)
      warn(`it is not renewed: ${refusal.details.message}; ${refusal.details.hint}`);
    return store;
  }
  try {
    syncStore({ cwd, env, python: interpreterOf(settings, { cwd, env }), modules });
    return storedExport(cwd, program)?.store;
  } catch (error) {
    if (!isConfigError(error)) throw error;
    warn(`${stale}, and it cannot be renewed: ${error.details.message}`);
    return store;
  }
}

const LINE: CommandLine = {
  name: "hydraconf python sync",
  takes: { shown: "[MODULE...]", expected: "names of modules, or their files" },
  about: `Runs the project's Python once, imports the modules and writes what they register in Hydra's ConfigStore (groups, nodes, classes
with their types) into ${STORE_FILE}: hydraconf and hydraconf run compose from it. Programs in them do not run.
Without MODULEs: those of 'store' in hydraconf.yaml, and the programs that are found here.`,
  options: {
    python: {
      value: "PYTHON",
      help: "the interpreter; default: 'python' in hydraconf.yaml, VIRTUAL_ENV, .venv, python3",
    },
    settings: { value: "FILE", help: "a settings file, after those of the user and the project" },
  },
};

const RUNS = { verb: "run", by: "hydraconf run", isElsewhere: true, passesConfig: true };

/** `hydraconf python sync`. @returns the exit code */
export async function runPython(
  [action = "", ...args]: readonly string[],
  { console, cwd, env }: Invocation,
): Promise<number> {
  const isHelp = action === "--help" || action === "-h";
  if (action !== "sync" && !isHelp)
    throw usage(
      action === "" ? "no action is given" : `'${action}' is no action`,
      action.endsWith(".py") || (action === "-m" && args.length > 0)
        ? programAfter(["python", action, ...args], 0, { ...RUNS, cwd, env }, [
            ...HYDRA_FLAGS,
            ...OWN_FLAGS,
          ])
        : "hydraconf python sync [MODULE...]",
    );
  const { parseCommandLine } = await import("../app/command-line/parse.ts");
  const parsed = parseCommandLine(LINE, isHelp ? ["--help"] : args);
  if (parsed.has("help")) {
    console.stdout(commandHelp(LINE));
    return 0;
  }
  const { settings } = await loadSettings([], { cwd, env }, { named: parsed.value("settings") });
  const found = findApps(cwd, { cwd, env }).filter(({ kind }) => kind !== "script");
  const modules =
    parsed.positionals.length > 0
      ? parsed.positionals
      : [...(settings.store ?? []), ...new Set(found.map(({ file }) => file))];
  if (modules.length === 0)
    throw usage("no module: there is no program of Hydra here", "hydraconf python sync MODULE...");
  const python = parsed.value("python") ?? interpreterOf(settings, { cwd, env });
  const { count, file, problems } = syncStore({ cwd, env, python, modules });
  for (const problem of problems)
    console.stderr(`warning: ${renderError(problem, { color: console.color === true })}\n`);
  console.stdout(`${plural(count, "config")} of the ConfigStore in ${readablePath(file, cwd)}\n`);
  return 0;
}
