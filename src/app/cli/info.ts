/** `--info`: Hydra's tables about defaults, groups, plugins and the search path. */
import { type Alias, aliasTable } from "../../engine/compose/aliases.ts";
import {
  allGroups,
  type Composition,
  type Defaults,
  type DefaultsTree,
  type DefaultsTreeChild,
  type DefaultsTreeNode,
  type Repository,
} from "../../engine/compose/index.ts";
import { limitsOf } from "../../engine/values/limits.ts";
import type { ConfigNode } from "../../engine/values/node.ts";
import { pyStr } from "../../engine/values/python-text.ts";
import type { ResolveContext } from "../../engine/values/resolution/context.ts";
import { selectNode } from "../../engine/values/resolution/select.ts";
import { writeYaml } from "../../engine/values/yaml/writer.ts";
import { tableLines, titleLines } from "../../foundation/text/text-table.ts";
import type { Composer } from "../job/composer.ts";
import type { SweepRegistry } from "../sweep/registry.ts";
import { configView } from "./show-config.ts";

/** One topic of `--info`. */
export interface Topic {
  readonly name: string;
  /** The lines, yielded one after the other, so that those before an error are shown. */
  readonly show: (inputs: InfoContext) => Iterable<InfoLine>;
}

/** A record of Hydra's log, which `--info` shows without its header. The level is that of Hydra. */
export interface InfoLine {
  readonly level: "debug" | "info";
  readonly text: string;
}

const debug = (lines: readonly string[]): readonly InfoLine[] =>
  lines.map((text) => ({ level: "debug", text }));
const info = (lines: readonly string[]): readonly InfoLine[] =>
  lines.map((text) => ({ level: "info", text }));

/** The facts that topics show, computed on demand. */
export interface InfoContext {
  /** The groups, including those that the overrides add to the search path. */
  readonly repository: () => Repository;
  /** The defaults list, which is known even if the values cannot be composed. */
  readonly taken: () => Defaults;
  readonly whole: () => Composition;
  readonly context: () => ResolveContext;
  readonly registry: SweepRegistry;
  readonly aliases: () => readonly Alias[];
  /** The overrides as typed, each with its expansion. */
  readonly inputs: () => readonly (readonly [string, string])[];
  /** Removes secrets before tables are laid out. */
  readonly redact: ((text: string) => string) | undefined;
}

/**
 * @param composer called when a topic needs it
 * @param overrides called when a topic needs them: aliases in them are those of the primary config
 * @param redact removes secrets before tables are laid out
 * @param composition of the overrides, if they are already composed
 */
export const openInfo = (
  composer: () => Composer,
  registry: SweepRegistry,
  overrides: () => readonly string[],
  redact: InfoContext["redact"],
  composition?: Composition,
): InfoContext => {
  let taken: Defaults | undefined;
  let whole = composition;
  return {
    context: () => composer().context,
    aliases: () => composer().aliases(),
    inputs: () => overrides().map((text) => [composer().typed(text), text]),
    registry,
    redact,
    repository: () => composer().searchPath(overrides()),
    taken: () => {
      taken ??= composer().defaults(overrides(), composition ?? {});
      return taken;
    },
    whole: () => {
      whole ??= composer().compose(overrides());
      return whole;
    },
  };
};

function sourceRow(source: ConfigNode): readonly string[] {
  const text = (key: string): string =>
    pyStr((source.kind === "map" ? source.entries.get(key)?.value : undefined) ?? null);
  return [text("provider"), `${text("schema")}://${text("path")}`];
}

/** The sources as recorded in the config. Interpolations in their paths are resolved in the hydra node only. */
function sourceRows({ context, whole }: InfoContext): readonly (readonly string[])[] {
  const view = configView(whole().root, "hydra");
  const sources = selectNode(view, "hydra.runtime.config_sources", context(), { deep: true });
  return sources?.kind === "list" ? sources.items.map(sourceRow) : [];
}

const searchPath: Topic = {
  name: "searchpath",
  *show(inputs) {
    yield* debug(["", ...titleLines("Config search path")]);
    const { redact } = inputs;
    yield* debug(tableLines([["Provider", "Search path"], ...sourceRows(inputs)], { redact }));
  },
};

const defaultsList: Topic = {
  name: "defaults",
  *show({ redact, taken }) {
    const rows = taken().defaults.map(({ configPath, isSelf, package: pkg, parent }) => [
      configPath,
      pkg,
      isSelf ? "True" : "False",
      parent ?? "",
    ]);
    const header = ["Config path", "Package", "_self_", "Parent"];
    // Hydra ends the header row, and no other, with a blank.
    yield* debug([
      "",
      ...titleLines("Defaults List"),
      ...tableLines([header, ...rows], { headerTail: " ", redact }),
    ]);
  },
};

const defaultsTree: Topic = {
  name: "defaults-tree",
  *show({ taken }) {
    const lines = treeLines(taken().tree);
    yield* info([""]);
    yield* debug(titleLines("Defaults Tree"));
    yield* info(lines);
  },
};

