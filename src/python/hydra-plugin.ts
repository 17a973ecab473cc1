/**
 * Our launchers, sweepers and keys in programs of Python's Hydra: a plugin of Hydra that is carried along in the
 * processes of jobs, and is in the wheel.
 */
import { type ConfigPlugin, pluginGroups } from "../engine/compose/config-plugin.ts";
import { schemaSource } from "../engine/compose/hydra/hydra-schema.ts";
import { packageHeader } from "../engine/compose/sources/load-config.ts";
import { type StoreEntry, treeOf } from "../engine/compose/sources/memory-source.ts";
import type { Dialect } from "../engine/values/dialect.ts";
import type { ConfigNode, NodeType, ObjectType, ScalarValue } from "../engine/values/node.ts";
import { isBytes } from "../foundation/system/builtin-types.ts";
import PLUGIN from "./sources/hydra_plugin.py";
import type { ExportedClass, ExportedNode, ExportedScalar, ExportedType } from "./store-export.ts";

/** The files of the plugin, by path below a folder where Python looks for packages. */
export const hydraPluginFiles = (options: PluginOptions): Readonly<Record<string, string>> => ({
  "hydra_plugins/hydraconf/__init__.py": PLUGIN,
  "hydra_plugins/hydraconf/options.json": `${JSON.stringify(options)}\n`,
});

/** What the plugin knows, as a file; keys are those of the file. */
export interface PluginOptions {
  readonly classes: Readonly<Record<string, ExportedClass>>;
  /** By path: `hydra/launcher/local`. */
  readonly entries: Readonly<Record<string, PluginOption>>;
}

interface PluginOption {
  readonly package: string | null;
  /** A tree, or the text of a YAML file. */
  readonly node: ExportedNode | string;
  /** Whether Python composes with the option where it has none of its own; else only with its further keys. */
  readonly provided: boolean;
}

/** For jobs: every config of plugins. What launches them does so here, so Python needs no plugin for it. */
export const optionsOfJobs = (plugins: readonly ConfigPlugin[], dialect: Dialect): PluginOptions =>
  optionsOf(plugins, dialect, () => true);

/** For programs that Python starts alone: what only hydraconf has. */
export const optionsOfWheel = (plugins: readonly ConfigPlugin[], dialect: Dialect): PluginOptions =>
  optionsOf(plugins, dialect, (entry) => "replaceable" in entry && entry.replaceable === true);

/** Hydra's own launcher and sweeper, which have further keys here. */
const BASIC = ["hydra/launcher/basic", "hydra/sweeper/basic"];

function optionsOf(
  plugins: readonly ConfigPlugin[],
  dialect: Dialect,
  isProvided: (entry: StoreEntry) => boolean,
): PluginOptions {
  const { classes, write } = createWriter();
  const entries: Record<string, PluginOption> = {};
  for (const [path, entry] of pluginGroups(plugins, dialect).store) {
    const provided = isProvided(entry);
    if ("text" in entry) {
      const { text } = entry;
      const header = packageHeader({ name: path, text });
      entries[path] = { package: header, node: text, provided };
    } else {
      const tree = treeOf(entry, path);
      if (provided || hasFurtherKeys(tree))
        entries[path] = { package: entry.package ?? null, node: write(tree), provided };
    }
  }
  for (const path of BASIC) {
    const basic = schemaSource(new Map()).load(path)?.node;
    if (basic !== undefined) entries[path] = { package: null, node: write(basic), provided: false };
  }
  return { classes, entries };
}

/** Whether a class has fields that are absent where none is set. */
const hasFurtherKeys = (node: ConfigNode): boolean =>
  node.kind === "map" && node.type?.kind === "object" && node.type.fields.size > node.entries.size;

function createWriter() {
  const classes: Record<string, ExportedClass> = {};
  const ids = new Map<ObjectType, string>();
  const idOf = (type: ObjectType): string => {
    const existing = ids.get(type);
    if (existing !== undefined) return existing;
    const exported = exportedClass(type);
    const same = JSON.stringify(exported);
    let id = type.name;
    for (let count = 2; classes[id] !== undefined; count++) {
      if (JSON.stringify(classes[id]) === same) break;
      id = `${type.name}#${count}`;
    }
    classes[id] = exported;
    ids.set(type, id);
    return id;
  };
  const exportedClass = ({ bases = [], defaults = new Map(), fields, name }: ObjectType) => ({
    name,
    bases,
    fields: Object.fromEntries([...fields].map(([key, type]) => [key, writeType(type)])),
    defaults: Object.fromEntries([...defaults].map(([key, node]) => [key, write(node)])),
  });
  const writeType = (type: NodeType): ExportedType => {
    const maybe = "optional" in type && type.optional === true && { optional: true };
    switch (type.kind) {
      case "object":
        return { kind: "object", class: idOf(type), ...maybe };
      case "list":
        return { kind: "list", element: writeType(type.element), ...maybe };
      case "map":
        return {
          kind: "map",
          key: writeType(type.key),
          element: writeType(type.element),
          ...maybe,
        };
      case "enum":
      case "union":
        return { kind: "any" };
      default:
        return { kind: type.kind, ...maybe };
    }
  };
  const write = (node: ConfigNode): ExportedNode => {
    const t: ExportedType = node.type === undefined ? { kind: "any" } : writeType(node.type);
    switch (node.kind) {
      case "scalar":
        return { t, v: writeScalar(node.value) };
      case "list":
        return { t, l: node.items.map(write) };
      case "map":
        return {
          t,
          m: [...node.entries.values()].map(
            ({ key, value }) => [writeScalar(key), write(value)] as const,
          ),
        };
    }
  };
  return { classes: classes as Readonly<Record<string, ExportedClass>>, write };
}

function writeScalar(value: ScalarValue): ExportedScalar {
  if (typeof value === "bigint") return { int: String(value) };
  if (typeof value === "number") return { float: String(value) };
  if (isBytes(value)) return { bytes: Buffer.from(value).toString("base64") };
  return value !== null && typeof value === "object" ? { path: value.path } : value;
}