const config: Topic = {
  name: "config",
  *show(inputs) {
    for (const topic of [searchPath, defaultsTree, defaultsList]) yield* topic.show(inputs);
    yield* debug(titleLines("Config"));
    const { config, dialect } = inputs.whole();
    yield* info([writeYaml(config, { dialect, limits: limitsOf(process.env) })]);
  },
};

const aliases: Topic = {
  name: "aliases",
  *show({ aliases, inputs }) {
    const table = aliasTable(aliases());
    yield* info([table === "" ? "No override aliases defined." : table]);
    const pairs = inputs().map(([typed, expanded]) => `${typed} -> ${expanded}`);
    if (pairs.length > 0) yield* info(["Input -> Expanded override", ...pairs]);
  },
};

const plugins: Topic = {
  name: "plugins",
  *show(inputs) {
    yield* debug(pluginLines(inputs.registry));
  },
};

const all: Topic = {
  name: "all",
  *show(inputs) {
    yield* debug(titleLines(`Hydra ${inputs.context().dialect.hydraVersion}`, "="));
    const { hasAliases } = inputs.context().dialect;
    const showsAliases = hasAliases || inputs.aliases().length > 0;
    for (const topic of [plugins, ...(showsAliases ? [aliases] : []), config])
      yield* topic.show(inputs);
  },
};

export const TOPICS: readonly Topic[] = [
  all,
  aliases,
  config,
  defaultsList,
  defaultsTree,
  plugins,
  searchPath,
];

/** The output of `--info TOPIC --json`, by topic; `all` contains all but the config, which `--cfg --json` prints. */
const FACTS: Readonly<Record<string, (inputs: InfoContext) => unknown>> = {
  groups: ({ repository, taken }) => {
    const choices = [...taken().tree.choices];
    return allGroups(repository()).map((group) => ({
      name: group,
      options: repository().list(group, "config"),
      // By override key, because a group may be in several packages.
      chosen: Object.fromEntries(choices.filter(([key]) => key.split("@")[0] === group)),
    }));
  },
  defaults: ({ taken }) =>
    taken().defaults.map((row) => ({
      config_path: row.configPath,
      package: row.package,
      is_self: row.isSelf,
      parent: row.parent ?? null,
    })),
  searchpath: (inputs) =>
    sourceRows(inputs).map(([provider = "", path = ""]) => ({ provider, path })),
};

/** JSON for programs: the groups with their options and choices, the defaults list, the search path. */
export function infoJson(topic: string, inputs: InfoContext): string {
  const chosen = Object.entries(FACTS).flatMap(([name, facts]) =>
    ["all", name === "groups" ? "defaults" : name].includes(topic) ? [[name, facts(inputs)]] : [],
  );
  const document = {
    version: 1,
    dialect: inputs.context().dialect.name,
    ...Object.fromEntries(chosen),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

/** The topics that `infoJson` supports. */
export const JSON_TOPICS: readonly string[] = ["all", "defaults", "searchpath"];

/**
 * The plugins by Hydra's kinds and class names, by which configs name launchers and sweepers: Hydra's own and those of
 * plugins.
 */
export function pluginLines({ launchers, sweepers }: SweepRegistry): readonly string[] {
  const classNames = (all: readonly { readonly targets: readonly string[] }[]) => {
    const targets = all.flatMap((plugin) => plugin.targets);
    return [...new Set(targets.map((target) => target.split(".").at(-1) ?? target))];
  };
  const kinds: readonly (readonly [string, readonly string[]])[] = [
    [
      "ConfigSource",
      ["FileConfigSource", "ImportlibResourcesConfigSource", "StructuredConfigSource"],
    ],
    ["CompletionPlugin", ["BashCompletion", "FishCompletion", "ZshCompletion"]],
    ["Launcher", classNames(launchers)],
    ["Sweeper", classNames(sweepers)],
  ];
  const parts = kinds.flatMap(([kind, names]) => {
    const lines = [...titleLines(`${kind}:`, "-"), ...names.map((name) => `\t${name}`)];
    return lines.map((line) => `\t${line}`);
  });
  return [...titleLines("Installed Hydra Plugins"), ...parts];
}

/** The defaults tree, two blanks per level, as `--info defaults-tree` draws it. */
export const treeLines = ({ roots }: DefaultsTree): readonly string[] => [
  "<root>:",
  ...roots.flatMap((root) => drawNode(root, 1)),
];

function drawNode(node: DefaultsTreeChild, depth: number): readonly string[] {
  const indent = "  ".repeat(depth);
  if (node.kind === "self") return [`${indent}${node.path}`];
  const below = node.children.flatMap((child) => drawNode(child, depth + 1));
  return [`${indent}${label(node)}${below.length > 0 ? ":" : ""}`, ...below];
}

function label({ placed }: DefaultsTreeNode): string {
  return placed.overrideKey === null
    ? placed.configPath
    : `${placed.overrideKey}: ${placed.name ?? "null"}`;
}
